"""What every command does where nothing is said: other defaults give other numbers, so they change only on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from shadowprobe.cli import app

ROUNDS = {"--rounds": 1000, "--bootstrap-seed": 7}
# Table 3 of the paper is of the dataset that is built in; the human study of the paper has 91 questions.
DEFAULTS: dict[str, dict[str, Any]] = {
    "run": {"--executor": "local", **ROUNDS},
    "figures": {},
    "init": {"file": Path("study.toml")},
    "runs": {"folder": Path("runs")},
    "view": {"folder": Path("runs"), "--port": 8100},
    "score": ROUNDS,
    "compare": ROUNDS,
    "table": {},
    "debias": {},
    "report": {},
    "check": {"--dataset": "mini"},
    "linkers": {},
    "probes": {},
    "plot": {"--width": "one"},
    "datasets": {},
    "import": {},
    "export": {},
    "build": {
        "--references": 20,
        "--snippets": 10,
        "--seed": 7,
        "--concurrency": 32,
        "--delay": 0.5,
        "--timeout": 30.0,
        "--max-bytes": 4_000_000,
        "--executor": "local",
    },
    "describe": {"--dataset": "mini"},
    "retrieve": {"--retriever": "bm25", "--collection": "namesakes", "--depth": 100, **ROUNDS},
    "retrievers": {},
    "read": {"--reader": "first-sentence", "--documents": "oracle", "--k": 20, **ROUNDS},
    "readers": {},
    "answer": {
        "--queries": "builtin",
        "--temperature": "0",
        "--seed": "0",
        "--max-tokens": "1024",
        "--concurrency": 8,
        "--timeout": 120.0,
        "--retries": 4,
        "--rounds": 1000,
    },
    "sets ambigdocs": {"--dataset": "mini"},
    "sets amber": {"--language": "en", "--month": "2019-10", "--subclasses": True},
    "sets entity-questions": {"--language": "en", "--month": "2019-10", "--per-relation": 1000, "--seed": 7},
    "serve": {"--dataset": "mini", "--host": "127.0.0.1", "--port": 8099, "--max-body": 16 * 2**20},
    "gerbil run": {"--poll": 5.0, "--timeout": 7200.0},
    "gerbil show": {},
    "annotate sample": {"--dataset": "mini", "--n": 91, "--seed": 7},
    "annotate score": {},
}


def list_commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word in list(command.commands):
        yield from list_commands(command.get_command(None, word), f"{name} {word}".strip())


COMMANDS = dict(list_commands(get_command(app)))


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_command_has_these_defaults_and_every_other_option_is_off(name: str) -> None:
    # An empty text and None say the same: nothing is given.
    defaults = {option.opts[0]: option.default for option in COMMANDS[name].params if option.default}
    assert defaults == DEFAULTS[name]


def test_no_command_is_left_out() -> None:
    assert set(DEFAULTS) == set(COMMANDS)
