"""Finished runs as they are read back: what they are called, and results that are not what they were."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from refusals import complaint, outcome
from world import hand_predictions, write_world

from shadowprobe import Dataset, InputError, score
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting.html import page
from shadowprobe.reporting.html.parts import compose_page
from shadowprobe.running.finished import make_labels, read_runs

COMMANDS = (
    ("plot", "overshadowing", "run"),
    ("plot", "outcomes", "run"),
    ("table", "3", "run"),
    ("table", "4", "run"),
    ("compare", "run", "run"),
    ("report", "run", "--out", "r.html"),
)


def system(name: str, **options: Any) -> dict[str, Any]:
    """A system as results.json describes it."""
    return {"name": name, "version": "", "options": options}


def test_runs_of_one_name_are_numbered() -> None:
    assert make_labels([system("tfidf")] * 4) == ["tfidf", "tfidf #2", "tfidf #3", "tfidf #4"]


def test_what_tells_runs_apart_stands_behind_the_name() -> None:
    found = make_labels([system("blend", weight=0), system("blend", weight=1), system("prior", weight=1)])
    assert found == ["blend (weight=0)", "blend (weight=1)", "prior"]


def test_runs_over_different_datasets_say_over_which() -> None:
    found = make_labels([system("tfidf"), system("tfidf"), system("prior")], ["mini", "places", "mini"])
    assert found == ["tfidf on mini", "tfidf on places", "prior"]
    both = make_labels([system("blend", weight=0), system("blend", weight=1)], ["mini", "places"])
    assert both == ["blend (weight=0) on mini", "blend (weight=1) on places"]


def test_the_label_of_a_run_that_is_read_names_its_dataset_beside_another(tmp_path: Path) -> None:
    places = []
    for name in ("one", "two"):
        dataset = write_world(tmp_path / name)
        card = json.loads((dataset.path / "dataset.json").read_text())
        (dataset.path / "dataset.json").write_text(json.dumps({**card, "name": name}))
        (tmp_path / f"{name}.jsonl").write_bytes(encode_lines(hand_predictions()))
        score(tmp_path / f"{name}.jsonl", dataset.path, name="hand", out=tmp_path / "runs" / name)
        places.append(tmp_path / "runs" / name)
        run_card = {"linker": system("hand"), "dataset": {"name": name, "location": str(dataset.path)}}
        (places[-1] / "run.json").write_text(json.dumps({**run_card, "shadowprobe": "1"}))
    assert [run.label for run in read_runs(places)] == ["hand on one", "hand on two"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A directory with a finished run."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    assert outcome(capsys, "run", "--linker", "prior", "--dataset", "world", "--out", "run")[0] == 0
    return Path("run")


def edited(run: Path, edit: Callable[[Any], object]) -> None:
    """The results after somebody has been at them."""
    results = json.loads((run / "results.json").read_text())
    edit(results)
    (run / "results.json").write_text(json.dumps(results))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda found: found.pop("linker"), "run/results.json: names no system"),
        (lambda found: found.pop("dataset"), "run/results.json: field `dataset`: Object missing required field"),
        (lambda found: found.update(dataset=None), "run/results.json: field `dataset`: Expected `object`, got `null`"),
        (lambda found: found["dataset"].update(limit="x"), "run/results.json: field `dataset.limit`: Expected"),
        (lambda found: found.pop("probes"), "run/results.json: field `probes`: Object missing required field"),
        (lambda found: found.update(schema=2), "run/results.json: field `schema`: is 2, and this shadowprobe reads 1"),
    ],
)
def test_results_whose_head_is_wrong_are_refused_in_one_line(
    run: Path,
    capsys: pytest.CaptureFixture[str],
    edit: Callable[[Any], object],
    words: str,
    command: tuple[str, ...],
) -> None:
    edited(run, edit)
    assert complaint(capsys, *command).startswith(words)


@pytest.mark.parametrize(
    ("command", "edit", "field"),
    [
        (("table", "3", "run"), lambda found: found["subsets"]["top"].pop("f1"), "f1"),
        (("table", "4", "run"), lambda found: found["probes"]["prior"]["top"].pop("nil"), "nil"),
        (("plot", "overshadowing", "run"), lambda f: f["probes"]["overshadowing"].pop("prior_bias"), "prior_bias"),
        (("plot", "stability", "run"), lambda f: f["probes"]["prior"].pop("stability"), "stability"),
        (("report", "run", "--out", "r.html"), lambda found: found["subsets"]["top"].pop("f1"), "f1"),
    ],
)
def test_a_number_that_the_results_lack_is_named_with_what_to_do(
    run: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], edit: Callable[[Any], object], field: str
) -> None:
    edited(run, edit)
    words = "is missing; `shadowprobe score --predictions run --out run` measures it again"
    assert complaint(capsys, *command) == f"run/results.json: field `{field}`: {words}"
    assert outcome(capsys, "score", "--predictions", "run", "--out", "run")[0] == 0
    assert outcome(capsys, *command)[0] == 0


def test_results_that_are_whole_are_those_that_were_written(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    written = score(tmp_path / "hand.jsonl", world, out=tmp_path / "run")
    (run,) = read_runs([tmp_path / "run"], str(world.path))
    assert run.results == written
    with pytest.raises(InputError, match="field `no such thing`: is missing"):
        run.results["probes"]["no such thing"]


def test_a_table_reads_nothing_but_the_results(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("predictions.jsonl", "run.json"):
        (run / name).unlink()
    Path("world").rename("elsewhere")
    assert outcome(capsys, "table", "3", "run")[0] == 0
    # The pairs of a comparison are of the answers.
    assert complaint(capsys, "compare", "run", "run", "--name", "a", "--name", "b", "--dataset", "elsewhere")


def test_a_dataset_that_is_named_must_be_that_of_the_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "table", "3", "run", "--dataset", "mini").startswith("run/results.json: field `dataset`")


def test_runs_over_one_dataset_share_it(run: Path) -> None:
    first, second = read_runs([run, run])
    assert first.dataset is second.dataset


def test_the_figures_of_a_report_do_not_share_memory_with_the_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_world(tmp_path / "world")
    places = []
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_bytes(encode_lines(hand_predictions()))
        score(tmp_path / f"{name}.jsonl", dataset.path, name=name, out=tmp_path / name)
        places.append(tmp_path / name)
    runs = read_runs(places, str(dataset.path))
    assert runs[0].dataset is runs[1].dataset
    held: list[weakref.ref[Any]] = [
        weakref.ref(runs[0].dataset),
        weakref.ref(runs[0].answers),
        weakref.ref(runs[1].answers),
    ]
    alive: list[object] = []

    def look_and_compose(*given: Any, **named: Any) -> Iterator[str]:
        alive.extend(one() for one in held)
        return compose_page(*given, **named)

    monkeypatch.setattr(page, "compose_page", look_and_compose)
    assert page.write_report(runs, tmp_path / "report.html").exists()
    assert alive == [None] * 3
    # Whoever asks again gets them again.
    assert len(runs[0].answers) == len(runs[1].dataset.index)
