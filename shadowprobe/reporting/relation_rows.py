"""The part that all tables of EntityQuestions share: a row for each relation, and the means below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shadowprobe.queries.question_files import relations
from shadowprobe.reporting.tables.table import Column, Results, Row, Runs, text_column, write_tenth


def relation_columns(found: Runs, rates: Mapping[str, str]) -> tuple[Column, ...]:
    """The relation, its question, how many there are, and the rates of each run, by key and heading."""
    several = len(found) > 1
    return (
        text_column("relation"),
        text_column("property"),
        text_column("question"),
        Column("n", "n"),
        *(
            Column(f"{label} {key}", name, write_tenth, label if several else "")
            for label in found
            for key, name in rates.items()
        ),
    )


def relation_rows(
    found: Runs, rates: Iterable[str], read: Callable[[Results, str], float], count: Callable[[Results], int]
) -> list[Row]:
    """A row for each relation that a run has, in percent.

    `read` gets a rate by its key from the findings on a relation, and `count` how many questions it has.
    """
    keys = list(rates)
    rows = []
    for relation in dict.fromkeys(relation for one in found.values() for relation in one["relations"]):
        measured = [one["relations"].get(relation) for one in found.values()]
        cells = [None if row is None else 100 * read(row, key) for row in measured for key in keys]
        first = next(row for row in measured if row is not None)
        known = relations().get(relation)
        label = known.label if known is not None else ""
        rows.append(Row((relation, label, first["question"] or "", count(first), *cells)))
    return rows


def mean_rows(macro: Iterable[Any], micro: Iterable[Any], questions: int) -> list[Row]:
    """The mean over the relations, and that over all questions."""
    return [
        Row(("macro", "", "mean over the relations", "", *macro), section="means"),
        Row(("micro", "", "over all questions", questions, *micro), section="means"),
    ]
