"""The tables and the figure of trainings, of small records that are written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import assert_readable

from shadowprobe import UsageError
from shadowprobe.reporting.figures.passages import passages
from shadowprobe.reporting.figures.style import COLOURS, MARKERS, use_style
from shadowprobe.reporting.tables.training_tables import describe_split, make_training_tables
from shadowprobe.training.record import Training, TrainingRecord


def share(rate: float, low: float = 0.0, high: float = 1.0, n: int = 4) -> dict[str, Any]:
    return {"rate": rate, "ci95": [low, high], "n": n}


def points(difference: float, low: float, high: float) -> dict[str, Any]:
    return {"difference": difference, "ci95": [low, high]}


def group(n: int, before: float, after: float, bm25: float) -> dict[str, Any]:
    """A group of questions: the shares at 1 and at 5 documents, of which the second is twice the first."""
    rates = {"before": before, "after": after, "bm25": bm25}
    return {
        "n": n,
        "systems": {system: {"1": share(rate), "5": share(2 * rate)} for system, rate in rates.items()},
        "change": {"1": points(after - before, 0.0, 0.5), "5": None},
        "lead": {"1": points(after - bm25, -0.25, 0.25), "5": points(2 * (after - bm25), -0.5, 0.5)},
    }


def relation(n: int, rate: float, *, is_trained: bool) -> dict[str, Any]:
    systems = ("before", "after", "bm25")
    return {
        "n": n,
        "is_trained": is_trained,
        "systems": {
            system: {"1": share(rate * place), "5": share(rate)} for place, system in enumerate(systems, start=1)
        },
    }


def map_of(count: int, same: float | None, other: float | None) -> dict[str, Any]:
    return {
        "places": [[float(place), float(-place)] for place in range(count)],
        "same_relation": same,
        "other_relation": other,
    }


def training(label: str = "mine", ks: tuple[int, ...] = (5, 1), **more: Any) -> Training:
    """A finished training on P19, tested on it and on P20."""
    record: dict[str, Any] = {
        "settings": {"ks": list(ks)},
        "collection": {},
        "shadowprobe": "1",
        "digests": {},
        "relations": ["P19"],
        "split": {
            "examples": {"P19": 8, "P17": 4},
            "test": {"P19": 3, "P20": 2},
            "dropped_for_overlap": 2,
            "over_the_limit": 0,
            "without_subject": 1,
            "without_passage": 0,
        },
        "questions": {"trained": group(3, 0.25, 0.5, 0.375), "other": group(2, 0.5, 0.25, 0.5)},
        "relations_found": {
            "P19": relation(3, 0.25, is_trained=True),
            "P999": relation(2, 0.125, is_trained=False),
        },
        "macro": {system: {"1": 0.5, "5": 0.75} for system in ("before", "after", "bm25")},
    }
    return Training(Path("trained", label), label, TrainingRecord(**{**record, **more}))


def texts(table: Any) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


def test_questions_have_a_row_for_each_system_with_fewer_documents_first() -> None:
    first, *_ = make_training_tables([training()])
    assert [column.name for column in first.columns] == ["questions", "system", "n", "first 1", "first 5"]
    assert texts(first) == [
        ["trained relations", "before", "3", "25.0 (0–100)", "50.0 (0–100)"],
        ["trained relations", "after", "3", "50.0 (0–100)", "100.0 (0–100)"],
        ["trained relations", "bm25", "3", "37.5 (0–100)", "75.0 (0–100)"],
        ["other relations", "before", "2", "50.0 (0–100)", "100.0 (0–100)"],
        ["other relations", "after", "2", "25.0 (0–100)", "50.0 (0–100)"],
        ["other relations", "bm25", "2", "50.0 (0–100)", "100.0 (0–100)"],
    ]
    assert [row.section for row in first.rows] == ["trained relations"] * 3 + ["other relations"] * 3


def test_changes_are_in_points_and_a_dash_where_there_is_none() -> None:
    changes = make_training_tables([training()])[1]
    assert texts(changes) == [
        ["trained relations", "after − before", "+25.0 (+0.0 to +50.0)", "–"],
        ["trained relations", "after − bm25", "+12.5 (-25.0 to +25.0)", "+25.0 (-50.0 to +50.0)"],
        ["other relations", "after − before", "-25.0 (+0.0 to +50.0)", "–"],
        ["other relations", "after − bm25", "-25.0 (-25.0 to +25.0)", "-50.0 (-50.0 to +50.0)"],
    ]


def test_relations_have_their_names_whether_they_were_trained_and_a_mean_below_them() -> None:
    table = make_training_tables([training()])[2]
    assert [column.group for column in table.columns] == [
        "",
        "",
        "",
        "",
        *(["before"] * 2 + ["after"] * 2 + ["bm25"] * 2),
    ]
    assert texts(table) == [
        ["P19", "place of birth", "trained", "3", "25.0", "25.0", "50.0", "25.0", "75.0", "25.0"],
        ["P999", "", "other", "2", "12.5", "12.5", "25.0", "12.5", "37.5", "12.5"],
        ["macro", "mean over the relations", "", "", "50.0", "75.0", "50.0", "75.0", "50.0", "75.0"],
    ]
    assert table.starts_section() == [False, False, True]


def test_two_trainings_are_told_apart_and_share_the_numbers_of_documents_of_both() -> None:
    other = training("yours", ks=(1, 20), relations_found={"P19": relation(3, 0.5, is_trained=True)})
    questions, changes, by_relation = make_training_tables([training(), other])
    assert [column.name for column in questions.columns][3:] == ["first 1"]
    assert [row[1] for row in texts(questions)[:6]] == [
        *("mine: before", "mine: after", "mine: bm25"),
        *("yours: before", "yours: after", "yours: bm25"),
    ]
    assert texts(changes)[1][1] == "mine: after − bm25"
    # The second training was not tested on the other relation.
    assert texts(by_relation)[1] == ["P999", "", "other", "2", "12.5", "25.0", "37.5", "–", "–", "–"]
    notes = questions.notes
    assert notes[1].startswith("mine: Training on 12 questions of 2 relations")
    assert notes[2].startswith("yours: Training on 12 questions")


def test_the_split_says_what_was_left_out_and_with_what_it_was_mixed() -> None:
    record = training().record
    assert describe_split(record) == (
        "Training on 12 questions of 2 relations; left out: 2 share a word with a test question, 1 have no known"
        " subject. The test has 5 questions."
    )
    record.split |= {"dropped_for_overlap": 0, "without_subject": 0, "mix": {"examples": 30}}
    assert describe_split(record) == (
        "Training on 12 questions of 2 relations; mixed with 30 other questions. The test has 5 questions."
    )


def test_notes_of_a_training_are_below_the_first_table() -> None:
    first, *_ = make_training_tables([training(notes=["too few passages for a map"])])
    assert first.notes[-1] == "too few passages for a map."


def test_amber_has_head_and_tail_their_gap_and_how_training_changed_it() -> None:
    systems = {
        "before": {"head": share(0.75, 0.5, 1.0), "tail": share(0.25, 0.0, 0.5), "gap": points(0.5, 0.25, 0.75)},
        "after": {"head": share(0.5, 0.25, 0.75), "tail": share(0.5, 0.25, 0.75), "gap": points(0.0, -0.5, 0.5)},
    }
    found = {"human": {"qa": {"systems": systems, "gap_change": points(-0.5, -0.75, -0.25)}}}
    with_sets = training(amber=found)
    with_sets.record.split["amber"] = {"kept": 30, "dropped_for_overlap": 10}
    tables = make_training_tables([with_sets])
    assert [table.key for table in tables] == [
        *("training-questions", "training-changes", "training-relations", "training-amber")
    ]
    assert texts(tables[3]) == [
        ["people, question answering", "before", "75.0 (50–100)", "25.0 (0–50)", "+50.0 (+25.0 to +75.0)", ""],
        [
            "people, question answering",
            "after",
            "50.0 (25–75)",
            "50.0 (25–75)",
            "+0.0 (-50.0 to +50.0)",
            "-50.0 (-75.0 to -25.0)",
        ],
    ]
    assert "(30 of 40 sets, each counted for each task)" in tables[3].notes[0]


ITEMS = [{"relation": relation} for relation in ("P19", "P19", "P20", "P17")]


def test_passages_have_the_mean_cosines_before_and_after() -> None:
    found = {"items": ITEMS, "before": map_of(4, 0.5, 0.25), "after": map_of(4, 0.875, None)}
    *_, table = make_training_tables([training(passages=found)])
    assert texts(table) == [["before", "4", "0.500", "0.250"], ["after", "4", "0.875", "–"]]


def test_published_tables_need_no_training() -> None:
    keys = [table.key for table in make_training_tables([], published=True)]
    assert keys == ["published-training-2", "published-training-3", "published-training-4"]
    assert make_training_tables([]) == []
    tables = make_training_tables([training()], published=True)
    assert [table.key for table in tables[3:]] == keys


def drawn_places(axes: Any) -> list[list[list[float]]]:
    return [np.asarray(one.get_offsets()).tolist() for one in axes.collections]


@pytest.mark.parametrize("width", ["one", "two"])
def test_the_figure_has_a_colour_for_each_relation_with_the_trained_ones_first(width: Any) -> None:
    found = {"items": ITEMS, "before": map_of(4, 0.5, 0.25), "after": map_of(4, 0.875, None)}
    drawn = passages([training(passages=found)], width)
    before, after = drawn.axes
    # P17 and P19 were trained, and P19 has more passages.
    legend = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert legend == ["place of birth (P19)", "country (P17)", "place of death (P20)"]
    assert drawn_places(before) == drawn_places(after) == [[[0, 0], [1, -1]], [[3, -3]], [[2, -2]]]
    assert before.get_title() == "before training\nmean similarity: of one\nrelation 0.50, of two 0.25"
    assert after.get_title() == "after training\nmean similarity: of one\nrelation 0.88, of two –"
    assert (list(before.get_xticks()), list(before.get_yticks())) == ([], [])


def test_beyond_seven_relations_the_others_are_one_in_grey_below_the_named_ones() -> None:
    from matplotlib.colors import to_hex

    names = [f"P{number}" for number in range(900, 909)]
    # The second of them has two passages, and so comes first.
    items = [{"relation": name} for name in [*names, names[1]]]
    found = {"items": items, "before": map_of(10, 0.5, 0.25), "after": map_of(10, 0.5, 0.25)}
    drawn = passages([training(passages=found)], "two")
    legend = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert legend == ["P901", "P900", "P902", "P903", "P904", "P905", "P906", "other relations"]
    collections = drawn.axes[0].collections
    assert drawn_places(drawn.axes[0])[-1] == [[7, -7], [8, -8]]
    colours = [to_hex(tuple(np.asarray(one.get_facecolor())[0])).upper() for one in collections]
    assert colours == [*COLOURS[:7], "#BBBBBB"]
    assert len(MARKERS) == len(collections)
    assert {one.get_zorder() > collections[-1].get_zorder() for one in collections[:-1]} == {True}


def test_two_trainings_are_two_rows_with_their_names() -> None:
    found = {"items": ITEMS, "before": map_of(4, 0.5, 0.25), "after": map_of(4, 0.875, None)}
    drawn = passages([training(passages=found), training("yours", passages=found)], "one")
    titles = [axes.get_title().partition("\n")[0] for axes in drawn.axes]
    assert titles == ["mine, before", "mine, after", "yours, before", "yours, after"]
    one = passages([training(passages=found)], "one")
    # Each row is a square below its title, and two rows need twice as much but for the legend.
    assert 1.5 < drawn.get_figheight() - one.get_figheight() < 2.5


def test_without_places_the_figure_says_why() -> None:
    with pytest.raises(UsageError, match="no such figure of trained/mine: it has too few passages"):
        passages([training()], "one")
    noted = training(notes=["no test", "only 2 passages answer"], passages={"before": {"places": None}})
    with pytest.raises(UsageError, match="no such figure of trained/mine: only 2 passages answer"):
        passages([noted], "one")


@pytest.mark.parametrize(("width", "inches", "columns"), [("one", 3, 2), ("two", 4, 4)])
def test_the_maps_fill_the_width_of_the_page_and_words_can_be_read(width: Any, inches: float, columns: int) -> None:
    items = [{"relation": f"P{number}"} for number in range(900, 905)]
    found = {"items": items, "before": map_of(5, 0.5, 0.25), "after": map_of(5, 0.875, None)}
    with use_style():
        drawn = passages([training(passages=found)], width)
        assert_readable(drawn)
    assert drawn.get_figheight() < inches
    before, after = (axes.get_window_extent() for axes in drawn.axes)
    # Side by side, and nearly as high as wide.
    assert before.x1 < after.x0
    assert 0.6 < before.height / before.width < 1.1
    (legend,) = drawn.legends
    assert legend._ncols == columns  # type: ignore[attr-defined]


@pytest.mark.parametrize(("more", "lines"), [("", 1), ("x", 2)])
def test_the_name_of_a_training_has_room_for_26_characters(more: str, lines: int) -> None:
    found = {"items": ITEMS, "before": map_of(4, 0.5, 0.25), "after": map_of(4, 0.5, 0.25)}
    # `, before` has eight of them.
    label = f"{'x' * 16} {more}y"
    drawn = passages([training(label, passages=found), training("yours", passages=found)], "one")
    assert drawn.axes[0].get_title().partition("\nmean")[0].count("\n") + 1 == lines
