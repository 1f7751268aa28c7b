"""What the help of every command shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from refusals import outcome
from world import write_world

from shadowprobe.cli import COMMANDS, _import_command


def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, (*path, name))


EVERY_COMMAND = [path for name, command in COMMANDS.items() for path in leaves(_import_command(name, command), (name,))]


@pytest.mark.parametrize("path", [(), *EVERY_COMMAND], ids=" ".join)
def test_help_names_no_type_of_python_and_fits_80_columns(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = outcome(capsys, *path, "--help")
    assert code == 0
    assert re.findall(r"<(?!TAB>)[A-Za-z][^>=]*>", out) == []
    assert not re.search(r"\b(INTEGER|TEXT|PATH|FLOAT) ", out.partition("Options:")[0])
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["run", "score", "compare", "retrieve"])
def test_the_seed_of_the_bootstrap_says_so_and_its_earlier_name_still_works(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = outcome(capsys, command, "--help")[1]
    assert "--bootstrap-seed N" in shown
    assert "--seed" not in shown


def test_both_names_of_the_seed_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    for option in ("--bootstrap-seed", "--seed"):
        code, out, _ = outcome(
            capsys, "run", "-l", "prior", "-d", "world", "--out", option.strip("-"), option, "11", "--json"
        )
        assert code == 0
        assert json.loads(out)["settings"]["bootstrap_seed"] == 11


def test_a_line_of_help_has_the_short_name_and_not_the_type(capsys: pytest.CaptureFixture[str]) -> None:
    shown = outcome(capsys, "run", "--help")[1]
    # An option, a number, a number with a point, a flag and an option with a word of its own.
    for words in ("-l, --linker NAME|FILE.py:CLASS", "--limit N", "--gpus F", "--force ", "--config FILE"):
        assert words in shown
    shown = outcome(capsys, "build", "--help")[1]
    for words in ("--delay NUMBER", "--created-before YYYY-MM-DD", "--max-bytes N", "--category CATEGORY", "[STAGE]"):
        assert words in shown


def test_a_command_is_imported_once() -> None:
    from shadowprobe.cli import LazyCommands

    group = LazyCommands(name="shadowprobe")
    assert group.get_command(None, "runs") is group.get_command(None, "runs")
    assert group.get_command(None, "nothing") is None
