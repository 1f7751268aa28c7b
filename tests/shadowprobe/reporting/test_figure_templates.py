"""The figure of the prior in each neutral template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drawn import assert_laid_out, points
from figure_runs import change_findings, draw, results, run_of

from shadowprobe import UsageError
from shadowprobe.reporting import figures


def test_templates_show_how_often_each_gets_the_prior(readers: list[Path]) -> None:
    drawn = figures.plot("templates", readers)
    (axes,) = drawn.axes
    hand, right = (container.lines[0] for container in axes.containers)  # type: ignore[attr-defined]
    # The first template gets the prior of all four names, the second not that of Dale, the third only that of Berg.
    assert [x for x, _ in points(hand)] == [100, 75, 25]
    assert [x for x, _ in points(right)] == [100, 100, 100]
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "{name} came up again.",
        "Why not {name}?",
        "One word: {name}",
    ]


def test_templates_of_other_texts_are_not_compared(readers: list[Path]) -> None:
    found = results(readers[1])["probes"]["templates"]
    found["templates"]["2"]["text"] = "Warum nicht {name}?"
    change_findings(readers[1], "templates", found)
    with pytest.raises(UsageError, match="the runs have other neutral templates: draw a figure of each dataset"):
        figures.plot("templates", readers)


def template(text: str, prior: float | None) -> dict[str, Any]:
    bounds = None if prior is None else [prior / 2, (1 + prior) / 2]
    return {"text": text, "prior": prior, "prior_ci95": bounds}


def test_templates_are_in_the_order_of_their_numbers_with_a_line_between_two() -> None:
    found = {"10": template("Here is {name}.", 0.5), "2": template("Why {name}?", 0.25), "3": template("", None)}
    runs = [run_of(label, templates={"templates": found}) for label in "ab"]
    (axes,) = draw("templates", runs).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Why {name}?", "template 3", "Here is {name}."]
    first, second = (points(one.lines[0]) for one in axes.containers)
    assert [x for x, _ in first] == [25, 50]
    middles = list(axes.get_yticks())
    # The two systems are around the middle of the row, the first one above.
    for (_, above), (_, below), middle in zip(first, second, [middles[0], middles[2]], strict=True):
        assert (above + below) / 2 == pytest.approx(middle)
        assert above < middle < below
        assert below - above < (middles[1] - middles[0]) / 2
    lines = [
        line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1 and len(line.get_xdata()) == 2
    ]
    assert [float(place) for place in lines] == pytest.approx(
        [(middles[0] + middles[1]) / 2, (middles[1] + middles[2]) / 2]
    )
    intervals = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert intervals == [[12.5, 62.5], [25, 75]]


@pytest.mark.parametrize(("width", "longest"), [("one", 46), ("two", 98)])
def test_a_template_is_cut_where_it_is_too_long_for_its_row(width: Any, longest: int) -> None:
    # Words of one character and a blank, and a last one of two.
    words = "x " * (longest // 2 - 1) + "xx"
    for text, is_cut in ((words, False), (f"{words}x", True)):
        (axes,) = draw("templates", [run_of(templates={"templates": {"1": template(text, 0.5)}})], width=width).axes
        shown = axes.get_yticklabels()[0].get_text().replace("\n", " ")
        assert (shown.endswith(" ..."), shown == text) == (is_cut, not is_cut)


@pytest.mark.parametrize("width", ["one", "two"])
def test_words_can_be_read_and_rows_are_as_high_as_their_words_or_points(width: Any) -> None:
    found = {str(number): template("Why {name}?", 0.5) for number in (1, 2)}
    few, many = (
        draw("templates", [run_of(label, templates={"templates": found}) for label in labels], width=width)
        for labels in ("ab", "abcdefghij")
    )
    assert_laid_out(few, 1.5)
    first, second = few.axes[0].get_yticks()
    # A line of words, and a little around it.
    assert 0.15 < second - first < 0.25
    first, second = many.axes[0].get_yticks()
    # Ten points, of which each needs less than a twentieth of an inch.
    assert 0.4 < second - first < 0.6
    assert few.axes[0].get_xlabel() == "names that get their prior, %,\nwith 95% interval"
    assert few.axes[0].get_xlim() == (0, 100)


@pytest.mark.parametrize(("width", "longest"), [("one", 26), ("two", 52)])
def test_a_template_is_broken_where_its_line_ends(width: Any, longest: int) -> None:
    for words, lines in (("x" * (longest - 2) + " x", 1), ("x" * (longest - 1) + " x", 2)):
        (axes,) = draw("templates", [run_of(templates={"templates": {"1": template(words, 0.5)}})], width=width).axes
        assert axes.get_yticklabels()[0].get_text().count("\n") + 1 == lines


def test_points_at_the_edge_are_not_cut_and_lie_above_the_lines_between_rows() -> None:
    found = {str(number): template("Why {name}?", 1.0) for number in (1, 2)}
    (axes,) = draw("templates", [run_of(templates={"templates": found})]).axes
    (container,) = axes.containers
    between = next(line for line in axes.lines if line is not container.lines[0])
    assert not container.lines[0].get_clip_on()
    assert between.get_zorder() < container.lines[0].get_zorder()
    assert container.lines[0].get_linestyle() == "None"
