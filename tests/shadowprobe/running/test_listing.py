"""The runs of a folder as they are listed, finished or not, from files that are written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import UsageError
from shadowprobe.base.files import lock_file
from shadowprobe.running.listing import find_run_directories, list_runs

CARDS: dict[str, dict[str, Any]] = {
    "linker": {"dataset": {"name": "mini", "digest": "d1"}},
    "retriever": {"collection": {"name": "namesakes", "digest": "d2"}},
    "reader": {"collection": {"name": "namesakes", "digest": "d2"}},
    "model": {"queries": {"name": "sets", "digest": "d3"}},
}
FILES = {
    "linker": "predictions.jsonl",
    "retriever": "rankings.jsonl",
    "reader": "answers.jsonl",
    "model": "answers.jsonl",
}


def system(name: str = "mine", **options: Any) -> dict[str, Any]:
    return {"name": name, "version": "", "options": options}


def write_card(path: Path, kind: str = "linker", **more: Any) -> Path:
    """Writes the card of a run that has begun."""
    path.mkdir(parents=True)
    card = {kind: system(), **CARDS[kind], "shadowprobe": "1", "started": "2024-05-06T07:08:09+00:00"}
    (path / "run.json").write_text(json.dumps({**card, **more}))
    return path


def write_results(path: Path, missing: int = 0, limit: int | None = None, **options: Any) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    dataset = {"name": "mini", "digest": "d1", "version": "1", "spaces": 4, "snippets": 21, "limit": limit}
    row = {"f1": 0.5, "f1_ci95": [0.25, 0.75]}
    results = {
        "schema": 1,
        "missing": missing,
        "notes": [],
        "probes": {"overshadowing": {"verdict": "reads"}},
        "linker": system(**options),
        "dataset": dataset,
        "settings": {},
        "identity": {},
        "subsets": {"all": row},
    }
    (path / "results.json").write_text(json.dumps(results))
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", FILES)
def test_a_run_that_is_not_finished_says_how_many_answers_there_are(kind: str) -> None:
    path = write_card(Path("runs/a"), kind, total=7, seconds=2.5)
    (run,) = list_runs(Path("runs"))
    (name,) = (value["name"] for value in CARDS[kind].values())
    assert (run.path, run.kind, run.system, run.data) == ("runs/a", kind, "mine", name)
    assert (run.state, run.done, run.total, run.seconds) == ("unfinished", 0, 7, 2.5)
    (path / FILES[kind]).write_text("{}\n{}\n{}\n")
    assert list_runs(Path("runs"))[0].done == 3
    with lock_file(path, FILES[kind]):
        assert list_runs(Path("runs"))[0].state == "running"


def test_a_finished_run_has_its_figures_and_what_is_missing() -> None:
    path = write_card(Path("runs/a"), total=21, finished="2024-05-06T08:00:00+00:00", seconds=3.5, name="by hand")
    write_results(path, missing=2, limit=4, weight=1)
    (run,) = list_runs(Path("runs"))
    assert (run.state, run.missing, run.done, run.total, run.limit) == ("finished", 2, 19, 21, 4)
    assert (run.started, run.finished, run.seconds) == ("2024-05-06T07:08:09+00:00", "2024-05-06T08:00:00+00:00", 3.5)
    # What the user called it.
    assert (run.system, run.name, run.digest, run.options) == ("by hand", "by hand", "d1", {"weight": 1})
    assert ([one.key for one in run.headlines], run.verdict) == (["all_f1"], "reads")
    with lock_file(path, "predictions.jsonl"):
        # It is continued, or measured again.
        assert list_runs(Path("runs"))[0].state == "running"


def test_results_without_a_card_are_a_run_too() -> None:
    write_results(Path("runs/a"), missing=2)
    (run,) = list_runs(Path("runs"))
    # Nobody knows how many there were, and none is less than none.
    assert (run.state, run.done, run.total, run.missing) == ("finished", 0, 0, 2)


def test_runs_of_one_system_have_the_options_in_which_they_differ_behind_its_name() -> None:
    write_results(Path("runs/a"), weight=0)
    write_results(Path("runs/b"), weight=1)
    write_results(Path("runs/c"), weight=1)
    write_card(Path("runs/d"), "retriever")
    assert [run.system for run in list_runs(Path("runs"))] == [
        "mine (weight=0)",
        "mine (weight=1)",
        "mine (weight=1)",
        # A retriever of the same name is another system.
        "mine",
    ]


def test_what_a_probe_needed_besides_is_part_of_its_run() -> None:
    write_results(write_card(Path("runs/a")))
    write_card(Path("runs/a/extra/context_length"))
    write_card(Path("runs/deep/er/b"))
    assert sorted(map(str, find_run_directories(Path("runs")))) == ["runs/a", "runs/deep/er/b"]
    # A folder may be called so too.
    write_card(Path("extra"))
    assert list(find_run_directories(Path("extra"))) == [Path("extra")]


def test_a_run_that_cannot_be_read_says_why_and_hides_no_other() -> None:
    Path("runs/bad").mkdir(parents=True)
    Path("runs/bad/run.json").write_text("{")
    write_results(Path("runs/good"))
    bad, good = list_runs(Path("runs"))
    assert (bad.path, bad.kind, bad.system, bad.state) == ("runs/bad", "", "bad", "broken")
    assert bad.problem.startswith("runs/bad/run.json")
    assert good.state == "finished"


def test_a_folder_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="nowhere: no such directory"):
        list_runs(Path("nowhere"))
