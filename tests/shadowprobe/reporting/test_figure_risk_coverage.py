"""The figure of wrong answers among those that are kept, and what the panels of systems share."""

from __future__ import annotations

from typing import Any

import pytest
from drawn import assert_laid_out, assert_readable, points, tick_labels, words
from figure_runs import draw, run_of, whole_run

from shadowprobe.reporting.figures.style import COLOURS


def doubted(label: str, auroc: float | None = 0.75, **curves: list[tuple[float, float]]) -> Any:
    """A run with the risks of some signals by coverage; the first signal is the one that is named."""
    signals = {
        name: {"auroc": auroc, "curve": [{"coverage": x, "risk": y} for x, y in curve]}
        for name, curve in curves.items()
    }
    return run_of(label, suspicion={"signal": next(iter(curves)), "signals": signals})


def test_each_signal_has_a_line_and_its_colour_in_all_panels() -> None:
    runs = [
        doubted("a", margin=[(0.5, 0.25), (1.0, 0.5)], contrast=[(0.5, 0.125), (1.0, 0.5)]),
        doubted("b", margin=[(1.0, 0.75)]),
    ]
    drawn = draw("risk-coverage", runs)
    first, second = drawn.axes
    assert [points(line) for line in first.lines] == [[(0.5, 12.5), (1, 50)], [(0.5, 25), (1, 50)]]
    assert [points(line) for line in second.lines] == [[(1, 75)]]
    assert [line.get_color() for line in first.lines] == list(COLOURS[:2])
    # The only line of the second panel is the second one of the legend.
    assert second.lines[0].get_color() == COLOURS[1]
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["contrast", "small lead"]
    assert [line.get_color() for line in legend.get_lines()] == list(COLOURS[:2])
    assert first.get_title() == "a\nAUROC 0.75 (small lead)"
    assert "wrong answers\namong them, %" in words(drawn)


def test_without_an_auroc_nothing_stands_below_the_name() -> None:
    (axes,) = draw("risk-coverage", [doubted("a", None, margin=[(1.0, 0.5)])]).axes
    assert axes.get_title() == "a"


@pytest.mark.parametrize(("width", "columns"), [("one", 2), ("two", 3)])
def test_panels_fill_the_page_and_the_lowest_of_each_column_names_the_axis(width: Any, columns: int) -> None:
    runs = [whole_run(label) for label in "abcde"]
    drawn = draw("risk-coverage", runs, width=width)
    assert_readable(drawn)
    # No empty panel is left.
    assert len(drawn.axes) == 5
    places = [axes.get_window_extent() for axes in drawn.axes]
    assert len({round(place.x0) for place in places}) == columns
    named = [place + 1 for place, axes in enumerate(drawn.axes) if axes.get_xlabel()]
    assert named == list(range(6 - columns, 6))
    assert all(axes.get_xlim() == (0, 1) and axes.get_ylim()[0] == 0 for axes in drawn.axes)
    assert tick_labels(drawn.axes[0]) == ["0", "25", "50", "75", "100"]
    (legend,) = drawn.legends
    assert legend._ncols == 1


@pytest.mark.parametrize(("count", "inches"), [(1, 3), (2, 2.5), (3, 3.5)])
def test_a_panel_is_higher_than_half_an_inch_and_no_square_of_paper_is_wasted(count: int, inches: float) -> None:
    for width in ("one", "two"):
        drawn = draw("risk-coverage", [whole_run(label) for label in "abc"[:count]], width=width)
        assert_laid_out(drawn, inches)
        box = drawn.axes[0].get_window_extent()
        assert 0.5 < box.height / drawn.dpi < 1.9


def test_a_system_without_findings_is_said_in_the_middle_of_its_panel() -> None:
    drawn = draw("risk-coverage", [whole_run("a"), run_of("b", suspicion={"not_measured": "no prior"})])
    _, empty = drawn.axes
    (text,) = empty.texts
    assert (text.get_text(), text.get_position()) == ("not known", (0.5, 0.5))
    assert text.get_transform() == empty.transAxes
    assert not empty.axison
    assert empty.get_title() == "b"


def test_a_long_note_is_broken_and_makes_the_figure_higher() -> None:
    short = draw("risk-coverage", [doubted("a", contrast=[(1.0, 0.5)])])
    long = draw("risk-coverage", [doubted("a", unsupported=[(1.0, 0.5)])])
    # 26 characters have room on a line.
    assert short.axes[0].get_title() == "a\nAUROC 0.75 (contrast)"
    assert long.axes[0].get_title() == "a\nAUROC 0.75 (the prior, no\nhigher score)"
    # A line of words needs an eighth of an inch.
    assert long.get_figheight() - short.get_figheight() == pytest.approx(0.13)
