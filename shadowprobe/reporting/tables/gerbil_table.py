"""The totals of a GERBIL experiment."""

from __future__ import annotations

from collections.abc import Sequence

from shadowprobe.gerbil.experiment import GerbilRow
from shadowprobe.gerbil.gerbil_page import DONE
from shadowprobe.reporting.tables.table import Column, Row, Table, Tone, text_column

ORDER = ("shadow", "top", "tail", "all")
SCORES = {"P": "Micro_Precision", "R": "Micro_Recall", "F": "Micro_F1_score", "macro F": "Macro_F1_score"}
ERRORS, THRESHOLD = "Error_Count", "confidence_threshold"


def gerbil_table(tasks: Sequence[GerbilRow], title: str, notes: Sequence[str] = ()) -> Table:
    """A row for each annotator and subset; a task that is not done has words instead of numbers."""
    columns = (
        text_column("system", "annotator"),
        text_column("subset"),
        *(Column(key, name, "{:.3f}".format, is_bold=name in "PRF") for name, key in SCORES.items()),
        Column(ERRORS, "errors", "{:g}".format),
        Column(THRESHOLD, "threshold", "{:.3f}".format),
        text_column("status"),
    )
    rows = []
    for task in _in_order(tasks):
        subset = task.subset.capitalize() if task.subset in ORDER else task.subset
        scores = (task.scores.get(key, "") for key in (*SCORES.values(), ERRORS, THRESHOLD))
        tone: Tone = "" if task.status == DONE else "alarm"
        rows.append(Row((task.annotator, subset, *scores, task.status_words), section=task.annotator, tone=tone))
    table = Table("gerbil", title, columns, tuple(rows), tuple(f"note: {note}" for note in notes))
    several = len({task.annotator for task in tasks}) > 1
    has_threshold = any(THRESHOLD in task.scores for task in tasks)
    return table.without(*(() if several else ("system",)), *(() if has_threshold else (THRESHOLD,)))


def _in_order(tasks: Sequence[GerbilRow]) -> list[GerbilRow]:
    """Annotators as they come, the subsets of each in the order of the paper's table."""
    annotators = list(dict.fromkeys(task.annotator for task in tasks))
    return sorted(tasks, key=lambda task: (annotators.index(task.annotator), [*ORDER, task.subset].index(task.subset)))
