"""Pairs of systems as a table, of comparisons that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.reporting.tables.pairs_table import name_measure, pairs_table
from shadowprobe.running.comparison import Comparison, Pair


def pair(measure: str = "top", unit: str = "snippets", second: str = "b", **more: Any) -> Pair:
    fields: dict[str, Any] = {
        "n": 8,
        "both": 2,
        "first_only": 4,
        "second_only": 1,
        "neither": 1,
        "first_rate": 0.75,
        "second_rate": 0.375,
        "difference": 0.375,
        "difference_ci95": (-0.125, 0.875),
        "drawn": unit,
        "drawn_n": 8,
        "win": 4,
        "tie": 3,
        "loss": 1,
        "mcnemar_p": 0.375,
        "holm_p": 0.75,
        "detectable": 0.625,
    }
    return Pair(measure, unit, "a", second, **{**fields, **more})


def comparison(*pairs: Pair, systems: int = 2, notes: tuple[str, ...] = ()) -> Comparison:
    settings = {"bootstrap_rounds": 200, "bootstrap_seed": 3}
    labels = [{"label": label} for label in "abcd"[:systems]]
    return Comparison({"name": "mini"}, labels, settings, list(pairs), list(notes))


def test_two_systems_have_a_row_for_each_measure_and_no_correction() -> None:
    table = pairs_table(comparison(pair(), pair("both_right", "names", detectable=None)))
    assert [table.texts(row) for row in table.rows] == [
        ["Top", "a − b", "75.0", "37.5", "+37.5 (-12.5 to +87.5)", "4/3/1", "0.375", "62.5"],
        ["both right", "a − b", "75.0", "37.5", "+37.5 (-12.5 to +87.5)", "4/3/1", "0.375", "–"],
    ]
    assert table.title == "A against B on mini, paired by snippet and by name (%)"
    assert table.starts_section() == [False, False]


def test_three_systems_have_a_section_for_each_measure_and_p_by_holm() -> None:
    table = pairs_table(comparison(pair(), pair(second="c"), pair("shadow"), systems=3))
    assert [column.key for column in table.columns][-3:] == ["mcnemar_p", "holm_p", "detectable"]
    assert table.texts(table.rows[1])[1] == "a − c"
    assert table.texts(table.rows[1])[-2] == "0.750"
    assert table.starts_section() == [False, False, True]
    assert any(note.startswith("p by Holm") for note in table.notes)
    assert not any(note.startswith("p by Holm") for note in pairs_table(comparison(pair())).notes)


@pytest.mark.parametrize(
    ("unit", "first", "second", "is_full"),
    [
        ("queries", 1.0, 1.0, True),
        ("questions", 1.0, 1.0, True),
        ("queries", 1.0, 0.9, False),
        ("queries", 0.9, 1.0, False),
        ("names", 1.0, 1.0, False),
    ],
)
def test_a_measure_on_which_both_find_everything_need_not_be_shown(
    unit: str, first: float, second: float, is_full: bool
) -> None:
    measure = "human/qa/head@20" if unit == "queries" else "questions@20"
    (row,) = pairs_table(comparison(pair(measure, unit, first_rate=first, second_rate=second))).rows
    assert row.is_full == is_full


@pytest.mark.parametrize(
    ("measure", "unit", "name"),
    [
        ("shadow", "snippets", "Shadow"),
        ("prior_bias", "names", "prior bias"),
        ("human/qa/head@1", "queries", "people, question answering, head: first 1"),
        ("mine/other/tail@20", "queries", "mine, other, tail: first 20"),
        ("nonhuman/sf/tail", "answers", "things, slot filling, tail"),
        ("questions", "answers", "questions"),
        ("questions@20", "questions", "questions: first 20"),
        ("complete", "sets", "complete"),
    ],
)
def test_a_measure_has_a_name_for_readers(measure: str, unit: str, name: str) -> None:
    assert name_measure(pair(measure, unit)) == name


def test_notes_say_what_was_counted_and_what_the_bootstrap_drew() -> None:
    notes = pairs_table(
        comparison(
            pair(),
            pair("shadow"),
            pair("human/qa/head@1", "queries", drawn="sets"),
            notes=("2 snippets have no answer",),
        )
    ).notes
    assert notes[0] == "Top, Shadow: share of the snippets answered right (R of Table 3)."
    assert notes[1].startswith("Head, tail: share of the AmbER queries")
    assert "paired bootstrap, 200 rounds, seed 3;" in notes[2]
    assert notes[3].startswith("The bootstrap draws whole sets, because the queries of one depend on each other.")
    assert notes[4].startswith("At 80% power:")
    assert notes[5:] == ("2 snippets have no answer.",)
