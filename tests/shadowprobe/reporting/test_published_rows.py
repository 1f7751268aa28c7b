"""The rows and columns of the papers, added to small tables."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.reporting.tables.published_rows import add_published
from shadowprobe.reporting.tables.table import Column, Row, Table, text_column, write_tenth

AMBER = "†: as printed in Chen et al. (2021)"
QUESTIONS = "†: as printed in Sciavolino et al. (2021)"


def table_of(key: str, names: list[str], *rows: tuple[Any, ...]) -> Table:
    """A table whose rows are in sections by their first cell."""
    columns = (text_column("task"), text_column("system"), *(Column(name, name, write_tenth) for name in names))
    return Table(key, key, columns, tuple(Row(row, section=row[0]) for row in rows))


def texts(table: Table) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


def test_systems_of_the_paper_stand_below_the_runs_task_by_task() -> None:
    ours = table_of(
        "amber-human-confusion",
        ["head", "tail", "neither"],
        ("slot filling", "mine", 1.0, 2.0, 3.0),
        ("question answering", "mine", 4.0, 5.0, 6.0),
    )
    (table,) = add_published([ours])
    assert texts(table)[:3] == [
        ["slot filling", "mine", "1.0", "2.0", "3.0"],
        ["slot filling", "TF-IDF †", "28.2", "75.7", "–"],
        ["slot filling", "DPR †", "2.3", "23.8", "–"],
    ]
    assert texts(table)[5:7] == [
        ["question answering", "mine", "4.0", "5.0", "6.0"],
        ["question answering", "TF-IDF †", "27.9", "76.1", "–"],
    ]
    assert [row.published for row in table.rows] == [False, True, True, True, True] * 2
    assert table.notes[0].startswith(AMBER)


@pytest.mark.parametrize(
    ("key", "figures"),
    [
        ("amber-nonhuman-1", ["13.9", "21.7", "5.4", "0.3"]),
        ("amber-nonhuman-20", ["52.0", "59.1", "44.4", "–"]),
    ],
)
def test_accuracies_are_those_of_as_many_documents(key: str, figures: list[str]) -> None:
    names = ["all", "head", "tail", "all_correct"]
    (table,) = add_published([table_of(key, names, ("question answering", "mine", 1.0, 1.0, 1.0, 1.0))])
    assert texts(table)[1] == ["question answering", "TF-IDF †", *figures]


def test_readers_have_the_papers_scores_of_their_task() -> None:
    names = ["all", "head", "tail", "gap"]
    (table,) = add_published([table_of("reading-human", names, ("slot filling", "mine", 1.0, 1.0, 1.0, 0.0))])
    assert texts(table)[1:] == [
        ["slot filling", "BART (oracle) †", "83.9", "85.0", "83.5", "–"],
        ["slot filling", "BART + BLINK †", "34.4", "38.2", "32.6", "–"],
    ]


@pytest.mark.parametrize("key", ["amber-sets-1", "amber-human-5", "reading-sets", "amber-sets-confusion", "buckets"])
def test_what_no_paper_has_stays_as_it_is(key: str) -> None:
    ours = table_of(key, ["all"], ("slot filling", "mine", 1.0))
    assert add_published([ours]) == [ours]


def test_the_source_is_said_once_below_the_last_table_that_has_it() -> None:
    row = ("question answering", "mine", 1.0, 1.0)
    tables = [
        table_of(key, ["head", "tail"], row) for key in ("amber-human-confusion", "amber-nonhuman-confusion", "seen")
    ]
    first, second, other = add_published(tables)
    assert (first.notes, len(second.notes), other.notes) == ((), 1, ())
    assert second.notes[0].endswith(", on other data and other documents.")


def questions_of(*ks: int) -> Table:
    columns = (text_column("relation"), text_column("property"), text_column("question"), Column("n", "n"))
    rows = [
        Row(("P36", "capital", "What?", 8, *(1.0 for _ in ks))),
        Row(("P0", "", "", 8, *(2.0 for _ in ks))),
        Row(("macro", "", "mean", "", *(3.0 for _ in ks)), section="means"),
    ]
    figures = (Column(f"mine first {k}", f"first {k}", write_tenth) for k in ks)
    return Table("questions", "questions", (*columns, *figures), tuple(rows))


def test_entity_questions_get_a_column_for_each_system_and_a_row_for_natural_questions() -> None:
    (table,) = add_published([questions_of(1, 20)])
    assert [column.group for column in table.columns[6:]] == ["DPR (NQ) †", "DPR (multi) †", "BM25 †"]
    assert {column.name for column in table.columns[6:]} == {"first 20"}
    assert texts(table) == [
        ["P36", "capital", "What?", "8", "1.0", "1.0", "77.3", "78.9", "90.6"],
        ["P0", "", "", "8", "2.0", "2.0", "–", "–", "–"],
        ["macro", "", "mean", "", "3.0", "3.0", "49.7", "56.7", "72.0"],
        ["NQ †", "", "Natural Questions", "", "–", "–", "80.1", "79.4", "64.4"],
    ]
    assert [row.section for row in table.rows] == ["", "", "means", "means"]
    assert table.notes[0].startswith(QUESTIONS)


def test_without_20_documents_the_paper_has_nothing_to_compare() -> None:
    ours = questions_of(1, 5)
    assert add_published([ours]) == [ours]


@pytest.mark.parametrize(
    ("key", "first"),
    [
        ("user-study-documents", ["TF-IDF †", "", "", "–", "43.3", "50.3", "–"]),
        ("user-study-answers", ["BERT †", "", "", "–", "71.8", "75.5", "–"]),
    ],
)
def test_the_user_study_has_figures_for_people_and_for_things(key: str, first: list[str]) -> None:
    parts = (Column(part, part, write_tenth) for part in ("all", "human", "nonhuman", "head"))
    columns = (text_column("system", ""), Column("n", "n"), Column("lacking", "no choice"), *parts)
    (table,) = add_published([Table(key, key, columns, (Row(("Ann", 5, 0, 1.0, 1.0, 1.0, 1.0), section="people"),))])
    assert texts(table)[1] == first
    assert (table.rows[1].published, table.rows[1].section) == (True, "published")
