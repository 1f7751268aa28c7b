"""Which figures there are, which runs they take, in which order, and where they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drawn import words
from figure_runs import draw, over, run_of
from refusals import complaint, outcome

from shadowprobe import UsageError
from shadowprobe.reporting import figures
from shadowprobe.running.finished import read_runs

OF_RETRIEVERS = [name for name, kind in figures.FIGURES.items() if kind == "retriever"]


def test_systems_are_sorted_by_the_order(readers: list[Path]) -> None:
    axes = figures.plot("overshadowing", readers, order=["right"]).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["right", "hand"]
    with pytest.raises(
        UsageError, match=r"--order rihgt: no such system \(did you mean `right`\?\); there are hand, right"
    ):
        figures.plot("overshadowing", readers, order=["rihgt"])


def test_runs_that_were_read_can_be_plotted_too(hand: Path) -> None:

    drawn = figures.plot("overshadowing", read_runs([hand], names=["read"]))
    assert "read" in words(drawn)


def test_two_runs_of_one_name_are_refused(readers: list[Path]) -> None:
    with pytest.raises(UsageError, match="two runs are called 'same': give each a name of its own"):
        figures.plot("overshadowing", readers, names=["same", "same"])


def test_a_width_that_is_none_is_refused(hand: Path) -> None:
    with pytest.raises(UsageError, match="width 'three': choose from one, two"):
        figures.plot("overshadowing", [hand], width="three")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("figure", "runs", "how", "words"),
    [
        ("overshadwing", [run_of()], {}, "no figure `overshadwing` (did you mean `overshadowing`?): choose from overs"),
        ("overshadowing", [], {}, "give at least one run directory"),
        ("overshadowing", [run_of(), "runs/b"], {}, "give run directories or runs that were read, not both;"),
        ("overshadowing", [run_of()], {"dataset": "mini"}, "give run directories or runs that were read, not both;"),
        ("overshadowing", [run_of()], {"names": ["x"]}, "give run directories or runs that were read, not both;"),
        ("questions", ["runs/b"], {"dataset": "mini"}, "--dataset: goes with figures of linkers; the figure `questio"),
        ("passages", [run_of()], {}, "the figure `passages` takes directories that `shadowprobe train-encoder` makes,"),
        ("head-tail", [run_of()], {}, "runs/a is a run of a linker; the figure `head-tail` takes runs of retrievers,"),
        (
            "buckets",
            [run_of()],
            {"collection": "human"},
            "--collection: goes with head-tail, confusion, retrieval-gap,",
        ),
        ("overshadowing", [run_of(), run_of()], {}, "two runs are called 'a': give each a name of its own"),
    ],
)
def test_what_cannot_be_drawn_is_refused(figure: str, runs: Any, how: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        draw(figure, runs, **how)
    assert str(refused.value).startswith(words)


def test_systems_without_a_place_in_the_order_keep_theirs_behind_the_others() -> None:
    runs = [run_of(label, overshadowing=over(0.5)) for label in "abcd"]
    axes = draw("overshadowing", runs, order=["c", "a"]).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["c", "a", "b", "d"]


def test_a_file_is_refused_by_its_ending_and_where_it_is_there_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "old.svg").write_text("mine")
    for name, problem in (
        ("f.gif", "f.gif: a figure is written to a file that ends in .png, .svg or .pdf"),
        ("folder.png", "folder.png is a directory; give a file"),
        ("old.svg", "old.svg is there already; --force writes over it"),
    ):
        with pytest.raises(UsageError) as refused:
            # There is no such run, which is not even looked for.
            figures.write("overshadowing", [tmp_path / "nowhere"], tmp_path / name)
        assert str(refused.value) == f"{tmp_path}/{problem}"
    figures.write("overshadowing", [run_of(overshadowing=over(0.5))], tmp_path / "old.svg", force=True)
    assert "<svg" in (tmp_path / "old.svg").read_text()
    # The folder of the file is made, and capital letters are an ending too.
    figures.write("overshadowing", [run_of(overshadowing=over(0.5))], tmp_path / "deep" / "f.PDF")
    assert (tmp_path / "deep" / "f.PDF").read_bytes().startswith(b"%PDF")


def test_runs_of_another_kind_are_refused_with_the_command_that_makes_the_right_one(
    both: list[Path],
    models: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert outcome(capsys, "run", "--linker", "nil", "--limit", "1", "--out", "runs/nil")[0] == 0
    for figure in OF_RETRIEVERS:
        message = complaint(capsys, "plot", figure, "runs/nil")
        assert message == (
            f"runs/nil is a run of a linker; the figure `{figure}` takes runs of retrievers, which"
            " `shadowprobe retrieve` makes"
        )
    assert complaint(capsys, "plot", "overshadowing", "runs/confused") == (
        "runs/confused is a run of a retriever; the figure `overshadowing` takes runs of linkers, which"
        " `shadowprobe run` makes"
    )
    assert complaint(capsys, "plot", "answer-categories", "runs/confused").endswith(
        "takes runs of language models, which `shadowprobe answer` makes"
    )
    assert complaint(capsys, "table", "3", "runs/talker") == (
        "runs/talker is a run of a language model; table 3 takes runs of linkers. Tables of a language model: summary,"
        " answers"
    )


def test_the_command_draws_what_python_draws(
    both: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("--name", "a", "--name", "b", "--collection", "human", "--out", "a.svg")
    assert outcome(capsys, "plot", "confusion", "runs/confused", "runs/reader", *arguments)[0] == 0
    figures.save(figures.plot("confusion", both, names=["a", "b"], collection="human"), "b.svg")
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()
    looks = ("--order", "b", "--colour", "a=teal", "--serif", "--force")
    assert outcome(capsys, "plot", "confusion", "runs/confused", "runs/reader", *arguments, *looks)[0] == 0
    settings: Any = {"order": ["b"], "colours": {"a": "teal"}, "serif": True}
    drawn = figures.plot("confusion", both, names=["a", "b"], collection="human", **settings)
    figures.save(drawn, "c.svg")
    assert Path("a.svg").read_bytes() == Path("c.svg").read_bytes() != Path("b.svg").read_bytes()
    message = complaint(capsys, "plot", "confusion", "runs/confused", "--colour", "teal")
    assert message == "--colour teal: give SYSTEM=COLOUR, such as bm25=teal"
    message = complaint(capsys, "plot", "confusion", "runs/confused", "--dataset", "mini")
    assert message.startswith("--dataset: goes with figures of linkers")
