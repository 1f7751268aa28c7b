"""The figure of scores on each subset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from drawn import assert_laid_out, assert_readable, points, tick_labels, words
from figure_runs import Stored, draw, run_of, whole_run
from world import hand_predictions

from shadowprobe import UsageError
from shadowprobe.reporting import figures

BOXES = "box: quartiles, line: median, whiskers: 5% to 95%"
COMPARED = "\nAUROC: Top and Shadow against Neutral, 0.5 is a coin"


def test_confidence_has_a_panel_a_system_with_a_box_a_subset(readers: list[Path]) -> None:
    drawn = figures.plot("confidence", readers)
    first, second = drawn.axes
    assert tick_labels(first) == ["Top", "Shadow", "Tail", "Neutral"]
    # The scores on Top are 0.5, 0.7 and 0.9.
    box: Any = first.patches[0].get_path().vertices
    assert (box[:, 1].min(), box[:, 1].max()) == pytest.approx((0.6, 0.8))
    # Median, and the ends of the whiskers.
    assert {0.7, 0.52, 0.88} <= {y for line in first.lines for _, y in points(line)}
    # Real contexts score 2 and 4, neutral ones 1: it always tells them apart.
    assert second.get_title() == "right\nAUROC 1.00"
    assert "score, each system\non a scale of its own" in words(drawn)


def test_of_two_systems_the_one_without_scores_has_an_empty_panel(stored: Stored, hand: Path) -> None:
    bare = stored("bare", [msgspec.structs.replace(one, score=None) for one in hand_predictions()])
    first, second = figures.plot("confidence", [hand, bare]).axes
    assert len(first.patches) == 4
    assert (len(second.patches), second.get_title()) == (0, "bare")
    assert [text.get_text() for text in second.texts] == ["not known"]


def test_scores_that_hardly_differ_are_written_out(stored: Stored, tmp_path: Path) -> None:
    # From 0.9990005 to 0.9990009 and a little more.
    near = [msgspec.structs.replace(one, score=0.999 + 1e-6 * (one.score or 0)) for one in hand_predictions()]
    drawn = figures.plot("confidence", [stored("near", near)])
    figures.save(drawn, tmp_path / "f.svg")
    labels = [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    assert all(label.startswith("0.999") for label in labels)
    assert drawn.axes[0].yaxis.get_offset_text().get_text() == ""


def test_without_scores_there_is_no_figure_of_them(stored: Stored) -> None:
    run = stored("bare", [msgspec.structs.replace(one, score=None) for one in hand_predictions()])
    with pytest.raises(UsageError, match=r"no such figure of `bare` \(.*bare\): the linker gives no scores"):
        figures.plot("confidence", [run])


@pytest.mark.parametrize(("width", "columns"), [("one", 2), ("two", 4)])
def test_panels_fill_the_page_in_as_many_columns_as_it_has(width: Any, columns: int) -> None:
    drawn = draw("confidence", [whole_run(label) for label in "abcde"], width=width)
    assert_readable(drawn)
    # The last line is not full, and has no empty panels.
    assert len(drawn.axes) == 5
    places = [(box.x0, box.y0) for box in (axes.get_window_extent() for axes in drawn.axes)]
    assert len({round(x) for x, _ in places}) == columns
    assert len({round(y) for _, y in places}) == -(-5 // columns)
    height = drawn.axes[0].get_window_extent().height / drawn.dpi
    assert 0.5 < height < 1.3


def test_a_score_alone_is_on_its_own_scale_and_without_a_neutral_one_nothing_is_compared() -> None:
    run = whole_run()
    drawn = draw("confidence", [run])
    assert_laid_out(drawn, 2)
    # Without its words, a panel is a little lower than an inch.
    assert 0.6 < drawn.axes[0].get_window_extent().height / drawn.dpi < 1
    assert drawn.axes[0].get_title() == "a\nAUROC 0.75"
    assert {"score, on its own scale", BOXES + COMPARED} <= set(words(drawn))
    run.results["probes"]["confidence"]["auroc_real_against_neutral"] = None
    drawn = draw("confidence", [run, run_of("b", confidence={"not_measured": "no scores"})])
    assert drawn.axes[0].get_title() == "a"
    assert BOXES in words(drawn)


def test_boxes_stand_one_beside_the_other_without_outliers_and_in_the_colour_of_their_system() -> None:
    (axes,) = draw("confidence", [whole_run()]).axes
    middles = [float(np.mean(box.get_path().vertices[:4, 0])) for box in axes.patches]
    assert middles == pytest.approx([0, 1])
    # Each is more than half as wide as the way to the next, and does not reach it.
    assert 0.5 < np.ptp(axes.patches[0].get_path().vertices[:, 0]) < 1
    # A box has a median, two whiskers and two caps, and no points beyond.
    assert len(axes.lines) == 2 * 5
