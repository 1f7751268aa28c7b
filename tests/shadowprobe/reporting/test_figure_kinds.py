"""The figure of kinds that are overshadowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import tick_labels
from figure_runs import draw, results, run_of

from shadowprobe import UsageError
from shadowprobe.reporting import figures
from shadowprobe.running.api import make_linking_job


def test_the_squares_of_kinds_have_their_rates_and_numbers(tmp_path: Path) -> None:
    run = tmp_path / "prior"
    make_linking_job("prior", "mini", out=run).run()
    pairs = results(run)["probes"]["kinds"]["pairs"]
    axes = figures.plot("kinds", [run]).axes[0]
    names = [label.get_text() for label in axes.get_xticklabels()]
    numbers = {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in axes.texts}
    assert numbers == {(names.index(pair["shadow"]), names.index(pair["top"])): str(pair["n"]) for pair in pairs}
    rates = axes.images[0].get_array()
    assert isinstance(rates, np.ma.MaskedArray)
    # A linker that repeats its prior overshadows every name.
    assert {float(rate) for rate in rates.compressed()} == {1.0}
    assert rates.count() == len(pairs)


def test_the_numbers_of_dark_squares_are_white() -> None:
    pairs = [
        {"top": "city", "shadow": "person", "overshadowed": 0.55, "n": 3},
        {"top": "person", "shadow": "city", "overshadowed": 0.56, "n": 12},
    ]
    drawn = draw("kinds", [run_of(kinds={"pairs": pairs})])
    axes, bar = drawn.axes
    assert [(text.get_position(), text.get_text(), text.get_color()) for text in axes.texts] == [
        ((0, 1), "3", "black"),
        ((1, 0), "12", "white"),
    ]
    assert tick_labels(axes) == [text.get_text() for text in axes.get_yticklabels()] == ["city", "person"]
    rates: Any = axes.images[0].get_array()
    assert rates.filled(-1).tolist() == [[-1, 0.56], [0.55, -1]]
    # The darkness is that of a share from 0 to 1, whichever rates there are.
    assert axes.images[0].get_clim() == (0, 1)
    assert [text.get_text() for text in bar.get_yticklabels()] == ["0", "50", "100"]


def pairs_of(*names: str) -> list[dict[str, Any]]:
    return [{"top": name, "shadow": name, "overshadowed": 0.5, "n": 3} for name in names]


def test_a_run_none_of_whose_names_has_kinds_is_refused() -> None:
    runs = [run_of("a", kinds={"pairs": pairs_of("city")}), run_of("b", kinds={"pairs": []})]
    with pytest.raises(UsageError, match=r"`b` .*: no name has a kind for its Top and for its Shadow entity"):
        draw("kinds", runs)


@pytest.mark.parametrize(("width", "inches"), [("one", 0.21), ("two", 0.35)])
def test_squares_are_as_large_as_the_page_allows_and_no_larger(width: Any, inches: float) -> None:
    # Ten kinds on a page of 3.4 inches, of which 1.3 to 1.8 are for words; on one of 7 they would be half an inch.
    runs = [run_of(label, kinds={"pairs": pairs_of(*"abcdefghij")}) for label in "ab"]
    drawn = draw("kinds", runs, width=width)
    drawn.draw_without_rendering()
    for axes in drawn.axes[:2]:
        assert axes.get_window_extent().height / drawn.dpi / 10 == pytest.approx(inches, abs=0.035)
    first, second = (axes.get_window_extent() for axes in drawn.axes[:2])
    # Between two panels is room for a title.
    assert 0.1 < (first.y0 - second.y1) / drawn.dpi < 0.5
    assert [axes.get_xlabel() for axes in drawn.axes[:2]] == ["", "kind of the Top entity"]
    assert drawn.axes[0].get_ylabel() == "kind of the Shadow entity"


@pytest.mark.parametrize("names", [["city"], ["concept", "organisation", *"abcdefgh"]], ids=["one kind", "ten kinds"])
@pytest.mark.parametrize("systems", [1, 2, 3])
def test_the_names_of_the_axes_are_inside_the_figure(names: list[str], systems: int) -> None:
    runs = [run_of(f"system {number}", kinds={"pairs": pairs_of(*names)}) for number in range(systems)]
    drawn = draw("kinds", runs)
    drawn.draw_without_rendering()
    for axes in drawn.axes:
        box = axes.yaxis.label.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.y1 <= drawn.bbox.y1


def test_a_pair_that_is_never_overshadowed_is_darker_than_one_that_does_not_occur() -> None:
    pairs = [{**pairs_of("city")[0], "overshadowed": 0.0}, {**pairs_of("person")[0], "overshadowed": 1.0}]
    drawn = draw("kinds", [run_of(kinds={"pairs": pairs})])
    axes, bar = drawn.axes
    (image,) = axes.images
    never, always = (image.cmap(image.norm(rate)) for rate in (0.0, 1.0))
    assert 0.9 < never[0] < 1
    assert always[:3] == pytest.approx((0, 0, 0), abs=0.01)
    # The bar is shorter than the panel, and the names below it stand upright.
    drawn.draw_without_rendering()
    assert bar.get_window_extent().height < 0.7 * axes.get_window_extent().height
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {90}
