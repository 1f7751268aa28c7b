"""The runs of a folder as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shadowprobe.reporting.tables.table import Column, Row, Table, in_percent, text_column, write_tenth
from shadowprobe.running.directory import Kind
from shadowprobe.running.kinds import DATA_KEYS, NOUNS
from shadowprobe.running.listing import ListedRun

# Of the headline figures those that say most, so that a row fits on a narrow terminal; JSON has all.
BRIEF = frozenset(
    {"shadow_f1", "tail_f1", "all_f1", "prior_bias", "consistent"}
    | {"human_tail", "nonhuman_tail", "sets_tail", "questions", "entity_answer_recall", "complete"}
)


def runs_tables(runs: Sequence[ListedRun], folder: Path) -> list[Table]:
    """A table for each kind of run, and one of the directories that cannot be read."""
    kinds = [kind for kind in NOUNS if any(run.kind == kind for run in runs)]
    tables = [_runs_table(kind, [run for run in runs if run.kind == kind], folder) for kind in kinds]
    if broken := [run for run in runs if run.state == "broken"]:
        rows = tuple(Row((_name(run, folder), run.problem), tone="alarm") for run in broken)
        columns = (text_column("path", "directory", is_bold=True), text_column("problem"))
        tables.append(Table("broken", "Runs that cannot be read", columns, rows))
    return tables


def _runs_table(kind: Kind, runs: Sequence[ListedRun], folder: Path) -> Table:
    columns = {one.key: one for run in runs for one in run.headlines if one.key in BRIEF}
    rows = []
    for run in runs:
        figures = {one.key: in_percent(one.value, one.interval) for one in run.headlines}
        cells = (
            _name(run, folder),
            run.system,
            run.data if run.limit is None else f"{run.data}, first {run.limit}",
            run.started[5:16].replace("T", " "),
            describe_state(run),
            *(figures.get(key) for key in columns),
            run.verdict,
        )
        rows.append(Row(cells, tone="" if run.state == "finished" else "quiet"))
    return Table(
        f"runs_{kind}",
        f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} of {NOUNS[kind]}s in {folder} (%)",
        (
            text_column("path", "directory", is_bold=True),
            text_column("system"),
            text_column("data", DATA_KEYS[kind]),
            text_column("started"),
            text_column("state"),
            *(Column(one.key, one.name, write_tenth) for one in columns.values()),
            text_column("verdict"),
        ),
        tuple(rows),
    )


def describe_state(run: ListedRun) -> str:
    """How far a run is: `finished`, `running, 40%`, `unfinished, 1,200 answers`."""
    if run.state == "finished":
        return f"finished, {run.missing:,} missing" if run.missing else "finished"
    if run.total:
        return f"{run.state}, {100 * run.done // run.total}%"
    return f"{run.state}, {run.done:,} answers"


def _name(run: ListedRun, folder: Path) -> str:
    """The directory below the folder that is listed."""
    path = Path(run.path)
    return str(path.relative_to(folder)) if path != folder and path.is_relative_to(folder) else str(path)
