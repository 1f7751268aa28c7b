"""Many runs in one table: a row for each, its headline figures, and the best of each dataset."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shadowprobe.errors import ShadowprobeError
from shadowprobe.reporting.tables.table import Best, Column, Estimate, Row, Table, in_percent, text_column
from shadowprobe.running.comparison import is_clearly_best
from shadowprobe.running.finished import FinishedRun, group_by_data
from shadowprobe.running.headlines import Headline, list_headlines, name_verdict
from shadowprobe.running.item_measures import Measure, measure_runs
from shadowprobe.running.kinds import DATA_KEYS, NOUNS

MARKS = (
    "Bold (** in plain text): better than every other system of its dataset (McNemar's exact test, p < 0.05 after"
    " Holm). Underlined (*): best, but the test does not exclude chance."
)
# A mean over queries is neither right nor wrong for one of them.
MEANS = "F1 is a mean, to which the test does not apply: it is never bold."
NAMES = "Overshadowed and prior bias: lower is better. 95% intervals in brackets."


def summary_tables(runs: Sequence[FinishedRun]) -> list[Table]:
    """A table for each kind of run, with the runs over the same data below each other."""
    kinds = dict.fromkeys(run.kind for run in runs)
    return [_summary_table([run for run in runs if run.kind == kind]) for kind in kinds]


def _summary_table(runs: Sequence[FinishedRun]) -> Table:
    kind = runs[0].kind
    headlines = {id(run): {one.key: one for one in list_headlines(run.results)} for run in runs}
    # In the order of the first run that has them.
    columns = {key: one for of_run in headlines.values() for key, one in of_run.items()}
    rows, notes = [], []
    for data, group in group_by_data(runs).items():
        of_group = [headlines[id(run)] for run in group]
        best, problem = _find_best(group, of_group, columns.values())
        notes += [f"{data}: no test, because {problem}."] if problem else []
        for run, of_run, marks in zip(group, of_group, best, strict=True):
            found = (of_run.get(key) for key in columns)
            figures = (in_percent(one.value, one.interval) if one is not None else None for one in found)
            cells = (data, run.label, *figures, name_verdict(run.results))
            rows.append(Row(cells, section=data, best=("", "", *marks, "")))
    if any(any(row.best) for row in rows):
        notes[:0] = [MARKS, MEANS] if kind == "reader" else [MARKS]
    if kind == "linker":
        notes.insert(0, NAMES)
    return Table(
        f"summary_{kind}",
        f"Summary of {len(runs)} {'run' if len(runs) == 1 else 'runs'} of {NOUNS[kind]}s (%)",
        (
            text_column("data", DATA_KEYS[kind]),
            text_column("system"),
            *(Column(one.key, one.name, _write_in_two_lines) for one in columns.values()),
            text_column("verdict", "" if kind == "model" else "verdict"),
        ),
        tuple(rows),
        tuple(notes),
    )


def _write_in_two_lines(cell: Estimate) -> str:
    """Writes the interval below the figure, so that a row fits on a narrow terminal."""
    return f"{cell.value:.1f}\n({cell.low:.0f}–{cell.high:.0f})"


def _find_best(
    group: Sequence[FinishedRun], headlines: Sequence[dict[str, Headline]], columns: Collection[Headline]
) -> tuple[list[list[Best]], str]:
    """For each run of a dataset the mark of each figure, and why no test was made."""
    measures, problem = _measure(group)
    marks: list[list[Best]] = [[] for _ in group]
    for column in columns:
        values = [
            of_run[column.key].value * (-1 if column.is_fault else 1) if column.key in of_run else None
            for of_run in headlines
        ]
        highest = max((value for value in values if value is not None), default=None)
        for run, value, of_run in zip(group, values, marks, strict=True):
            is_best = len(group) > 1 and value is not None and value == highest
            is_clear = is_best and is_clearly_best(measures, column.measure, run.label)
            of_run.append("clear" if is_clear else "close" if is_best else "")
    return marks, problem


def _measure(group: Sequence[FinishedRun]) -> tuple[dict[str, dict[str, Measure]], str]:
    """What holds for each item of each run; nothing, and why, where the data is no longer there."""
    if len(group) < 2:
        return {}, ""
    try:
        return measure_runs(group), ""
    except ShadowprobeError as error:
        return {}, str(error)
