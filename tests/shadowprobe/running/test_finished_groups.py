"""Which finished runs stand side by side, what their groups and labels are, and which directories are left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from world import write_world

from shadowprobe import InputError, UsageError
from shadowprobe.running.finished import FinishedRun, check_comparable, group_by_data, make_labels, read_runs
from shadowprobe.running.kinds import DATA_KEYS

HELD_OUT = {"names": 10, "seed": 3}


def run_of(label: str, kind: Any = "linker", digest: str = "0123456789abcdef", **more: Any) -> FinishedRun:
    """A run with these settings, or with these values beside the name and the digest of its data."""
    settings = {key: more.pop(key) for key in ("gerbil_nil", "text_only") if key in more}
    queries = more.pop("queries", {})
    system = {"name": "mine", "version": "", "options": {}}
    data = {"name": "mini", "digest": digest, "limit": None, **more}
    results = {kind: system, "settings": settings, "probes": {}, "queries": queries, DATA_KEYS[kind]: data}
    return FinishedRun(Path("runs", label), label, results)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            run_of("b", digest="fedcba9876543210"),
            "the runs are over different datasets: runs/a over `mini` with the digest 0123456789ab..., runs/b over"
            " `mini` with fedcba987654...; only runs over the same data can be compared",
        ),
        (
            run_of("b", limit=40),
            "the runs are over different parts of `mini`: runs/a over all of it, runs/b over the first 40 names; run"
            " both with the same --limit",
        ),
        (
            run_of("b", gerbil_nil=True),
            "runs/a is counted without --gerbil-nil and the other run with it: `shadowprobe score --predictions RUN`"
            " with or without --gerbil-nil counts one of them again",
        ),
        (run_of("a"), "two runs are called 'a': give each a --name of its own"),
    ],
)
def test_linkers_over_other_data_or_counted_otherwise_do_not_stand_side_by_side(other: FinishedRun, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_comparable([run_of("a"), other])
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("kind", "first", "other", "words"),
    [
        (
            "retriever",
            {"text_only": True},
            {},
            "runs/b is counted without --text-only and the other run with it: `shadowprobe retrieve --predictions RUN`"
            " with or without --text-only counts one of them again",
        ),
        (
            "retriever",
            {"queries": {"amber": "1", "mine": "2"}},
            {"queries": {"amber": "1", "mine": "3"}},
            "runs/b has other queries for `mine` than runs/a",
        ),
        (
            "reader",
            {"queries": {"amber": "1"}},
            {"queries": {"amber": "2"}},
            "runs/b has other queries for `amber` than runs/a",
        ),
        (
            "reader",
            {"limit": 5},
            {},
            "the runs are over different parts of `mini`: runs/a over the first 5 sets, runs/b over all of it; run both"
            " with the same --limit",
        ),
        (
            "retriever",
            {"limit": 5},
            {"limit": 6},
            "the runs are over different parts of `mini`: runs/a over the first 5 queries, runs/b over the first 6"
            " queries; run both with the same --limit",
        ),
    ],
)
def test_retrievers_and_readers_need_the_same_queries_and_the_same_counting(
    kind: str, first: dict[str, Any], other: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        check_comparable([run_of("a", kind, **first), run_of("b", kind, **other)])
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("more", "part", "option"),
    [
        ({"documents": 5}, "the first 5 documents of a set", "--documents"),
        ({"held_out": HELD_OUT}, "all but 10 names that are held out (seed 3)", "--held-out"),
    ],
)
def test_models_need_the_same_documents_and_the_same_names_held_out(
    more: dict[str, Any], part: str, option: str
) -> None:
    with pytest.raises(UsageError) as refused:
        check_comparable([run_of("a", "model"), run_of("b", "model", **more)])
    assert str(refused.value) == (
        f"the runs are over different parts of `mini`: runs/a over all of it, runs/b over {part}; run both with the"
        f" same {option}"
    )


def test_runs_that_differ_in_what_does_not_count_stand_side_by_side() -> None:
    check_comparable([run_of("a"), run_of("b", text_only=True), run_of("c")])
    # Each was asked a probe that the other was not.
    check_comparable([run_of("a", "retriever", queries={"x": "1"}), run_of("b", "retriever", queries={"y": "2"})])


def test_runs_are_grouped_by_what_can_be_compared() -> None:
    runs = [
        run_of("a"),
        run_of("b", limit=40),
        run_of("c", digest="fedcba9876543210"),
        run_of("d", gerbil_nil=True),
        run_of("e"),
        run_of("f", "retriever", text_only=True, limit=3),
        run_of("g", "model", documents=5),
    ]
    groups = {name: [run.label for run in group] for name, group in group_by_data(runs).items()}
    assert groups == {
        "mini": ["a", "e"],
        "mini, the first 40 names": ["b"],
        "mini (fedcba98)": ["c"],
        "mini, --gerbil-nil": ["d"],
        "mini, the first 3 queries, --text-only": ["f"],
        "mini, the first 5 documents of a set": ["g"],
    }


def test_a_name_of_a_run_is_its_label_and_equal_labels_are_numbered_where_they_must_differ() -> None:
    systems = [{"name": "blend", "options": {"weight": weight}} for weight in (0, 1, 1)]
    assert make_labels(systems, names=["", "mine", ""]) == ["blend (weight=0)", "mine", "blend (weight=1)"]
    assert make_labels(systems) == ["blend (weight=0)", "blend (weight=1)", "blend (weight=1) #2"]
    assert make_labels(systems, is_unique=False) == ["blend (weight=0)", "blend (weight=1)", "blend (weight=1)"]


def write_run(path: Path, kind: Any = "linker") -> Path:
    """Writes results with what every file of that kind has."""
    path.mkdir(parents=True)
    run = run_of("a", kind, version="1", spaces=4, snippets=21)
    settings = {"depth": 10, "k": [1]}
    head = {"schema": 1, "missing": 0, "notes": [], "identity": {}, "settings": settings}
    (path / "results.json").write_text(json.dumps({**run.results, **head}))
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_of_several_directories_those_that_are_no_finished_runs_are_left_out_with_a_warning() -> None:
    write_run(Path("runs/good"))
    Path("runs/begun").mkdir()
    Path("runs/begun/run.json").write_text("{}")
    Path("runs/empty").mkdir()
    Path("runs/file").write_text("")
    paths = [Path("runs", name) for name in ("good", "begun", "empty", "file", "gone")]
    warnings: list[str] = []
    assert [run.path.name for run in read_runs(paths, warn=warnings.append)] == ["good"]
    assert warnings == [
        "runs/begun is not finished (the command that began it goes on) and is left out",
        "runs/empty is no run and is left out",
        "runs/file is no directory and is left out",
        "runs/gone does not exist and is left out",
    ]
    with pytest.raises(UsageError, match="none of the 2 directories is a finished run"):
        read_runs(paths[3:], warn=warnings.append)
    # One directory alone is not left out: there would be nothing to show.
    with pytest.raises(InputError, match=r"runs/empty: has no results\.json"):
        read_runs(paths[2:3], warn=warnings.append)


def test_a_dataset_that_is_named_must_be_that_of_every_linker(tmp_path: Path) -> None:
    dataset = write_world(tmp_path / "world")
    path = write_run(tmp_path / "run")
    with pytest.raises(InputError) as refused:
        read_runs([path], str(dataset.path))
    assert str(refused.value) == (
        f"{path / 'results.json'}: field `dataset`: is over `mini` (0123456789ab...), and {dataset.path} is `world`"
        f" ({dataset.digest[:12]}...); --dataset names the one that it is over"
    )
    # A retriever has none.
    (other,) = read_runs([write_run(tmp_path / "other", "retriever")], str(dataset.path))
    assert other.label == "mine"


@pytest.mark.usefixtures("here")
def test_there_is_a_name_for_each_run_or_for_none() -> None:
    paths = [write_run(Path("runs/a")), write_run(Path("runs/b"))]
    assert [run.label for run in read_runs(paths, names=["x", "y"])] == ["x", "y"]
    assert [run.label for run in read_runs(paths)] == ["mine", "mine #2"]
    with pytest.raises(UsageError, match="1 names for 2 runs: give one for each, or none"):
        read_runs(paths, names=["x"])
    assert read_runs([]) == []


@pytest.mark.usefixtures("here")
def test_runs_of_several_kinds_are_read_together_only_where_they_may_be_mixed() -> None:
    paths = [write_run(Path("runs/a")), write_run(Path("runs/b"), "retriever")]
    with pytest.raises(UsageError) as refused:
        read_runs(paths)
    assert str(refused.value) == ("runs/a is a run of a linker and runs/b one of a retriever: give runs of one kind")
    # They are not over the same data, and so need no number to be told apart.
    assert [(run.kind, run.label) for run in read_runs(paths, is_mixed=True)] == [
        ("linker", "mine"),
        ("retriever", "mine"),
    ]
