"""What a probe found that has no table of its own, as a user's probe has none: every finding with its value."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from shadowprobe.reporting.tables.table import Column, Row, Runs, Table, text_column

# A longer value is cut, and further rows are left out: results.json has them whole.
LONGEST_VALUE, MOST_ROWS = 60, 40


def other_tables(runs: Runs, shown: Set[str]) -> Iterator[Table]:
    """A table for each probe of the runs that is not among `shown`."""
    probes = dict.fromkeys(name for results in runs.values() for name in results["probes"] if name not in shown)
    for probe in probes:
        found = [dict(_flatten(results["probes"].get(probe, {}))) for results in runs.values()]
        keys = [key for key in dict.fromkeys(key for one in found for key in one) if key != "not_measured"]
        if not keys:
            continue
        columns = [text_column("finding"), *(Column(label, label, _write) for label in runs)]
        rows = [Row((key, *(one.get(key) for one in found))) for key in keys[:MOST_ROWS]]
        left = len(keys) - len(rows)
        notes = (f"{left} more findings are in results.json.",) if left else ()
        yield Table(f"probe-{probe}", f"{probe}: what this probe found", tuple(columns), tuple(rows), notes)


def _flatten(findings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its keys, joined by dots."""
    for key, value in findings.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _write(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else f"{value}"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}... (whole in results.json)"
