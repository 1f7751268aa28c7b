"""The examples of the README run as they stand."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from refusals import complaint, outcome
from service import Asked, Reply, serving

from shadowprobe.catalogue.datasets import open_dataset

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_example(name: str) -> str:
    """Writes the block that defines a class to mine.py, as the README says."""
    (block,) = (block for block in BLOCKS if f"class {name}(" in block)
    Path("mine.py").write_text(block, encoding="utf-8")
    return f"mine.py:{name}"


def test_every_python_block_defines_a_class_or_runs_by_itself() -> None:
    for block in BLOCKS:
        compile(block, "README.md", "exec")


def test_the_web_linker_has_at_most_twelve_lines_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    spec = write_example("MyService")
    lines = [line for line in Path("mine.py").read_text().splitlines() if line.strip()]
    assert len(lines) <= 12
    gold = {(snippet.text, snippet.start): snippet.gold for snippet in open_dataset("mini").first(3).snippets()}

    def answer(_: int, asked: Asked) -> Reply:
        sent = asked.json
        title = gold[sent["text"], sent["start"]]
        return 200, {"Content-Type": "application/json"}, json.dumps({"title": title, "score": 0.5}).encode()

    with serving(answer) as service:
        url = service.url
        code, out, _ = outcome(capsys, "run", "-l", spec, "-o", f"url={url}", "--limit", "3", "--out", "run", "--json")
        # Nine texts with gold and 21 neutral ones.
        assert [(asked.method, asked.path) for asked in service.requests].count(("POST", "/api")) == 30
    assert code == 0
    # It knows the gold answer; the neutral contexts have none, and are NIL.
    subsets = json.loads(out)["subsets"]
    assert [(subsets[name]["n"], subsets[name]["f1"]) for name in ("top", "shadow", "tail")] == [(3, 1.0)] * 3


def test_the_probe_is_added_to_the_others_and_counts_right(capsys: pytest.CaptureFixture[str]) -> None:
    spec = write_example("NameLength")
    code, out, _ = outcome(capsys, "run", "-l", "oracle", "--out", "run", "--probe", f"+{spec}", "--json")
    assert code == 0
    probes = json.loads(out)["probes"]
    assert probes["name_length"] == {"one_word": 1.0, "longer": 1.0}
    assert {"overshadowing", "prior"} <= probes.keys()
    out = outcome(capsys, "run", "-l", "prior", "--out", "other", "--probe", spec, "--json")[1]
    # Without `+` it is the only one. The prior is wrong on every Shadow text.
    assert json.loads(out)["probes"] == {"name_length": {"one_word": 0.0, "longer": 0.0}}


def test_a_probe_that_is_named_with_and_without_plus_is_asked_besides_the_named_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = write_example("NameLength")
    named = ("--probe", "overshadowing", "--probe", f"+{spec}")
    out = outcome(capsys, "run", "-l", "prior", "--out", "run", *named, "--json")[1]
    assert list(json.loads(out)["probes"]) == ["overshadowing", "name_length"]
    assert complaint(capsys, "run", "--out", "new", "--probe", "+nothing").startswith("unknown probe `nothing`")


@pytest.mark.parametrize("part", ["import", "__init__", "setup", "link", "measure"])
def test_an_error_in_a_file_of_the_user_is_shown_with_its_line(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = (
        "from shadowprobe import Linker, Probe\n"
        "def fail(where): \n"
        f"    if where == {part!r}: raise KeyError(where)\n"
        "fail('import')\n"
        "class Mine(Linker):\n"
        "    name = 'mine'\n"
        "    def __init__(self): fail('__init__')\n"
        "    def setup(self): fail('setup')\n"
        "    def link(self, snippets):\n"
        "        fail('link')\n"
        "        return [self.nil(snippet) for snippet in snippets]\n"
        "class Asks(Probe):\n"
        "    name = 'asks'\n"
        "    def measure(self, answers): fail('measure')\n"
    )
    Path("mine.py").write_text(source)
    ast.parse(source)
    run = ("run", "-l", "mine.py:Mine", "--probe", "mine.py:Asks", "--out", "run", "--limit", "2")
    code, _, error = outcome(capsys, *run)
    assert code == 2
    # The innermost line of the file, where it was raised.
    assert f"KeyError: '{part}' at mine.py:3" in error
    assert len(error.splitlines()) == 1
    if part != "link":
        # A failure of one snippet is a line in failures.jsonl.
        assert 'mine.py", line 3, in fail' in outcome(capsys, "--debug", *run)[2]
