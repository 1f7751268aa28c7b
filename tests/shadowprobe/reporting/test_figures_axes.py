"""The axes of the figures of linkers: what they are called, where they begin and end, and how large their words are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from finished_runs import finished_run

from shadowprobe import Answers
from shadowprobe.plugins import PROBES, make_probe, names
from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import STYLE, use_style
from shadowprobe.running.linking import measure_answers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shadowprobe.running.finished import FinishedRun


class Ends(NamedTuple):
    """Where an axis begins and ends, and the numbers at it."""

    low: float
    high: float
    ticks: list[str]


PERCENT = Ends(0, 100, ["0", "50", "100"])
SHARE = "share of the names, %,\nwith 95% interval"


@pytest.fixture
def run(answers: Answers) -> FinishedRun:
    """The hand-made answers as a finished run."""
    found = measure_answers(
        answers, [make_probe(name) for name in names(PROBES)], linker={"name": "hand", "version": "", "options": {}}
    )
    return finished_run("hand", found, answers, Path("runs/hand"))


def across(axes: Axes) -> Ends:
    return Ends(*axes.get_xlim(), [label.get_text() for label in axes.get_xticklabels()])


@pytest.mark.parametrize(
    ("figure", "labels"),
    [
        ("overshadowing", ["% of names"] * 3),
        ("outcomes", ["share of Top, %", "share of Shadow, %"]),
        ("stability", ["mean over the names, %", SHARE]),
    ],
)
def test_a_share_is_a_row_from_0_to_100(run: FinishedRun, figure: str, labels: list[str]) -> None:
    drawn = figures.plot(figure, [run]).axes
    assert [(axes.get_xlabel(), across(axes)) for axes in drawn] == [(label, PERCENT) for label in labels]
    # The rows have their names once, at the left, and no tick beside them.
    assert [label.get_text() for label in drawn[0].get_yticklabels()] == ["hand"]
    assert [label.get_text() for label in drawn[1].get_yticklabels() if label.get_visible()] == []
    assert drawn[0].yaxis.get_major_ticks()[0].tick1line.get_markersize() == 0


def test_a_wide_figure_has_more_numbers_at_its_axis(run: FinishedRun) -> None:
    for axes in figures.plot("overshadowing", [run], width="two").axes:
        assert across(axes) == Ends(0, 100, ["0", "25", "50", "75", "100"])


@pytest.mark.parametrize("figure", ["overshadowing", "outcomes", "buckets", "calibration", "commonness"])
def test_words_have_7_points_and_numbers_6_and_a_half(run: FinishedRun, figure: str) -> None:
    drawn = figures.plot(figure, [run])
    for axes in drawn.axes:
        assert {axes.title.get_fontsize(), axes.xaxis.label.get_fontsize(), axes.yaxis.label.get_fontsize()} == {7}
        numbers = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        assert {text.get_fontsize() for text in numbers} == {6.5}
        assert {text.get_fontsize() for legend in drawn.legends for text in legend.get_texts()} <= {6.5}
        # No frame: only the two axes are drawn.
        assert [name for name, spine in axes.spines.items() if spine.get_visible()] == ["left", "bottom"]


def test_files_have_the_resolution_and_the_fonts_that_publishers_want() -> None:
    import matplotlib as mpl

    with use_style():
        # Type 42 is TrueType; pixels: 300 per inch.
        assert (mpl.rcParams["pdf.fonttype"], mpl.rcParams["savefig.dpi"]) == (42, 300)
    assert STYLE["svg.fonttype"] == "path"
