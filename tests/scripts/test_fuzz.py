"""The script that damages inputs: it finds a defect, and there is none in the product."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import fuzz
import pytest
from fuzzing.mutations import mutate, mutate_text
from fuzzing.sandbox import Call, run_batch, run_command

from shadowprobe import formats
from shadowprobe.errors import InputError

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits and memory are those of Linux")


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """A command in an empty directory."""
    for name in ("input", "log"):
        (tmp_path / name).mkdir()
    return Call(("import", "zelda", "nothing"), tmp_path / "input", tmp_path / "log")


def plant(monkeypatch: pytest.MonkeyPatch, defect: str) -> None:
    """Puts a defect into the reader of foreign datasets."""
    code = compile(defect, "defect", "exec")
    monkeypatch.setattr(formats, "read", lambda *_: exec(code, {}))


def test_an_error_that_is_explained_is_no_finding(call: Call) -> None:
    outcome = run_command(call)
    assert (outcome.code, outcome.findings) == (2, ())
    assert outcome.output.startswith("shadowprobe: nothing: no such file")
    assert run_batch([call]) == [2]


@pytest.mark.parametrize(
    ("defect", "finding"),
    [
        ("{}['key']", "traceback: KeyError: 'key'"),
        ("import sys; sys.exit(3)", "ended with 3"),
        ("bytes(2 * 10**9)", "needs more than 1000 MB"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "took more than 20 s"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "died of SIGSEGV"),
        ("print('\\x1b[31m')", "the control character '\\x1b' in its output"),
        ("import sys; sys.stderr.write('a' * 2000); sys.exit(2)", "an error message of 2000 characters"),
        ("open('../outside', 'w')", "outside of its directory"),
        ("import os; os.mkdir('../elsewhere')", "outside of its directory"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "socket.connect"),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
        (
            "import sys; sys.stderr.write('a.py:1: RuntimeWarning: overflow\\n'); sys.exit(0)",
            "a warning of Python: overflow",
        ),
    ],
)
def test_every_kind_of_defect_is_found(call: Call, monkeypatch: pytest.MonkeyPatch, defect: str, finding: str) -> None:
    plant(monkeypatch, defect)
    found = run_command(call).findings
    assert any(finding in one for one in found), found
    assert run_batch([call]) == [None]


def test_a_defect_in_a_reader_is_found_kept_and_repeated_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def read_carelessly(*arguments: Any) -> Any:
        try:
            return read(*arguments)
        except InputError as error:
            raise KeyError("a key that a damaged file lacks") from error

    read = formats.read
    monkeypatch.setattr(formats, "read", read_carelessly)
    # Only what this defect concerns; the first case of the other kit would be the fiftieth.
    monkeypatch.setattr("fuzzing.inputs.MAKERS", {"light": ("_foreign",)})
    out = tmp_path / "kept"
    assert fuzz.main(["--count", "19", "--seed", "5", "--out", str(out), "--jobs", "1"]) == 1
    printed = capfd.readouterr().out
    repeat = re.search(r"scripts/fuzz (--seed 5 --case (\d+))", printed)
    assert repeat is not None
    assert "traceback: KeyError: 'a key that a damaged file lacks'" in printed
    kept = out / f"seed-5-case-{repeat[2]}"
    assert (kept / "finding.txt").read_text().startswith("shadowprobe 'import' ")
    assert any((kept / "input").iterdir())
    assert fuzz.main([*repeat[1].split(), "--out", str(out)]) == 1
    assert f"case {repeat[2]}: import " in capfd.readouterr().out


def test_the_same_seed_makes_the_same_changes() -> None:
    content = b'{"id": "a", "items": [1, 2, {"text": "b"}]}\n' * 5
    made = [[mutate(content, Random(number)) for number in range(50)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 40
    assert mutate_text("7", Random(1)) == mutate_text("7", Random(1))


@pytest.mark.slow
def test_two_thousand_damaged_inputs_have_no_finding(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", os.environ.copy())
    code = fuzz.main(["--count", "2000", "--seed", "1", "--out", str(tmp_path / "kept")])
    assert code == 0, capfd.readouterr().out
