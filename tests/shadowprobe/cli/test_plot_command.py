"""`shadowprobe plot` as a user meets it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from refusals import complaint, outcome
from world import hand_predictions, write_world

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting import figures


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A working directory with the runs `prior-world` and `replay-file=hand.jsonl-world` over the hand-made dataset."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_world(tmp_path / "world")
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    for linker in (("prior",), ("replay", "-o", "file=hand.jsonl")):
        code, _, err = outcome(capsys, "run", "--dataset", "world", "--linker", *linker)
        assert code == 0, err
    return tmp_path


def test_without_arguments_it_lists_the_figures(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "plot")
    assert code == 0
    names = [line.split()[0] for line in out.splitlines() if line[1:2].isalpha()]
    assert names == ["figure", *figures.FIGURES]
    assert "(Fig. 4)" in " ".join(out.split())


def test_the_list_as_json(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, "plot", "--json")
    listed = json.loads(out)
    assert [one["name"] for one in listed] == list(figures.FIGURES)
    assert all(one["about"] for one in listed)


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_file_has_the_format_of_its_name(
    runs: Path, capsys: pytest.CaptureFixture[str], kind: str, begins: bytes
) -> None:
    code, out, err = outcome(capsys, "plot", "overshadowing", "runs/prior-world", "--out", f"made/now.{kind}")
    assert (code, out, err) == (0, "", f"Written to made/now.{kind}\n")
    assert Path(f"made/now.{kind}").read_bytes().startswith(begins)
    # Nothing is left of the file under which it was written.
    assert [path.name for path in Path("made").iterdir()] == [f"now.{kind}"]


NEED_MORE = {"kinds", "debias", "context-length", "masked-mention"}


def test_every_figure_of_two_systems_can_be_drawn(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The little dataset does not know the kinds of its entities, the hand-made answers have no candidates, and the
    # last two need new predictions.
    drawn = [name for name, kind in figures.FIGURES.items() if kind == "linker" and name not in NEED_MORE]
    for figure in drawn:
        code, _, err = outcome(capsys, "plot", figure, "runs/prior-world", "runs/replay-file=hand.jsonl-world")
        assert (code, err) == (0, f"Written to {figure}.png\n")


def test_the_command_and_python_give_the_same_bytes(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("--name", "first", "--name", "second")
    outcome(
        capsys, "plot", "outcomes", "runs/prior-world", "runs/replay-file=hand.jsonl-world", "--out", "a.svg", *names
    )
    drawn = figures.plot(
        "outcomes", ["runs/prior-world", "runs/replay-file=hand.jsonl-world"], names=["first", "second"]
    )
    figures.save(drawn, "b.svg")
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()


def test_a_file_is_written_over_only_by_force(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.svg").write_text("mine")
    arguments = ("plot", "stability", "runs/prior-world", "--out", "mine.svg")
    assert complaint(capsys, *arguments) == "mine.svg is there already; --force writes over it"
    assert outcome(capsys, *arguments, "--force")[0] == 0
    assert Path("mine.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("overshadow", "runs/prior-world"), "no figure `overshadow` (did you mean `overshadowing`?): choose from"),
        (("overshadowing",), "give at least one run directory"),
        (("overshadowing", "runs/none"), "runs/none: no such run directory"),
        (("overshadowing", "world"), "world: has no results.json; it is not finished"),
        (
            ("overshadowing", "runs/prior-world", "--out", "f.gif"),
            "f.gif: a figure is written to a file that ends in .png, .svg or .pdf",
        ),
        (("overshadowing", "runs/prior-world", "--out", ""), "--out: the name"),
        (("overshadowing", "runs/prior-world", "--width", "three"), "width 'three': choose from one, two"),
        (("overshadowing", "runs/prior-world", "--name", "a", "--name", "b"), "2 names for 1 runs"),
        (("overshadowing", "runs/prior-world", "--dataset", "mini"), "runs/prior-world/results.json: field `dataset`"),
        (("overshadowing", "runs/prior-world", "--out", "hand.jsonl/f.svg"), "hand.jsonl is a file; give a directory"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(
    runs: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert complaint(capsys, "plot", *arguments).startswith(words)


def test_a_figure_that_the_data_cannot_give_says_why(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, "run", "--linker", "nil", "--dataset", "world")
    told = complaint(capsys, "plot", "outcomes", "runs/nil-world")
    assert told == ("no such figure of `nil` (runs/nil-world): the linker names no entity in any neutral context")


def test_runs_that_are_not_finished_are_left_out_with_a_warning(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = Path("runs/begun")
    shutil.copytree("runs/prior-world", begun)
    (begun / "results.json").unlink()
    code, _, err = outcome(capsys, "plot", "overshadowing", "runs/prior-world", "runs/begun")
    assert (code, err.splitlines()) == (
        0,
        [
            "shadowprobe: warning: runs/begun is not finished (the command that began it goes on) and is left out",
            "Written to overshadowing.png",
        ],
    )
    # One that is named alone is asked for.
    said = complaint(capsys, "plot", "outcomes", "runs/begun")
    assert said.startswith("runs/begun: has no results.json; it is not finished")
