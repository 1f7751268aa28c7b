"""Tables in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shadowprobe.reporting.tables.table import Best, Table


def render(tables: Iterable[Table]) -> str:
    """Tables in GitHub's Markdown, each below its title."""
    return "\n\n".join(map(_markdown, tables)) + "\n"


def _markdown(table: Table) -> str:
    names = [f"{column.group} {column.words}".strip() for column in table.columns]
    rules = [":--" if column.is_text else "--:" for column in table.columns]
    rows = [map(_mark, map(_escape, table.texts(row)), row.marks) for row in table.rows]
    lines = [f"| {' | '.join(line)} |" for line in (map(_escape, names), rules, *rows)]
    notes = [f"- {_escape(note)}" for note in table.notes]
    return "\n".join([f"### {_escape(table.title)}", "", *lines, *(["", *notes] if notes else [])])


def _mark(text: str, best: Best) -> str:
    """The best of a column in bold type; underlined, which Markdown itself cannot, where it is close."""
    return f"**{text}**" if best == "clear" else f"<u>{text}</u>" if best else text


def _escape(text: str) -> str:
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    # Between two dollars code hosts set formulas, and between tildes they strike out.
    return re.sub(r"([\\`*_|\[\]#$~])", r"\\\1", line)
