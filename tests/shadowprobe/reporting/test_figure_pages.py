"""Every figure of linkers is readable and fits its page, with short and with long names, in both fonts."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import assert_compact, assert_readable
from finished_runs import called, finished_run
from world import hand_predictions

import shadowprobe
from shadowprobe import Dataset, Settings
from shadowprobe.measure.answers import Answers
from shadowprobe.plugins import PROBES, make_probe, names
from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import Width
from shadowprobe.running.correction import correct_run
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.linking import measure_answers

LONG = (
    "GENRE with the candidates of the dataset (beam=10)",
    "llm (url=http://localhost:8000/v1 model=example/an-instructed-model-of-8B)",
    "_begins with an underscore",
    "costs $5 or $6",
    "plain",
)
OF_LINKERS = [name for name, kind in figures.FIGURES.items() if kind == "linker"]
# The height of a figure in one column, in centimetres.
ACL_COLUMN = 9.0
CM = 2.54


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run of a real linker with what every figure needs: candidates, kinds, answers to variants, a correction."""
    out = tmp_path_factory.mktemp("complete") / "run"
    settings = Settings(also=("context_length", "masked_mention"))
    shadowprobe.run("tfidf", "mini", limit=25, out=out, settings=settings)
    (run,) = read_runs([out])
    correct_run(run)
    return run


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run over entities whose commonness is known."""
    out = tmp_path_factory.mktemp("places") / "run"
    shadowprobe.run("tfidf", "places", limit=25, out=out)
    (run,) = read_runs([out])
    return run


@pytest.fixture
def run(world: Dataset) -> FinishedRun:
    """The hand-made answers as a finished run."""
    answers = Answers(world).fill(hand_predictions())
    probes = [make_probe(name) for name in names(PROBES)]
    found = measure_answers(answers, probes, linker={"name": "hand", "version": "", "options": {}})
    return finished_run("hand", found, answers, Path("runs/hand"))


@pytest.mark.parametrize(("width", "inches"), [("one", 3.4), ("two", 7.0)])
@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("figure", OF_LINKERS)
def test_no_word_is_cut_off_or_lies_on_another_and_no_panel_is_too_low_or_too_high(
    run: FinishedRun, complete: FinishedRun, figure: str, count: int, width: Width, inches: float
) -> None:
    # The hand-made answers have neither kinds nor candidates nor answers to variants.
    shown = complete if figure in {"debias", "kinds", "context-length", "masked-mention"} else run
    for serif in (False, True):
        drawn = figures.plot(figure, called(shown, LONG[:count]), width=width, serif=serif)
        assert drawn.get_figwidth() == inches
        assert_readable(drawn)
        assert_compact(drawn, spare=0 if count == 1 else 0.6)


@pytest.mark.parametrize("figure", OF_LINKERS)
def test_a_narrow_figure_of_four_systems_fits_a_column_of_a_paper(
    complete: FinishedRun, places: FinishedRun, figure: str
) -> None:
    shown = places if figure in {"commonness", "buckets", "popularity-gap"} else complete
    # The squares of a system are a panel: a figure of one fits.
    labels = ["tfidf", "bm25", "prior", "blend"][: 1 if figure == "kinds" else 4]
    drawn = figures.plot(figure, called(shown, labels))
    assert_readable(drawn)
    assert drawn.get_figheight() * CM <= ACL_COLUMN
