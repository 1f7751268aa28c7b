"""Nothing that a linker, a service, a dataset or a name says is a command to the terminal."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shadowprobe
from shadowprobe import Dataset
from shadowprobe.base.jsonl import encode_json
from shadowprobe.cli.common import escape_controls, escape_json_controls

# Sets the title of the window, and turns the rest red.
EVIL = "\x1b]0;evil\x07\x9b31m"
PRINTING = {"print", "echo", "secho", "Console"}
LINKER = f"""
from shadowprobe import Linker

EVIL = {EVIL!r}

class Evil(Linker):
    name = "evil"
    def link(self, snippets):
        self.note("a note " + EVIL)
        first, *others = snippets
        return [self.fail(first, "an error " + EVIL), *(self.answer(s, "Avon " + EVIL) for s in others)]

class Broken(Linker):
    name = "broken"
    def link(self, snippets):
        raise ValueError(EVIL * 100_000 + "the end")
"""


@pytest.fixture
def evil(world: Dataset, tmp_path: Path) -> Path:
    """A dataset whose name holds commands, beside a linker that says some."""
    card = json.loads((world.path / "dataset.json").read_text())
    (world.path / "dataset.json").write_bytes(encode_json({**card, "name": f"world {EVIL}"}))
    (tmp_path / "evil.py").write_text(LINKER)
    return world.path


def run(*arguments: str | Path, cwd: Path) -> tuple[int, str]:
    """Runs a command as on a terminal with colours; returns all that it prints."""
    command = [sys.executable, "-m", "shadowprobe", *map(str, arguments)]
    environment = {"FORCE_COLOR": "1", "PATH": "", "PYTHONPATH": str(cwd)}
    ended = subprocess.run(command, capture_output=True, cwd=cwd, env=environment, check=False, timeout=120)
    return ended.returncode, (ended.stdout + ended.stderr).decode()


def find_commands(printed: str) -> set[str]:
    """The control characters that are neither ends of lines nor the colours and the progress bar of our console."""
    return set(re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", printed)))


def test_a_run_obeys_no_command_in_notes_errors_names_and_paths(evil: Path, tmp_path: Path) -> None:
    arguments = ["--linker", f"{tmp_path / 'evil.py'}:Evil", "--dataset", str(evil), "--out", f"run {EVIL[:-1]}"]
    code, printed = run("run", *arguments, cwd=tmp_path)
    assert (code, find_commands(printed)) == (1, set()), printed
    # The bell is dropped by the console itself.
    assert "a note \\x1b]0;evil\\x9b31m" in printed
    # Our own colours are still there.
    assert "\x1b[1m" in printed


def test_json_obeys_no_command_and_is_the_same_json(evil: Path, tmp_path: Path) -> None:
    arguments = ["--linker", f"{tmp_path / 'evil.py'}:Evil", "--dataset", str(evil), "--out", "run"]
    run("run", *arguments, cwd=tmp_path)
    code, printed = run("score", "--predictions", "run", "--json", cwd=tmp_path)
    text = printed[: printed.rindex("}") + 1]
    assert (code, find_commands(printed)) == (1, set())
    assert json.loads(text)["dataset"]["name"] == f"world {EVIL}"


def test_an_error_message_is_one_short_line_with_its_end(evil: Path, tmp_path: Path) -> None:
    code, printed = run("run", "--linker", f"{tmp_path / 'evil.py'}:Broken", "--dataset", evil, cwd=tmp_path)
    message = printed[printed.index("shadowprobe: linker `broken` failed on each of its first") :]
    assert (code, find_commands(printed), message.count("\n")) == (2, set(), 1)
    assert len(message) < 1500
    assert re.search(r"the end at evil\.py:[0-9]+\n$", message)


def test_every_module_prints_through_the_one_place_that_escapes() -> None:
    root = Path(shadowprobe.__file__).parent
    printing = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                owner = node.func.value if isinstance(node.func, ast.Attribute) else None
                is_ours = isinstance(owner, ast.Name) and owner.id in {"common", "console", "self"}
                if name in PRINTING and not is_ours and not isinstance(owner, ast.Call):
                    printing.add((path.relative_to(root).as_posix(), name))
    assert printing == {
        # The line of an error, by the one place, and our own version.
        ("cli/__init__.py", "echo"),
        # The one place, and those who use it beside it.
        ("cli/common.py", "print"),
        ("cli/common.py", "echo"),
        # A table as text, which is printed by the one place.
        ("reporting/tables/to_terminal.py", "Console"),
    }


def test_a_control_character_becomes_its_code_and_the_rest_stays() -> None:
    assert escape_controls("a\x1b[31mb\x9bc\x07\x7f\r\n\tü") == "a\\x1b[31mb\\x9bc\\x07\\x7f\\x0d\n\tü"


def test_json_stays_the_same_json() -> None:
    value = {"na\x9bme": "x\x7fy\u0085z"}
    text = escape_json_controls(json.dumps(value, ensure_ascii=False))
    assert text == '{"na\\u009bme": "x\\u007fy\\u0085z"}'
    assert json.loads(text) == value
