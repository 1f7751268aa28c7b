"""The figures of language models, against numbers worked out by hand; measured_runs.py has the answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import bars, heights, tick_labels
from figure_runs import rows

from shadowprobe import UsageError
from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import Width


@pytest.mark.parametrize("width", ["one", "two"])
def test_answer_positions_are_shares_of_the_documents_at_each_place(models: list[Path], width: Width) -> None:
    given, with_entity = figures.plot("answer-positions", models[:1], width=width).axes
    # Of Avon the first document; of Berg both, the first without its entity; of Como all three.
    assert heights(given) == [100, pytest.approx(200 / 3), 100]
    assert heights(with_entity) == [pytest.approx(200 / 3), pytest.approx(200 / 3), 100]
    assert tick_labels(with_entity) == ["1\nn=3", "2\nn=3", "3\nn=1"]
    assert with_entity.get_xlabel() == "position of the document"


def test_positions_are_refused_where_no_run_knows_the_order(models: list[Path]) -> None:
    with pytest.raises(UsageError, match="no run knows in which order its model saw the documents"):
        figures.plot("answer-positions", models[1:])


def test_answer_categories_are_shares_that_add_up(models: list[Path]) -> None:
    drawn = figures.plot("answer-categories", models)
    (axes,) = drawn.axes
    third = pytest.approx(100 / 3)
    # Complete, partial, ambiguous, merged, no answer; each for both models.
    talker, mute = bars(axes)[::2], bars(axes)[1::2]
    assert [length for _, length in talker] == [third, third, 0, third, 0]
    assert [length for _, length in mute] == [0, 0, 0, 0, pytest.approx(100)]
    assert [left for left, _ in talker] == [
        0,
        third,
        pytest.approx(200 / 3),
        pytest.approx(200 / 3),
        pytest.approx(100),
    ]
    legend = [text.get_text().partition(":")[0] for text in drawn.legends[0].get_texts()]
    assert legend == ["complete", "partial", "ambiguous", "merged", "no answer"]
    assert (axes.get_xlabel(), rows(axes)) == ("share of the 3 questions, %", ["talker", "mute"])
