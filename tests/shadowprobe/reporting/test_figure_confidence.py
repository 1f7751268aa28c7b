"""The figure of scores on each subset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from drawn import points, tick_labels, words
from figure_runs import Stored
from world import hand_predictions

from shadowprobe import UsageError
from shadowprobe.reporting import figures


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
