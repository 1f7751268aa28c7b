"""The figure of kinds that are overshadowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from drawn import tick_labels
from figure_runs import draw, results, run_of

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
