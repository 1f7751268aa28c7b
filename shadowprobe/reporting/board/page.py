"""The page of the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from shadowprobe.reporting.html.parts import fill_page, read_page_file
from shadowprobe.running.listing import ListedRun


def compose_board(
    runs: Sequence[ListedRun],
    title: str,
    *,
    version: str = "",
    reports: Mapping[str, str] | None = None,
    comparisons: Mapping[str, str] | None = None,
) -> str:
    """The page with the runs in it.

    A page of a server has a `version` of its runs and asks for news. One of a folder has `reports`, the address of the
    report of each run by its path, and `comparisons`, that of all runs over one dataset by its digest and limit.
    """
    script, own_style, body = (read_page_file(f"board.{ending}", __package__) for ending in ("js", "css", "html"))
    style = read_page_file("report.css") + own_style
    data = {
        "runs": runs,
        "live": bool(version),
        "version": version,
        "reports": reports or {},
        "comparisons": comparisons or {},
    }
    sources = "connect-src 'self'" if version else "connect-src 'none'"
    return fill_page(body, script, style, sources, {"title": escape(title), "script": script, "data": data})


def name_board(folder: Path) -> str:
    """The title of the page over a folder."""
    return f"Runs in {folder.resolve().name or folder}"
