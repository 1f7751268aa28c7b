"""The figure of answers with the name and without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drawn import assert_laid_out, bars, intervals, words
from figure_runs import change_findings, draw, run_of, whole_run

from shadowprobe.reporting import figures


def test_masked_mention_sets_right_answers_without_the_name_below_those_with_it(readers: list[Path]) -> None:
    row = {"n": 4, "accuracy": 0.25, "accuracy_ci95": [0.1, 0.6]}
    change_findings(readers[0], "masked_mention", {"top": row, "shadow": row | {"accuracy": 0.0}})
    drawn = figures.plot("masked-mention", readers)
    on_top, on_shadow = drawn.axes
    # On Top Avon and Berg are right, on Shadow Berg and Como; the other linker is right, and was not asked without.
    assert bars(on_top) == [(0, 50), (0, 25), (0, 100)]
    assert bars(on_shadow) == [(0, 50), (0, 0), (0, 100)]
    assert intervals(on_top) == [pytest.approx([10, 60])]
    assert words(drawn).count("not known") == 2


def test_the_name_and_without_it_are_two_bars_one_above_the_other() -> None:
    found = {"top": {"accuracy": 0.25, "accuracy_ci95": [0.125, 0.5]}}
    run = run_of(masked_mention=found)
    run.results["subsets"] = {"top": {"recall": 0.75}}
    drawn = draw("masked-mention", [run])
    (axes,) = drawn.axes
    with_name, without = axes.patches
    assert (with_name.get_width(), without.get_width()) == (75, 25)
    middle = axes.get_yticks()[0]
    # They touch at the middle of the row, the first above.
    assert with_name.get_y() + with_name.get_height() == pytest.approx(middle)
    assert without.get_y() == pytest.approx(middle)
    assert [text.get_text() for text in axes.texts] == ["75.0%", "25.0%"]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [
        "with the name",
        "without it,\nwith 95% interval",
    ]
    # Only what was measured again has an interval.
    assert {tuple(one.get_segments()[0][:, 0].tolist()) for one in axes.collections} == {(12.5, 50)}


@pytest.mark.parametrize("width", ["one", "two"])
def test_words_can_be_read_and_rows_fill_the_page(width: Any) -> None:
    one, two = (draw("masked-mention", [whole_run(label) for label in labels], width=width) for labels in ("a", "ab"))
    assert_laid_out(two, 2)
    # Two bars and the room between two systems.
    assert 0.3 < two.get_figheight() - one.get_figheight() < 0.5
    assert [(axes.get_title(), axes.get_xlabel()) for axes in two.axes] == [
        ("Top", "right answers, %"),
        ("Shadow", "right answers, %"),
    ]
    (legend,) = two.legends
    assert legend._ncols == 2
    names = [[text.get_text() for text in axes.get_yticklabels() if text.get_visible()] for axes in two.axes]
    assert names == [["a", "b"], []]


def test_a_subset_that_no_run_was_asked_about_has_no_panel() -> None:
    run = whole_run()
    del run.results["probes"]["masked_mention"]["shadow"]
    (axes,) = draw("masked-mention", [run, run_of("b", masked_mention={"not_measured": "no names"})]).axes
    # Of the other run neither bar is known.
    assert [text.get_text() for text in axes.texts] == ["75.0%", "50.0%", "not known", "not known"]
