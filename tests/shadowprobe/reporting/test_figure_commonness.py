"""The figure of how common gold entities are."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import points, words
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
