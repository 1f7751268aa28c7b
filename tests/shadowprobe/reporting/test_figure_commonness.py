"""The figure of how common gold entities are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drawn import assert_laid_out, points, words
from figure_runs import Stored, with_commonness
from world import hand_predictions, top

from shadowprobe import Dataset, UsageError
from shadowprobe.reporting import figures


def test_commonness_shows_the_mentions_of_each_subset(uneven: Dataset, stored: Stored) -> None:
    (axes,) = figures.plot("commonness", [stored("hand", hand_predictions(), uneven)]).axes
    on_top, on_shadow, on_tail = (points(line)[1:] for line in axes.lines)
    assert on_top == [(50, 0.25), (50, 0.5), (50, 0.75), (100, 1)]
    assert on_shadow == [(0, 0.25), (5, 0.5), (10, 0.75), (40, 1)]
    assert on_tail == [(2, 1)]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["Top (n = 4)", "Shadow (n = 4)", "Tail (n = 1)"]


def test_commonness_has_one_panel_for_each_dataset(world: Dataset, uneven: Dataset, stored: Stored) -> None:
    runs = [stored("a", hand_predictions()), stored("b", hand_predictions()), stored("c", hand_predictions(), uneven)]
    assert len(figures.plot("commonness", runs).axes) == 2


def test_commonness_says_of_how_many_mentions_it_is_known(world: Dataset, tmp_path: Path, stored: Stored) -> None:
    partly = with_commonness(world, tmp_path / "partly", lambda title: None if title == top("Avon") else 7)
    drawn = figures.plot("commonness", [stored("hand", hand_predictions(), partly)])
    assert "Top (n = 3 of 4)" in words(drawn)


def test_the_axis_of_commonness_names_what_is_counted(world: Dataset, tmp_path: Path, stored: Stored) -> None:
    world.card.commonness = "population"
    counted = with_commonness(world, tmp_path / "counted", lambda _: 7)
    (axes,) = figures.plot("commonness", [stored("hand", hand_predictions(), counted)]).axes
    assert axes.get_xlabel() == "commonness of the gold entity (population)"
    assert Dataset.read("data/places").card.commonness == "population"


@pytest.mark.parametrize("figure", ["popularity-gap", "buckets", "commonness"])
def test_without_commonness_there_is_no_figure_of_it(
    world: Dataset, tmp_path: Path, stored: Stored, figure: str
) -> None:
    silent = with_commonness(world, tmp_path / "silent", lambda _: None)
    with pytest.raises(UsageError, match="the dataset `world` does not say how common its entities are"):
        figures.plot(figure, [stored("hand", hand_predictions(), silent)])


def test_the_axis_is_logarithmic_also_where_an_entity_has_no_link(
    world: Dataset, uneven: Dataset, tmp_path: Path, stored: Stored
) -> None:
    usual = with_commonness(world, tmp_path / "usual", lambda _: 1)
    runs = [stored("usual", hand_predictions(), usual), stored("zero", hand_predictions(), uneven)]
    drawn = figures.plot("commonness", runs)
    one, other = drawn.axes
    assert (one.get_xscale(), other.get_xscale()) == ("log", "symlog")
    # Below one link there is no logarithm: this part is as wide as that from one link to ten.
    low, first, tenth = (other.transData.transform((x, 0))[0] for x in (0, 1, 10))
    assert first - low == pytest.approx(tenth - first, rel=0.15)
    formatted: Any = one.xaxis.get_major_formatter()
    assert (formatted(1000, 0), formatted(10, 0)) == ("1k", "10")
    assert [text.get_text() for text in one.get_yticklabels()] == ["0", "25", "50", "75", "100"]
    assert one.get_ylabel() == "mentions at most as common, %"
    assert drawn.get_figheight() == 2 * figures.plot("commonness", runs[:1]).get_figheight()
    assert figures.plot("commonness", runs, width="two").get_figheight() < 3


@pytest.mark.parametrize("width", ["one", "two"])
def test_words_can_be_read_and_the_legend_has_two_columns_below_the_panel(
    uneven: Dataset, stored: Stored, width: Any
) -> None:
    drawn = figures.plot("commonness", [stored("hand", hand_predictions(), uneven)], width=width)
    assert_laid_out(drawn, 3)
    (axes,) = drawn.axes
    legend: Any = axes.get_legend()
    assert legend._ncols == 2
    box, panel = legend.get_window_extent(), axes.get_window_extent()
    assert box.y1 < panel.y0
    assert (box.x0 + box.x1) / 2 == pytest.approx((panel.x0 + panel.x1) / 2, abs=1)


@pytest.mark.parametrize(("more", "lines"), [("", 1), ("x", 2)])
def test_names_of_datasets_and_of_what_is_counted_are_broken_where_the_panel_ends(
    world: Dataset, tmp_path: Path, stored: Stored, more: str, lines: int
) -> None:
    # A title has room for 40 characters; the axis for 45, of which 32 are our own.
    world.card.name, world.card.commonness = f"{'x' * 38} {more}y", f"{'x' * 13}{more}"
    named = with_commonness(world, tmp_path / "named", lambda _: 7)
    (axes,) = figures.plot("commonness", [stored("hand", hand_predictions(), named)]).axes
    assert [text.count("\n") + 1 for text in (axes.get_title(), axes.get_xlabel())] == [lines, lines]
