"""Tables in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shadowprobe.report.tables.table import Table


def render(tables: Iterable[Table]) -> str:
    """Tables in GitHub's Markdown, each below its title."""
    return "\n\n".join(map(_markdown, tables)) + "\n"


def _markdown(table: Table) -> str:
    names = [f"{column.group} {column.name}".strip() for column in table.columns]
    rules = [":--" if column.is_text else "--:" for column in table.columns]
    cells = [[*map(_escape, line)] for line in (names, *map(table.texts, table.rows))]
    lines = [f"| {' | '.join(line)} |" for line in (cells[0], rules, *cells[1:])]
    notes = [f"- {_escape(note)}" for note in table.notes]
    return "\n".join([f"### {_escape(table.title)}", "", *lines, *(["", *notes] if notes else [])])


def _escape(text: str) -> str:
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    # Between two dollars code hosts set formulas, and between tildes they strike out.
    return re.sub(r"([\\`*_|\[\]#$~])", r"\\\1", line)
