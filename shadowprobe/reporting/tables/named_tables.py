"""The tables that `shadowprobe table` and `shadowprobe compare` show, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from shadowprobe.errors import ShadowprobeError, UsageError, nearest
from shadowprobe.reporting.run_summary import tables_of
from shadowprobe.reporting.tables.published_rows import add_published
from shadowprobe.reporting.tables.table import Runs, Table
from shadowprobe.running.directory import Kind
from shadowprobe.running.kinds import NOUNS

if TYPE_CHECKING:
    from shadowprobe.running.comparison import Comparison
    from shadowprobe.running.finished import FinishedRun

# Of runs of every kind, over several datasets.
SUMMARY = "summary"
# The kind of runs that each table is made of.
NAMES: dict[str, Kind] = {
    "3": "linker",
    "4": "linker",
    "kinds": "linker",
    "suspicion": "linker",
    "amber": "retriever",
    "confusion": "retriever",
    "questions": "retriever",
    "readers": "reader",
    "answers": "model",
}
# The keys of the tables of each name, of all that the runs of a retriever or language model have.
KEYS = {
    "amber": r"amber-\w+-\d+",
    "confusion": r"amber-\w+-confusion",
    "questions": "questions|buckets|seen",
    "readers": r"reading-\w+",
    "answers": "recall|categories|positions",
}


def make_tables(name: str, runs: Sequence[FinishedRun], *, published: bool = False) -> list[Table]:
    """The tables of a name; refuses runs of another kind, and says which names fit those."""
    if name == SUMMARY:
        return _summary(runs, published=published)
    if name not in NAMES:
        choices = (SUMMARY, *NAMES, "training")
        raise UsageError(f"no table `{name}`: choose from {', '.join(choices)}{nearest(name, choices)}")
    wanted = NAMES[name]
    for run in runs:
        if run.kind != wanted:
            fitting = ", ".join([SUMMARY, *(other for other, kind in NAMES.items() if kind == run.kind)])
            raise UsageError(
                f"{run.path} is a run of a {NOUNS[run.kind]}; table {name} takes runs of {NOUNS[wanted]}s. Tables of a"
                f" {NOUNS[run.kind]}: {fitting}"
            )
    if published and (wanted == "model" or name == "suspicion"):
        raise UsageError(f"--published: no paper's figures are known for table {name}")
    if wanted == "linker":
        return _linker_tables(name, runs, published=published)
    return _measured_tables(name, runs, published=published)


def _summary(runs: Sequence[FinishedRun], *, published: bool) -> list[Table]:
    if published or not runs:
        raise UsageError(f"table {SUMMARY} shows runs: name run directories; `compare --published` has the papers' own")
    from shadowprobe.reporting.tables.summary_table import summary_tables

    return summary_tables(runs)


def _linker_tables(name: str, runs: Sequence[FinishedRun], *, published: bool) -> list[Table]:
    from shadowprobe.reporting.tables.paper_tables import published_table_4, table_3, table_4

    if name in {"kinds", "suspicion"}:
        return [_probe_table(name, runs, published=published)]
    if name == "3":
        return [table_3(runs, with_published=published)]
    return [*([table_4(runs)] if runs else []), *([published_table_4(runs)] if published else [])]


def _probe_table(name: str, runs: Sequence[FinishedRun], *, published: bool) -> Table:
    """The table of a probe of its own."""
    if published or not runs:
        raise UsageError(f"table {name} shows runs: name a run directory; no paper's figures are known for it")
    module = import_module(f"shadowprobe.reporting.tables.{name}_table")
    table: Table = getattr(module, f"{name}_table")(by_label(runs))
    if not table.rows:
        reason = runs[0].results["probes"].get(name, {}).get("not_measured", "its probe was left out")
        raise UsageError(f"{runs[0].path} has no table {name}: {reason}")
    return table


def _measured_tables(name: str, runs: Sequence[FinishedRun], *, published: bool) -> list[Table]:
    if not runs:
        raise UsageError(f"name a run directory: table {name} shows the paper's figures beside those of a run")
    tables = [table for table in tables_of(by_label(runs)) if re.fullmatch(KEYS[name], table.key)]
    if not tables:
        raise UsageError(f"{runs[0].path} has no table {name}: its probe was left out")
    shown = add_published(tables) if published else tables
    return _add_losses(shown, runs)


def _add_losses(tables: list[Table], runs: Sequence[FinishedRun]) -> list[Table]:
    """Adds who loses what, where a reader has a run with the right documents and one with those of a retriever."""
    if runs[0].kind != "reader":
        return tables
    from shadowprobe.reporting.tables.losses_table import losses_table
    from shadowprobe.running.reading_losses import list_losses

    try:
        losses = list_losses(runs)
    except ShadowprobeError as error:
        # The other tables need nothing but the results; the queries may have gone.
        return [*tables[:-1], tables[-1].with_notes(f"Not split between retriever and reader: {error}.")]
    return [*tables, losses_table(losses)] if losses else tables


def by_label(runs: Iterable[FinishedRun]) -> Runs:
    """The results of runs by their labels."""
    return {run.label: run.results for run in runs}


def compared_tables(runs: Sequence[FinishedRun], comparison: Comparison, *, published: bool = False) -> list[Table]:
    """Everything that a comparison shows: the verdicts, the tables of its kind, the paper's rows, and the pairs."""
    from shadowprobe.reporting.tables.pairs_table import pairs_table

    if runs[0].kind == "linker":
        tables = [table for name in ("3", "4") for table in make_tables(name, runs, published=published)]
    else:
        tables = _add_losses(tables_of(by_label(runs), published=published), runs)
    return [*_summary(runs, published=False), *tables, pairs_table(comparison)] if comparison.pairs else tables
