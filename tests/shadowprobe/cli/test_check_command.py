"""What `shadowprobe check` prints besides its table, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chat_models import saying
from refusals import outcome
from service import serving

from shadowprobe import Dataset

SENDS = '''
from shadowprobe import LinkerError, Linker

class Sends(Linker):
    """Shows what it sends."""

    name = "sends"
    howto = "pip install patience"

    def __init__(self, there: bool = True) -> None:
        self.there = there

    def setup(self):
        if not self.there:
            raise LinkerError("`sends` is not set up")

    def outgoing(self, snippet):
        return f"Dear system,\\nwhat is [{snippet.mention}]?"

    def link(self, snippets):
        return [self.answer(s, self.knowledge.candidates(s.mention)[0]) if self.knowledge.candidates(s.mention)
                else self.skip(s) for s in snippets]
'''


@pytest.fixture
def sends(tmp_path: Path, world: Dataset) -> list[str]:
    (tmp_path / "sends.py").write_text(SENDS)
    return ["check", "--linker", f"{tmp_path / 'sends.py'}:Sends", "--dataset", str(world.path)]


def test_what_the_system_is_sent_stands_below_the_table(sends: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, *sends)
    assert code == 0
    assert out.endswith("What `sends` is sent for the first snippet:\nDear system,\nwhat is [Avon]?\n")


def test_how_to_set_it_up_stands_below_the_table_of_what_does_not_start(
    sends: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = outcome(capsys, *sends, "-o", "there=false")
    assert code == 1
    assert "`sends` is not set up" in out
    assert out.endswith("To set `sends` up:\npip install patience\n")


def test_how_to_start_a_server_is_not_said_of_one_that_answers_what_nobody_can_use(
    world: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-o", "model=small", "-o", "retries=0"]
    with serving(saying("It is the river, of course.")) as service:
        code, out, _ = outcome(
            capsys, "check", "--linker", "llm", "--dataset", str(world.path), "-o", f"url={service.url}", *options
        )
    assert code == 1
    assert "the reply holds no" in out
    assert "ollama" not in out
    assert "What `llm` is sent for the first snippet:\nWhat does the marked mention refer to" in out
    # Nothing is there now.
    code, out, _ = outcome(
        capsys, "check", "--linker", "llm", "--dataset", str(world.path), "-o", f"url={service.url}", *options
    )
    assert code == 1
    assert "To set `llm` up:\nollama serve\n" in out


def test_what_was_checked_is_json_for_programs_and_a_broken_case_is_an_exit_code(
    sends: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = outcome(capsys, *sends, "--json")
    found = json.loads(out)
    assert code == 0
    assert all(one["holds"] for one in found)
    code, out, _ = outcome(capsys, *sends, "--json", "-o", "there=false")
    assert code == 1
    assert [one["holds"] for one in json.loads(out)] == [False]
