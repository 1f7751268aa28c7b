"""The figures as a terminal table."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text


def figures_table(found: Iterable[tuple[str, str]]) -> Table:
    """The figures with what each shows."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("figure", "what it shows"):
        table.add_column(column, overflow="fold")
    for name, about in found:
        table.add_row(Text(name, style="bold"), Text(about))
    return table
