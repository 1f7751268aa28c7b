"""Tables in a format that a user names."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from shadowprobe.reporting.tables.table import Table

if TYPE_CHECKING:
    from shadowprobe.running.comparison import Comparison

# Each format, which a module `to_` renders, with the ending of its files.
FORMATS = {
    "terminal": ".txt",
    "markdown": ".md",
    "csv": ".csv",
    "latex": ".tex",
    "json": ".json",
    "html": ".html",
}


def render(format_name: str, tables: Sequence[Table], comparison: Comparison | None = None) -> str:
    """The content of a file in one of the formats; formats for programs have more of a comparison than its tables."""
    module = import_module(f"shadowprobe.reporting.tables.to_{format_name}")
    if format_name in {"csv", "json"}:
        return str(module.render(tables, comparison))
    return str(module.render(tables))
