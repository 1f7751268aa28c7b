"""What a report says first: a row for each system, and which system is better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_reading import Read
from world import NAMES, hand_predictions, linked, top

from shadowprobe import Dataset, Prediction, run, score
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting.html.differences import write_differences
from shadowprobe.reporting.html.page import page
from shadowprobe.running.comparison import Comparison, Pair
from shadowprobe.running.finished import FinishedRun, read_runs

RIVERS = [
    *(linked(f"{subset}{name}", top(name)) for name in NAMES for subset in ("t", "s")),
    linked("tail1", "Ourika"),
]


@pytest.fixture
def two(world: Dataset, tmp_path: Path) -> list[FinishedRun]:
    """The answers worked out by hand, and a system that answers with the river whatever the context."""
    answers: dict[str, list[Prediction]] = {"hand": hand_predictions(), "rivers": RIVERS}
    for name, predictions in answers.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "predictions.jsonl").write_bytes(encode_lines(predictions))
        score(tmp_path / name, world, name=name, out=tmp_path / name)
    return read_runs([tmp_path / name for name in answers], str(world.path))


def test_every_system_has_a_row_with_its_verdict_and_two_bars(two: list[FinishedRun]) -> None:
    written = Read(page(two))
    heading, hand, rivers = written.tables["table-systems"]
    assert heading == ["system", "verdict", "both right", "prior bias (less is better)"]
    # Of four names Berg is right in both contexts, and Avon gets its prior in both: 1 of 4, with Wilson's interval.
    assert hand == ["hand", "undecided", "25.0% (4.6 to 69.9)", "25.0% (4.6 to 69.9)"]
    # No name is right in both, and nothing is known of a prior.
    assert rivers == ["rivers", "unknown", "0.0% (0.0 to 49.0)", "–"]
    bars = [attributes["width"] for tag, attributes in written.elements if tag == "rect"]
    assert bars == ["100", "25.0", "100", "25.0", "100", "0.0"]


def test_where_no_difference_is_found_the_sentence_says_so(two: list[FinishedRun]) -> None:
    # Two names differ on Shadow, on Top and in being overshadowed, always to one side: p is 2/4. One is right in both.
    assert (
        "<li>Between <bdi>hand</bdi> and <bdi>rivers</bdi> no difference was found on Shadow (p = 0.500), on Top"
        " (p = 0.500), on overshadowed (p = 0.500) and on both right (p = 1.000).</li>"
    ) in page(two)


def pair_of(measure: str, difference: float, win: int, loss: int, p: float, unit: str = "snippets") -> Pair:
    """Twenty items that two systems differ on."""
    return Pair(
        measure=measure,
        unit=unit,
        first="a",
        second="<b>",
        n=20,
        both=0,
        first_only=win,
        second_only=loss,
        neither=20 - win - loss,
        first_rate=0.5,
        second_rate=0.5 - difference,
        difference=difference,
        difference_ci95=(difference - 0.2, difference + 0.2),
        drawn=unit,
        drawn_n=20,
        win=win,
        tie=20 - win - loss,
        loss=loss,
        mcnemar_p=p,
        holm_p=p,
        detectable=None,
    )


def results_of(**probes: Any) -> dict[str, Any]:
    """Results with scores on two subsets."""
    row = {"f1": 0.5, "f1_ci95": [0.4, 0.6]}
    return {"linker": {"name": "a"}, "subsets": {"shadow": row, "top": row}, "probes": probes}


def test_a_difference_is_a_sentence_with_points_interval_and_p() -> None:
    over = {"overshadowed": 0.5, "overshadowed_ci95": [0.4, 0.6]}
    runs = [FinishedRun(Path(label), label, results_of(overshadowing=over)) for label in ("a", "<b>")]
    pairs = [
        pair_of("top", -0.5, 0, 10, 0.002),
        pair_of("shadow", 0.1, 6, 4, 0.754),
        # A fault: the first system has more of it, and so the second one wins.
        pair_of("overshadowed", 0.4, 0, 8, 0.0008, "names"),
        # No headline figure.
        pair_of("tail", 0.5, 10, 0, 0.002),
    ]
    comparison = Comparison({}, [{"label": "a"}, {"label": "<b>"}], {}, pairs, [])
    second = "<bdi>&lt;b&gt;</bdi>"
    assert write_differences(runs, comparison).partition("<p")[0] == (
        f'<ul class="differences"><li>{second} is better than <bdi>a</bdi> on Top by 50.0 points (30.0 to 70.0,'
        " p = 0.002) and with fewer names overshadowed by 40.0 points (20.0 to 60.0, p &lt; 0.001).</li>"
        f"<li>Between <bdi>a</bdi> and {second} no difference was found on Shadow (p = 0.754).</li></ul>"
    )


def test_systems_are_next_to_each_other_on_each_subset(two: list[FinishedRun]) -> None:
    rows = [row[:2] for row in Read(page(two)).tables["table-scores"][1:]]
    assert rows == [[label, subset] for subset in ("Shadow", "Top", "Tail") for label in ("hand", "rivers")]


def test_tables_but_the_first_are_folded(two: list[FinishedRun]) -> None:
    content = page(two)
    before, _, folded = content.partition('<details id="more">')
    assert 'id="table-scores"' in before
    for name in ("priors", "names", "pairs"):
        assert f'id="table-{name}"' in folded.partition("</details>")[0]


def test_dates_durations_and_digests_are_under_what_was_run(world: Dataset, tmp_path: Path) -> None:
    run("prior", str(world.path), out=tmp_path / "run")
    content = page(read_runs([tmp_path / "run"]))
    before, _, what = content.partition("<summary>What was run</summary>")
    assert world.digest[:12] not in before
    assert f"digest {world.digest}</bdi>" in what
    assert "<bdi>began 20" in what
