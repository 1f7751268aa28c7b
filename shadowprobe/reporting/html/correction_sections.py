"""The sections of a report on what a correction would change, and which answers to doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shadowprobe.reporting.tables.correction_tables import correction_table
from shadowprobe.reporting.tables.suspicion_table import suspicion_table
from shadowprobe.reporting.tables.table import Table
from shadowprobe.running.debias_file import read_debias
from shadowprobe.running.finished import FinishedRun


def list_sections(runs: Sequence[FinishedRun]) -> Iterator[tuple[str, str, Table, str]]:
    """The id, heading, table and figure of each section that the runs have something for."""
    found = {run.label: one for run in runs if (one := read_debias(run)) is not None}
    if found:
        yield "correction", "What a correction would change", correction_table(found), "debias"
    doubts = suspicion_table({run.label: run.results for run in runs})
    if doubts.rows:
        yield "doubt", "Which answers to doubt", doubts, "risk-coverage"
