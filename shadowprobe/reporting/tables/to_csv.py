"""Tables as CSV: nothing is rounded but what a paper printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from shadowprobe.base.printable import escape_formula
from shadowprobe.reporting.tables.table import Table

if TYPE_CHECKING:
    from shadowprobe.running.comparison import Comparison, Pair


def render(tables: Sequence[Table], comparison: Comparison | None = None) -> str:
    """The rows of all tables under one heading; of a comparison, its pairs alone.

    A cell that a row does not have stays empty.
    """
    if comparison is not None:
        return _write([*map(_pair_record, comparison.pairs)])
    records: list[dict[str, Any]] = []
    for table in tables:
        # Several tables of one subject differ in nothing but their title.
        name = {"table": table.key} if len(tables) > 1 else {}
        records += [{**name, **record} for record in table.records(as_printed=True)]
    return _write(records)


def _pair_record(pair: Pair) -> dict[str, Any]:
    record = structs.asdict(pair)
    low, high = record.pop("difference_ci95")
    return {**record, "difference_low": low, "difference_high": high}


def _write(records: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    columns = dict.fromkeys(key for record in records for key in record)
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _protect(value) for key, value in record.items()} for record in records)
    return text.getvalue()


def _protect(value: Any) -> Any:
    """A text that no spreadsheet executes; a number stays a number."""
    return escape_formula(value) if isinstance(value, str) else value
