"""The figures and the report on a correction and on doubt, against numbers worked out by hand.

tests/support/scored_world.py lists the answers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from drawn import assert_readable, points, words
from finished_runs import finished_run
from scored_world import scored_predictions, store_run
from world import hand_predictions

from shadowprobe import Dataset, InputError, UsageError
from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import Width
from shadowprobe.reporting.html.page import page
from shadowprobe.reporting.tables.named_tables import make_tables
from shadowprobe.running.correction import correct_run
from shadowprobe.running.finished import FinishedRun, read_runs


@pytest.fixture
def run(world: Dataset, tmp_path: Path) -> FinishedRun:
    """The hand-made answers with scores, which nobody has corrected."""
    (run,) = read_runs([store_run(tmp_path, world, scored_predictions())])
    return run


@pytest.fixture
def corrected(run: FinishedRun) -> FinishedRun:
    """The same run with its correction by a weight of 0.6."""
    correct_run(run, weight=0.6)
    return run


def test_the_figure_has_the_rates_at_every_weight_and_the_chosen_one(corrected: FinishedRun) -> None:
    drawn = figures.plot("debias", [corrected])
    (axes,) = drawn.axes
    top, shadow, both, chosen = axes.lines
    assert dict(points(top)) == {step / 20: 75.0 if step <= 5 else 50.0 for step in range(21)}
    assert dict(points(shadow))[0.3] == 75.0
    assert [dict(points(both))[weight] for weight in (0.5, 0.55)] == [25.0, 50.0]
    assert {x for x, _ in points(chosen)} == {0.6}
    # A band for each of the three lines, which lies around it.
    assert len(axes.collections) == 3
    heights = np.asarray(axes.collections[0].get_paths()[0].vertices)[:, 1].tolist()
    assert min(heights) < 50
    assert max(heights) > 75
    assert "hand\nweight 0.6: not worth it" in words(drawn)


def test_without_a_correction_the_figure_says_how_to_get_one(run: FinishedRun) -> None:
    with pytest.raises(UsageError, match=f"`shadowprobe debias {run.path}` writes it"):
        figures.plot("debias", [run])


def test_of_corrected_answers_the_figure_asks_for_the_run_that_they_were_made_from(run: FinishedRun) -> None:
    (again,) = read_runs([correct_run(run, weight=0.6).out])
    with pytest.raises(UsageError, match="it is corrected already; give the run that it was made from"):
        figures.plot("debias", [again])


def test_a_run_without_a_correction_keeps_its_panel(corrected: FinishedRun, world: Dataset, tmp_path: Path) -> None:
    runs = read_runs([corrected.path, store_run(tmp_path, world, hand_predictions(), "bare")])
    drawn = figures.plot("debias", runs)
    assert len(drawn.axes) == 2
    assert "not known" in words(drawn)


def test_risk_against_coverage_has_a_line_for_every_signal(run: FinishedRun) -> None:
    drawn = figures.plot("risk-coverage", [run])
    (axes,) = drawn.axes
    assert len(axes.lines) == 5
    contrast = dict(points(axes.lines[0]))
    # A quarter of the first four answers by contrast is wrong, and three of all eight.
    assert (contrast[0.5], contrast[1.0]) == (25.0, 37.5)
    assert "hand\nAUROC 1.00 (contrast)" in words(drawn)


@pytest.mark.parametrize("width", ["one", "two"])
@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("figure", ["debias", "risk-coverage"])
def test_no_word_is_cut_off_or_lies_on_another(corrected: FinishedRun, figure: str, count: int, width: Width) -> None:
    labels = ("GENRE with the candidates of the dataset (beam=10)", "plain", "_under", "costs $5", "another")[:count]
    runs = [finished_run(label, corrected.results, corrected.answers, corrected.path) for label in labels]
    assert_readable(figures.plot(figure, runs, width=width))


def test_the_report_says_what_a_correction_would_change(corrected: FinishedRun) -> None:
    made = page([corrected])
    section = made.partition('<section id="correction"')[2].partition("</section>")[0]
    assert "What a correction would change</h2>" in section
    assert re.search(r"Shadow: right</td><td>4</td><td>50.0</td><td>100.0</td>", section)
    assert "break-even share 33.3%" in section
    assert 'id="figure-debias"' in section


def test_the_report_says_which_answers_to_doubt(run: FinishedRun) -> None:
    made = page([run])
    section = made.partition('<section id="doubt"')[2].partition("</section>")[0]
    assert "Which answers to doubt</h2>" in section
    # Eight answers, two suspects, both AUROCs 1, 88.75% kept; 3 of 8 wrong.
    assert re.search(
        r">contrast</td><td>8</td><td>2</td><td>1.000</td><td>1.000</td><td>88.\d</td><td>37.5</td>", section
    )
    assert 'id="figure-risk-coverage"' in section
    assert 'id="correction"' not in made


def test_a_run_whose_probe_was_left_out_has_no_section(run: FinishedRun) -> None:
    del run.results["probes"]["suspicion"]
    assert 'id="doubt"' not in page([run])


def test_doubt_is_a_table_in_every_format(run: FinishedRun) -> None:
    (table,) = make_tables("suspicion", [run])
    (contrast, *_) = table.records()
    assert (contrast["signal"], contrast["auroc"], contrast["suspect"]) == ("contrast", 1.0, 2)


def test_a_run_without_doubt_says_why_there_is_no_table(run: FinishedRun) -> None:
    run.results["probes"]["suspicion"] = {"not_measured": "the dataset has no neutral contexts"}
    with pytest.raises(UsageError, match="has no table suspicion: the dataset has no neutral contexts"):
        make_tables("suspicion", [run])


@pytest.mark.parametrize(
    ("part", "value", "field"),
    [
        ("curve", 5, "curve"),
        ("curve", [{"weight": "half"}], "curve"),
        ("measures", {"top": {}}, "measures"),
        ("break_even", {}, "break_even"),
        ("gained", "two", "gained"),
        ("notes", "none", "notes"),
    ],
)
def test_a_damaged_correction_is_reported_with_its_file(
    corrected: FinishedRun, part: str, value: object, field: str
) -> None:
    path = corrected.path / "debias.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**found, part: value}), encoding="utf-8")
    with pytest.raises(InputError, match=rf"debias.json: field `{field}"):
        page([corrected])
