"""The figure of right answers against scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from drawn import assert_laid_out, intervals, points, tick_labels
from figure_runs import Stored, change_findings, draw, run_of, whole_run
from matplotlib.collections import LineCollection
from world import hand_predictions

from shadowprobe import UsageError
from shadowprobe.reporting import figures
from shadowprobe.running.finished import FinishedRun


def test_calibration_sets_right_answers_against_scores(stored: Stored) -> None:
    surer = [msgspec.structs.replace(one, score=0.75) if one.id == "tBerg" else one for one in hand_predictions()]
    drawn = figures.plot("calibration", [stored("hand", surer)])
    (axes,) = drawn.axes
    # By score: 0.5 Como wrong on Top and right on Shadow, 0.6 and 0.75 Berg right, 0.8 Avon wrong, 0.9 Avon right.
    container: Any = axes.containers[0]
    assert points(container.lines[0]) == [(0.5, 0.5), (0.6, 1), (0.75, 1), (0.8, 0), (0.9, 1)]
    # Of six answers two are right as often as said; the others are off by 0.4, 0.25, 0.8 and 0.1: 1.55 / 6.
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["hand\nECE 0.258"]
    # Wilson's interval of 1 of 1 begins at 1 / (1 + 1.96²), and of 0 of 1 it ends at 1 minus that.
    ends = intervals(axes, upright=True)
    assert ends[1] == pytest.approx([1 / (1 + 1.959964**2), 1])
    assert ends[2] == pytest.approx([0, 1 - 1 / (1 + 1.959964**2)])


def test_the_area_of_a_marker_of_calibration_is_its_number_of_answers_and_few_have_thin_lines(hand: Path) -> None:
    bins = [
        {"low": low, "high": low + 0.1, "n": n, "mean_score": low, "accuracy": 0.5, "accuracy_ci95": [0.25, 0.75]}
        for low, n in ((0.1, 200), (0.3, 100), (0.5, 20), (0.7, 19))
    ]
    change_findings(hand, "calibration", {"overall": {"ece": 0.1, "bins": bins}})
    (axes,) = figures.plot("calibration", [hand]).axes
    markers: Any
    (markers,) = (one for one in axes.collections if not isinstance(one, LineCollection))
    # The largest has 60 square points; half as many answers have half the area.
    assert list(markers.get_sizes()) == [60, 30, 6, pytest.approx(5.7)]
    (ends,) = (one for one in axes.collections if isinstance(one, LineCollection))
    widths: Any = ends.get_linewidth()
    usual, thin = max(widths), min(widths)
    assert list(widths) == [usual, usual, usual, thin]
    assert usual > 2 * thin
    segments = [line.get_linewidth() for line in axes.lines if len(points(line)) == 2][1:]
    assert segments[0] == segments[1] > 2 * segments[2]


def test_scores_that_are_no_chances_have_no_calibration(readers: list[Path]) -> None:
    with pytest.raises(UsageError, match=r"`right` .* the scores run from 2 to 4 and so are not chances"):
        figures.plot("calibration", readers[1:])


def test_of_two_systems_the_one_whose_scores_are_no_chances_is_in_the_legend_alone(readers: list[Path]) -> None:
    drawn = figures.plot("calibration", readers)
    (axes,) = drawn.axes
    assert len(axes.containers) == 1
    # By score: 0.5 Como wrong on Top and right on Shadow, 0.6 and 0.7 Berg right, 0.8 Avon wrong, 0.9 Avon right. Off
    # by nothing, 0.4, 0.3, 0.8 and 0.1: 1.6 / 6.
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["hand\nECE 0.267", "right\nECE not known"]


def calibrated(label: str, *bins: tuple[float, float, int]) -> FinishedRun:
    rows = [{"mean_score": score, "accuracy": rate, "accuracy_ci95": [rate, rate], "n": n} for score, rate, n in bins]
    return run_of(label, calibration={"overall": {"ece": 0.0625, "bins": rows}})


def test_the_area_of_a_marker_is_the_number_of_answers_in_its_bin() -> None:
    runs = [calibrated("a", (0.25, 0.5, 100), (0.75, 1.0, 50)), calibrated("b", (0.5, 0.5, 1), (0.9, 0.5, 10))]
    drawn = draw("calibration", runs)
    (axes,) = drawn.axes
    (large, half), (least, tenth) = (one.get_sizes().tolist() for one in axes.collections if hasattr(one, "get_sizes"))
    assert (half / large, tenth / large) == (0.5, pytest.approx(0.1))
    # A single answer would not be seen: it has the smallest marker.
    assert large / 100 < least < tenth
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["a\nECE 0.062", "b\nECE 0.062"]
    # Where a score is what it says.
    diagonal = next(line for line in axes.lines if line.get_color() == "black")
    assert points(diagonal) == [(0, 0), (1, 1)]
    with pytest.raises(UsageError, match="no score on Top, Shadow or All"):
        draw("calibration", [run_of("a", calibration={"overall": None})])


@pytest.mark.parametrize("width", ["one", "two"])
def test_scores_and_right_answers_have_the_same_axis_in_a_square(width: Any) -> None:
    drawn = draw("calibration", [whole_run("a"), whole_run("b")], width=width)
    assert_laid_out(drawn, 3.5)
    (axes,) = drawn.axes
    assert axes.get_xlim() == axes.get_ylim() == (0, 1)
    assert axes.get_aspect() == 1
    percent = ["0", "25", "50", "75", "100"]
    assert tick_labels(axes) == [text.get_text() for text in axes.get_yticklabels()] == percent
    assert [float(tick) for tick in axes.get_xticks()] == [0, 0.25, 0.5, 0.75, 1]


def test_markers_lie_on_their_lines_and_are_not_cut_at_the_edge() -> None:
    (axes,) = draw("calibration", [calibrated("a", (0.0, 0.0, 9), (1.0, 1.0, 9))]).axes
    (markers,) = (one for one in axes.collections if not isinstance(one, LineCollection))
    assert markers.get_zorder() > max(line.get_zorder() for line in axes.lines)
    assert not markers.get_clip_on()
    # The markers are those of the sizes: there are no others below them.
    assert axes.containers[0].lines[0].get_marker() in {"", "None"}
