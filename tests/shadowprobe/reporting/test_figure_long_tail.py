"""The figure of how popular entities are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shadowprobe.reporting import figures


def test_the_long_tail_has_a_point_for_each_entity_of_head_and_tail(confused: Path) -> None:
    drawn = figures.plot("long-tail", [confused])
    (axes,) = drawn.axes
    head, tail = (np.asarray(points.get_offsets()).tolist() for points in axes.collections)
    # Popularities 6, 5, 4, 3, 3, 2.5 and 2, of which 5, 2.5 and 2 are of tails.
    assert head == [[1, 6.0], [3, 4.0], [4, 3.0], [5, 3.0]]
    assert tail == [[2, 5.0], [6, 2.5], [7, 2.0]]
    assert axes.get_ylim()[1] > 6
    assert axes.get_xscale() == "log"
