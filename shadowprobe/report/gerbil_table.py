"""The totals of a GERBIL experiment as a terminal table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from shadowprobe.gerbil.experiment import Row
from shadowprobe.gerbil.page import DONE

ORDER = ("shadow", "top", "tail", "all")
SCORES = {"P": "Micro_Precision", "R": "Micro_Recall", "F": "Micro_F1_score", "macro F": "Macro_F1_score"}
ERRORS, THRESHOLD = "Error_Count", "confidence_threshold"


def scores_table(rows: Sequence[Row], title: str) -> Table:
    """A line for each annotator and subset; a task that is not done has words in place of numbers."""
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    several = len({row.annotator for row in rows}) > 1
    thresholded = any(THRESHOLD in row.scores for row in rows)
    if several:
        table.add_column("annotator", overflow="fold")
    table.add_column("subset", overflow="fold")
    for column in SCORES:
        table.add_column(column, justify="right", style="bold" if column in "PRF" else "")
    table.add_column("errors", justify="right")
    if thresholded:
        table.add_column("threshold", justify="right")
    table.add_column("status", overflow="fold")
    for row in _ordered(rows):
        cells = [row.annotator] if several else []
        cells += [row.subset.capitalize() if row.subset in ORDER else row.subset]
        cells += [_decimal(row.scores.get(name)) for name in SCORES.values()]
        cells += [_count(row.scores.get(ERRORS))]
        cells += [_decimal(row.scores.get(THRESHOLD))] if thresholded else []
        done = row.status == DONE
        table.add_row(*map(Text, cells), Text(row.status_words, style="" if done else "bold red"))
    return table


def note_lines(notes: Sequence[str]) -> Iterator[Text]:
    """What a careful reader must know besides."""
    for note in notes:
        yield Text(f"note: {note}", style="yellow")


def _ordered(rows: Sequence[Row]) -> list[Row]:
    """Annotators as they come, the subsets of each as the paper's table has them."""
    annotators = list(dict.fromkeys(row.annotator for row in rows))
    places = {subset: place for place, subset in enumerate(ORDER)}
    return sorted(rows, key=lambda row: (annotators.index(row.annotator), places.get(row.subset, len(ORDER))))


def _decimal(value: float | None) -> str:
    return f"{value:.3f}" if value is not None else ""


def _count(value: float | None) -> str:
    return f"{value:g}" if value is not None else ""
