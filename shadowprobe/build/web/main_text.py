"""The main text of a web page."""

from __future__ import annotations

from shadowprobe.base.prose import compose_accents


def main_text(html: str, url: str) -> str:
    """What a page says, without menus, comments and tables, a paragraph a line; empty where it says nothing."""
    from trafilatura import extract

    text = extract(html, url=url, include_comments=False, include_tables=False) if html.strip() else None
    return compose_accents(text or "")
