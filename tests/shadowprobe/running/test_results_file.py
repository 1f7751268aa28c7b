"""results.json as it is read back: which heads are accepted, and how a missing figure is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import InputError, UsageError
from shadowprobe.running.results_file import explain_wrong_values, read_results

SYSTEM = {"name": "mine", "options": {}}
DATA = {"name": "data", "digest": "0"}
HEAD: dict[str, Any] = {"schema": 1, "missing": 0, "notes": [], "probes": {"one": {"rows": [{"rate": 0.5}]}}}
# The least that the results of each kind have.
RESULTS: dict[str, dict[str, Any]] = {
    "score": {
        "linker": SYSTEM,
        "dataset": {**DATA, "version": "1", "spaces": 1, "snippets": 2, "limit": None},
        "settings": {},
        "identity": {},
    },
    "retrieve": {"retriever": SYSTEM, "collection": DATA, "queries": {}, "settings": {"depth": 1, "k": [1]}},
    "read": {
        "reader": SYSTEM,
        "collection": {**DATA, "limit": 1},
        "queries": {},
        "documents": {"source": "oracle"},
    },
    "answer": {"model": SYSTEM, "queries": {**DATA, "documents": None, "sets": 3, "limit": None}},
}


def write(run: Path, results: dict[str, Any]) -> Path:
    run.mkdir(exist_ok=True)
    (run / "results.json").write_text(json.dumps(results))
    return run


@pytest.mark.parametrize("command", RESULTS)
def test_a_missing_figure_names_the_command_that_measures_the_run_again(tmp_path: Path, command: str) -> None:
    run = write(tmp_path / "run", {**HEAD, **RESULTS[command]})
    results = read_results(run)
    assert results == {**HEAD, **RESULTS[command]}
    words = f"is missing; `shadowprobe {command} --predictions {run} --out {run}` measures it again"
    for lacking in (results, results["probes"]["one"], results["probes"]["one"]["rows"][0]):
        with pytest.raises(InputError) as missed:
            lacking["figure"]
        assert str(missed.value) == f"{run}/results.json: field `figure`: {words}"
    # What may be missing is asked for in another way.
    assert results.get("figure") is None


@pytest.mark.parametrize(("command", "key"), [(command, key) for command, own in RESULTS.items() for key in own])
def test_every_entry_of_a_head_is_needed(tmp_path: Path, command: str, key: str) -> None:
    results = {**HEAD, **RESULTS[command]}
    del results[key]
    with pytest.raises(InputError):
        read_results(write(tmp_path / "run", results))


def test_a_directory_without_results_is_not_finished_or_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none: no such run directory$"):
        read_results(tmp_path / "none")
    (tmp_path / "begun").mkdir()
    with pytest.raises(InputError, match=r"begun: has no results\.json; it is not finished"):
        read_results(tmp_path / "begun")


def test_results_that_are_nested_beyond_reason_are_refused(tmp_path: Path) -> None:
    run = write(tmp_path / "run", {**HEAD, **RESULTS["score"]})
    deep = '{"a":' * 900 + "1" + "}" * 900
    text = (run / "results.json").read_text().replace('"rate": 0.5', f'"rate": {deep}')
    (run / "results.json").write_text(text)
    with pytest.raises(InputError, match="nested too deeply"):
        read_results(run)


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyError("x"), TypeError("x"), ValueError("x"), IndexError()])
def test_a_wrong_value_is_one_line_with_all_files_and_the_command(error: Exception) -> None:
    with pytest.raises(UsageError) as refused, explain_wrong_values([Path("a"), Path("b")]):
        raise error
    assert str(refused.value).startswith("a/results.json, b/results.json: a value is missing or has a wrong type (")
    assert str(refused.value).endswith("`shadowprobe score --predictions RUN --out RUN` measures the run again")
    with pytest.raises(UsageError) as refused, explain_wrong_values([Path("a")], "x.json", "debias RUN"):
        raise error
    assert str(refused.value).startswith("a/x.json: ")
    assert str(refused.value).endswith("`shadowprobe debias RUN` measures the run again")


def test_an_error_of_another_kind_is_left_as_it_is() -> None:
    with pytest.raises(OSError, match="full"), explain_wrong_values([Path("a")]):
        raise OSError("full")
