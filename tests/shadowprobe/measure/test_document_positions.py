"""What is given of the document at each position, worked out by hand."""

from __future__ import annotations

import pytest

from shadowprobe.measure.document_positions import compare_ends, count_positions

T, F = True, False


def test_a_position_counts_the_sets_that_have_a_document_there() -> None:
    found = count_positions([[T, F], [T, T, F], [F, F, T]])
    assert {position: (one["n"], one["rate"]) for position, one in found.items()} == {
        "1": (3, pytest.approx(2 / 3)),
        "2": (3, pytest.approx(1 / 3)),
        "3": (2, 0.5),
    }
    # Wilson's interval for 1 of 2.
    assert found["3"]["ci95"] == pytest.approx([0.0945, 0.9055], abs=1e-4)


def test_positions_after_the_tenth_are_not_listed() -> None:
    assert list(count_positions([[T] * 12])) == [str(number) for number in range(1, 11)]


def test_the_first_document_is_compared_with_the_last_of_its_set() -> None:
    # Six sets favour the first, one the last, and two neither.
    sets = [[T, F]] * 3 + [[T, T, F]] * 3 + [[F, F, F, T]] + [[T, F, T]] + [[F, T, F]]
    found = compare_ends(sets, 1000, 7)
    assert (found["sets"], found["first_only"], found["last_only"], found["both"], found["neither"]) == (9, 6, 1, 1, 1)
    assert found["difference"] == pytest.approx(5 / 9)
    # Of seven sets that differ, one or none on one side: 2 * (1 + 7) / 2**7.
    assert found["mcnemar_p"] == pytest.approx(16 / 128)
    assert found["verdict"] == "undecided"


@pytest.mark.parametrize(("ends", "verdict"), [([T, F], "first"), ([F, T], "last")])
def test_six_sets_of_six_are_enough_for_a_verdict(ends: list[bool], verdict: str) -> None:
    # 2 / 2**6 = 0.03, and with five sets 2 / 2**5 = 0.06.
    assert compare_ends([ends] * 6, 1000, 7)["verdict"] == verdict
    assert compare_ends([ends] * 5, 1000, 7)["verdict"] == "undecided"


def test_the_interval_of_the_difference_is_that_of_sets_drawn_again() -> None:
    # Two sets: the difference is 1 in a quarter of the draws, 0 in another, and one half in the rest.
    assert compare_ends([[T, F], [T, T]], 1000, 7)["ci95"] == [0.0, 1.0]
