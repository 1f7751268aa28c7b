"""What all commands share: options, what they say at the end, and progress where there is a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shadowprobe import Dataset, UsageError
from shadowprobe.cli import common


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets rich take stderr for a terminal of 100 columns."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """What is on stderr, without commands to the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)


def test_half_a_character_is_refused_and_its_neighbours_are_not() -> None:
    for character in ("\ud800", "\udc80", "\udfff"):
        with pytest.raises(UsageError, match="is not UTF-8"):
            common.parse_options([f"a={character}"])
    assert common.parse_options(["a=\ud7ff", "b=\ue000"]) == {"a": "\ud7ff", "b": "\ue000"}


def test_results_are_json_for_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    common.print_results({"schema": 1, "notes": ["ü"]}, json=True)
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "notes": ["ü"]}


@pytest.mark.usefixtures("terminal")
def test_numbers_and_paths_in_a_text_get_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    common.stdout().print("12 runs in /tmp")
    assert capsys.readouterr().out == "12 runs in /tmp\n"


def test_options_are_pairs() -> None:
    assert common.parse_options(None) == {}
    assert common.parse_options(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["a"], "-o a: an option is given as key=value"),
        (["=1"], "-o =1: an option is given as key=value"),
        (["a=1", "a=2"], "-o a is given twice"),
        (["a=\ud800"], "is not UTF-8"),
    ],
)
def test_what_is_no_pair_is_refused(pairs: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        common.parse_options(pairs)


def test_whoever_asks_says_who_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(common.CONTACT, raising=False)
    assert common.user_agent(" me@example.org ").endswith("(+me@example.org)")
    assert common.user_agent(None, needed=False).endswith("(+no contact)")
    with pytest.raises(UsageError, match="--contact: say who is asking"):
        common.user_agent(None)
    for bad in ("mé@example.org", "me\r\nX: y"):
        with pytest.raises(UsageError, match="nothing but ASCII"):
            common.user_agent(bad)
    monkeypatch.setenv(common.CONTACT, "you@example.org")
    assert common.user_agent(None).endswith("(+you@example.org)")
    assert common.user_agent("me@example.org").endswith("(+me@example.org)")


def test_subsets_come_in_the_order_of_the_dataset(world: Dataset) -> None:
    assert common.subsets(["tail", "top"], world) == ["top", "tail"]
    assert common.subsets(None, world) == []
    with pytest.raises(UsageError, match="--subset all: `world` has top, shadow, tail, neutral"):
        common.subsets(["top", "all"], world)


def finish(*, missing: int = 0, status: str = "", **counts: Any) -> Any:
    """A job that has ended."""
    outcome = {"resumed": 0, "answered": 0, "failed": 0, "repeated": 0, "seconds": 1.25, **counts}
    return SimpleNamespace(
        outcome=SimpleNamespace(**outcome), status=status, out=Path("runs/a"), results={"missing": missing}
    )


@pytest.mark.parametrize(
    ("finished", "said", "code"),
    [
        (finish(), "Written to runs/a/\n", 0),
        (finish(resumed=3), "3 taken from an earlier run. Written to runs/a/\n", 0),
        (finish(resumed=3, answered=2), "3 taken from an earlier run; 2 answered in 1.2 s. Written to runs/a/\n", 0),
        (
            finish(answered=9, repeated=4, status="2 retries"),
            "9 answered in 1.2 s; 4 of them repeated a text and were not asked again; 2 retries. Written to runs/a/\n",
            0,
        ),
        (
            finish(failed=1, missing=1),
            "0 answered in 1.2 s. Written to runs/a/\n"
            "shadowprobe: 1 snippets failed and count as not answered: runs/a/failures.jsonl lists them, and the same"
            " command tries them again\n",
            1,
        ),
    ],
)
def test_the_end_of_a_run_is_told(finished: Any, said: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert common.print_outcome(finished, "snippets") == code
    assert capsys.readouterr() == ("", said)


def test_without_a_terminal_there_is_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with common.status_line("reading") as update:
        update("writing")
    with common.working("asking", 2) as advance:
        assert advance is not None
        advance(1)
    with common.bars() as move:
        assert move is None
    with common._Downloads() as downloads:
        downloads.progress("file", 1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
def test_a_bar_counts_what_is_done_and_shows_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    with common.working("asking", 40, lambda: "7 retries") as advance:
        assert advance is not None
        advance(8)
        advance(16)
    assert re.search(r"asking +.* 24/40 .*7 retries", shown(capsys))


@pytest.mark.usefixtures("terminal")
def test_each_name_has_one_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with common.bars() as move:
        assert move is not None
        move("pages", 1, 2)
        move("snippets", 3, None)
        move("pages", 2, 2)
    last = shown(capsys).splitlines()[-2:]
    assert [line.split()[0] for line in last] == ["pages", "snippets"]
    assert "2/2" in last[0]
    assert "3/?" in last[1]


@pytest.mark.usefixtures("terminal")
def test_downloads_and_the_status_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with common._Downloads() as downloads:
        downloads.progress("release.zip", 1, 4)
        downloads.progress("release.zip", 3, 4)
    assert re.search(r"release\.zip .* 3/4 ", shown(capsys))
    with common.status_line("reading"):
        pass
    assert "reading" in shown(capsys)


def test_a_warning_goes_to_stderr_and_json_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    common._Downloads().warn("no digest")
    common.print_json({"a": 1})
    assert capsys.readouterr() == ('{\n  "a": 1\n}\n', "shadowprobe: warning: no digest\n")


def test_text_is_as_wide_as_its_tables_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert common.stdout().width == 110
    monkeypatch.setenv("COLUMNS", "77")
    assert common.stdout().width == 77


def test_a_line_of_text_is_not_broken_and_markup_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 60
    common.print_lines(long, "[bold]a[/bold]")
    assert capsys.readouterr().out == f"{long}\n[bold]a[/bold]\n"
