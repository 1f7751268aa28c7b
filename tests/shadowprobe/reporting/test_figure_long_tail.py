"""The figure of how popular entities are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import assert_laid_out, points, tick_labels
from figure_runs import results

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


@pytest.mark.parametrize(("width", "columns"), [("one", 1), ("two", 2)])
def test_the_curve_begins_at_0_and_has_ticks_at_powers_of_ten(confused: Path, width: Any, columns: int) -> None:
    found = results(confused)
    curve = found["probes"]["amber"]["human"]["qa"]["long_tail"]
    curve[-1]["rank"] = 1000
    (confused / "results.json").write_text(json.dumps(found))
    drawn = figures.plot("long-tail", [confused], width=width)
    assert_laid_out(drawn, 3)
    (axes,) = drawn.axes
    # A twentieth more than the highest, which is 6.
    assert axes.get_ylim() == pytest.approx((0, 6.3))
    assert tick_labels(axes) == ["1", "10", "100", "1k"]
    assert axes.get_xlabel() == "rank of the entity by its popularity"
    assert axes.get_title() == "People"
    # A thin line leads from point to point, whichever group they are of.
    assert [y for _, y in points(axes.lines[0])] == [6, 5, 4, 3, 3, 2.5, 2]
    (legend,) = drawn.legends
    assert legend._ncols == columns  # type: ignore[attr-defined]
    assert {one.get_zorder() for one in axes.collections} == {2}


def test_collections_stand_below_one_another_on_a_narrow_page_and_share_their_axis(confused: Path) -> None:
    found = results(confused)
    amber = found["probes"]["amber"]
    small = [{**point, "popularity": 0.5} for point in amber["human"]["qa"]["long_tail"]]
    amber["nonhuman"] = {"qa": {**amber["human"]["qa"], "long_tail": small}}
    (confused / "results.json").write_text(json.dumps(found))
    people, things = figures.plot("long-tail", [confused]).axes
    assert [axes.get_title() for axes in (people, things)] == ["People", "Things"]
    assert people.get_ylim() == things.get_ylim()
    assert [bool(axes.get_xlabel()) for axes in (people, things)] == [False, True]
    wide = figures.plot("long-tail", [confused], width="two").axes
    assert [bool(axes.get_xlabel()) for axes in wide] == [True, True]
    # Popularities below 1 do not fill the panel: its end is a little more than 1.
    (axes,) = figures.plot("long-tail", [confused], collection="nonhuman").axes
    assert axes.get_ylim() == pytest.approx((0, 1.05))
