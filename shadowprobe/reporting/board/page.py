"""The page of the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

import msgspec

from shadowprobe.reporting.html.parts import hash_content, read_page_file
from shadowprobe.running.listing import ListedRun

SCRIPT, STYLE, FRAME = "board.js", "board.css", "board.html"


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
    script, style = _read(SCRIPT), read_page_file("report.css") + _read(STYLE)
    data = {
        "runs": runs,
        "live": bool(version),
        "version": version,
        "reports": reports or {},
        "comparisons": comparisons or {},
    }
    connect = "'self'" if version else "'none'"
    return Template(_read(FRAME)).substitute(
        title=escape(title),
        style=style,
        script=script,
        # Nothing inside of a script element is markup but what could end it.
        data=msgspec.json.encode(data).decode().replace("<", "\\u003c"),
        policy=f"default-src 'none'; script-src '{hash_content(script)}'; style-src '{hash_content(style)}';"
        f" connect-src {connect}; base-uri 'none'; form-action 'none'",
    )


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def name_board(folder: Path) -> str:
    """The title of the page over a folder."""
    return f"Runs in {folder.resolve().name or folder}"
