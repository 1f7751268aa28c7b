"""What a correction changes as a table, of findings that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.reporting.tables.correction_tables import correction_table, describe_verdict


def change(before: float, after: float, low: float, high: float, cut: float | None = None) -> dict[str, Any]:
    return {
        "n": 8,
        "before": before,
        "after": after,
        "difference": after - before,
        "difference_ci95": [low, high],
        "errors_cut": cut,
    }


def found(**more: Any) -> dict[str, Any]:
    content: dict[str, Any] = {
        "weight": 0.5,
        "chosen_by": "given",
        "verdict": "worth it",
        "gained": 3,
        "lost": 1.5,
        "smallest_gain": 0.01,
        "splits": [1, 2, 3],
        "break_even": None,
        "notes": [],
        "measures": {
            "both_right": change(0.25, 0.5, 0.125, 0.375, 0.375),
            "top": change(0.75, 0.625, -0.25, 0.0),
            "shadow": change(0.25, 0.5, 0.0, 0.5, 0.125),
        },
    }
    return {**content, **more}


def with_gain(low: float, high: float, **more: Any) -> dict[str, Any]:
    return found(measures={"both_right": change(0.25, 0.5, low, high)}, verdict="not worth it", **more)


def test_measures_are_before_and_after_with_shadow_first() -> None:
    table = correction_table({"mine": found()})
    assert [table.texts(row) for row in table.rows] == [
        ["mine", "Shadow: right", "8", "25.0", "50.0", "+25.0 (+0.0 to +50.0)", "12.5"],
        ["mine", "Top: right", "8", "75.0", "62.5", "-12.5 (-25.0 to +0.0)", "–"],
        ["mine", "both contexts right", "8", "25.0", "50.0", "+25.0 (+12.5 to +37.5)", "37.5"],
    ]
    assert table.notes == ("mine: worth it; weight 0.5 (given); 3 names gained, 1.5 lost.",)


def test_several_corrections_are_sections_with_their_notes() -> None:
    table = correction_table({"mine": found(notes=["few names"]), "yours": found()})
    assert table.starts_section() == [False, False, False, True, False, False]
    assert [note.partition(":")[0] for note in table.notes] == ["mine", "mine", "yours"]
    assert table.notes[1] == "mine: few names."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            found(measures={}),
            "weight 0.5; no name has both contexts, so that it is unknown whether it is worth it.",
        ),
        (
            found(chosen_by="default"),
            "worth it; weight 0.5 (the default without enough names); 3 names gained, 1.5 lost.",
        ),
        (
            found(chosen_by="cross-fit"),
            "worth it; weight 0.5 for new texts; each half of the names was tested with a weight chosen on the other,"
            " in 3 splits; 3 names gained, 1.5 lost (means).",
        ),
        (
            with_gain(-0.25, -0.125),
            "not worth it: it makes fewer names right in both contexts; weight 0.5 (given); 3 names gained, 1.5 lost.",
        ),
        (
            with_gain(-0.25, 0.0),
            "not worth it: no gain in both contexts right was found; weight 0.5 (given); 3 names gained, 1.5 lost.",
        ),
        (
            with_gain(0.0, 0.25, chosen_by="cross-fit"),
            "not worth it: no gain in both contexts right was found; the weight is 0; each half of the names was tested"
            " with a weight chosen on the other, in 3 splits; 3 names gained, 1.5 lost (means).",
        ),
        (
            with_gain(0.005, 0.25),
            "not worth it: the gain in both contexts right may be below 1 point; weight 0.5 (given); 3 names gained,"
            " 1.5 lost.",
        ),
        (
            with_gain(0.005, 0.25, smallest_gain=0.02),
            "not worth it: the gain in both contexts right may be below 2 points; weight 0.5 (given); 3 names gained,"
            " 1.5 lost.",
        ),
    ],
)
def test_the_verdict_says_how_the_weight_was_chosen_and_why_it_is_not_worth_it(
    content: dict[str, Any], words: str
) -> None:
    assert describe_verdict(content) == words


@pytest.mark.parametrize(
    ("break_even", "words"),
    [
        ({"share": 0.0, "pays": "always"}, "break-even share 0%: right answers are lost neither on Top nor on Shadow."),
        ({"share": 1.0, "pays": "never"}, "no break-even share: nothing is gained on Top or on Shadow."),
        (
            {"share": 0.125, "pays": "above"},
            "break-even share 12.5%: it pays where the share of Shadow cases is above that.",
        ),
    ],
)
def test_the_share_of_shadow_cases_from_which_on_it_pays_is_a_note(break_even: dict[str, Any], words: str) -> None:
    assert correction_table({"mine": found(break_even=break_even)}).notes[1] == f"mine: {words}"
    # Without a correction there is nothing that could pay.
    assert len(correction_table({"mine": found(break_even=break_even, weight=0)}).notes) == 1


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"top_loss": 0.01}, "; a weight may cost 1 point on Top among the names that choose it;"),
        ({"top_loss": 0.025}, "; a weight may cost 2.5 points on Top among the names that choose it;"),
        # No limit, and a file of an earlier version.
        ({"top_loss": 1.0}, "in 3 splits; 3 names"),
        ({}, "in 3 splits; 3 names"),
    ],
)
def test_a_chosen_weight_has_its_limit_beside_it(limit: dict[str, float], words: str) -> None:
    assert words in describe_verdict(found(chosen_by="cross-fit", **limit))
