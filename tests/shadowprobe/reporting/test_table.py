"""How a table changes its columns and rows, and what a screen leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.reporting.html.parts import arrange
from shadowprobe.reporting.tables.table import Column, Row, Table, text_column, write_bounds
from shadowprobe.reporting.tables.to_terminal import render_run

TABLE = Table(
    "t",
    "Which",
    (text_column("system"), text_column("subset"), Column("n", "n"), Column("f1", "F")),
    (
        Row(("a", "Shadow", 4, 0.5), best=("", "", "", "clear"), section="a"),
        Row(("a", "Top", 3, 0.25), section="a"),
        Row(("b", "Shadow", 4, 0.125), section="b"),
    ),
)


def test_columns_can_be_put_behind_the_others_with_their_marks() -> None:
    moved = TABLE.with_last("system", "n")
    assert [column.key for column in moved.columns] == ["subset", "f1", "system", "n"]
    assert [row.cells for row in moved.rows] == [
        ("Shadow", 0.5, "a", 4),
        ("Top", 0.25, "a", 3),
        ("Shadow", 0.125, "b", 4),
    ]
    assert moved.rows[0].best == ("", "clear", "", "")
    assert TABLE.with_last() == TABLE.without()


def test_rows_of_one_value_are_put_together_in_the_order_of_the_first() -> None:
    grouped = TABLE.grouped_by("subset")
    assert [row.cells[:2] for row in grouped.rows] == [("a", "Shadow"), ("b", "Shadow"), ("a", "Top")]
    assert [row.section for row in grouped.rows] == ["Shadow", "Shadow", "Top"]


def test_a_page_has_scores_before_counts_and_systems_that_compete_together() -> None:
    shown = arrange(TABLE)
    assert [column.key for column in shown.columns] == ["system", "subset", "f1", "n"]
    assert [row.cells[0] for row in shown.rows] == ["a", "b", "a"]
    # One system alone keeps its order, and so does a table whose first column is no system.
    alone = Table("t", "Which", TABLE.columns, TABLE.rows[:2])
    assert [row.cells[1] for row in arrange(alone).rows] == ["Shadow", "Top"]
    other = TABLE.without("system")
    assert arrange(other) == other


@pytest.mark.parametrize(
    ("title", "notes", "words"),
    [
        ("Which", (), "Which."),
        ("Which?", ("A note", "Another."), "Which? A note. Another."),
        ("", ("A note:",), "A note:"),
        ("", (), ""),
    ],
)
def test_the_title_and_the_notes_are_sentences(title: str, notes: tuple[str, ...], words: str) -> None:
    assert Table("t", title, (), (), notes).describe() == words


def test_an_interval_alone_is_written_with_both_of_its_ends() -> None:
    assert write_bounds((0.25, 0.5)) == "0.250 to 0.500"


def retriever() -> dict[str, Any]:
    """A retriever that was asked one question, with as many documents as the paper counts."""
    found = {
        "questions": 1,
        "relations": {"P19": {"question": "Where was [E] born?", "n": 1, "accuracy": {"20": 1.0}}},
        "macro": {"20": 1.0},
        "micro": {"n": 1, "accuracy": {"20": 1.0}, "accuracy_ci95": {"20": [0.2, 1.0]}},
        "buckets": [],
    }
    return {
        "retriever": {"name": "bm25", "options": {}},
        "collection": {"name": "little"},
        "settings": {"k": [20]},
        "missing": 0,
        "notes": [],
        "probes": {"entity_questions": found},
    }


def test_a_screen_has_neither_the_figures_of_papers_nor_the_names_of_properties() -> None:
    written = render_run(retriever())
    assert "†" not in written
    assert "place of birth" not in written
    assert "Where was [E] born?" in written
