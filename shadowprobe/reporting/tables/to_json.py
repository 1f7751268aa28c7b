"""Tables as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import structs

from shadowprobe.base.jsonl import encode_json
from shadowprobe.reporting.tables.table import Table

if TYPE_CHECKING:
    from shadowprobe.running.comparison import Comparison


def render(tables: Iterable[Table], comparison: Comparison | None = None) -> str:
    """Tables with their rows as objects; a comparison brings its own pairs instead of their table."""
    document: dict[str, Any] = structs.asdict(comparison) if comparison is not None else {}
    for table in tables:
        document.setdefault(table.key, {"title": table.title, "rows": table.records(), "notes": list(table.notes)})
    return encode_json(document).decode()
