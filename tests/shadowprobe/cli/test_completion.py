"""What the shell offers for names and directories."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import plugins
from shadowprobe.cli import completion


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs in the usual folder, one beside it, one that is hidden, and a file."""
    monkeypatch.chdir(tmp_path)
    for run in ("runs/first", "runs/second", "other/deep/third", "runs/.hidden/inner"):
        Path(run).mkdir(parents=True)
        Path(run, "run.json").write_text("{}")
    Path("runs/notes.txt").write_text("")
    Path("datasets/mine").mkdir(parents=True)
    Path("datasets/mine/dataset.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", ["datasets/", "other/", "runs/", "runs/first", "runs/second"]),
        ("runs", ["runs/", "runs/first", "runs/second"]),
        ("runs/", ["runs/first", "runs/second"]),
        ("runs/s", ["runs/second"]),
        # On the way to a run, the next key shows what is inside.
        ("other/", ["other/deep/"]),
        ("other/deep/", ["other/deep/third"]),
        ("./oth", ["./other/"]),
        ("./runs/f", ["./runs/first"]),
        ("nothing", []),
        ("runs/notes.txt/", []),
    ],
)
def test_runs_are_offered_where_the_text_points_to_and_in_their_usual_folder(typed: str, offered: list[str]) -> None:
    assert completion.complete_runs(typed) == offered


def test_datasets_are_offered_by_name_and_as_directories() -> None:
    assert completion.complete_datasets("mi")[0] == "mini"
    assert completion.complete_datasets("datasets/m") == ["datasets/mine"]
    assert "runs/first" not in completion.complete_datasets("runs/")


def test_probes_keep_the_plus_before_them() -> None:
    assert completion.complete_probes("overs") == ["overshadowing"]
    assert completion.complete_probes("+overs") == ["+overshadowing"]
    assert completion.complete_retrieval_probes("amb") == [
        name for name in plugins.names(plugins.RETRIEVAL_PROBES) if name.startswith("amb")
    ]
    both = completion.complete_all_probes("")
    assert both == [*plugins.names(plugins.PROBES), *plugins.names(plugins.RETRIEVAL_PROBES)]


def test_systems_figures_and_formats_are_offered_by_their_beginning() -> None:
    assert completion.complete_linkers("blen") == ["blend"]
    assert completion.complete_retrievers("tf") == ["tfidf"]
    assert completion.complete_readers("first") == ["first-sentence"]
    assert completion.complete_figures("head") == ["head-tail"]
    assert completion.complete_formats("aida") == ["aida-conll"]
