"""What a user can find out without the documentation: listings, descriptions and completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import complaint, outcome
from world import write_world

from shadowprobe import plugins
from shadowprobe.catalogue.datasets import KNOWN
from shadowprobe.reporting.details import describe_plugin, describe_type
from shadowprobe.reporting.figures import FIGURES

LINKERS_AND_RETRIEVERS = [
    (group, name) for group in (plugins.LINKERS, plugins.RETRIEVERS) for name in plugins.names(group)
]


@pytest.mark.parametrize(("group", "name"), LINKERS_AND_RETRIEVERS)
def test_every_option_of_every_system_has_a_type_and_a_meaning(group: plugins.Group, name: str) -> None:
    details = describe_plugin(name, group)
    for option in details.options:
        assert option.about, option.name
        assert option.type
    kind = plugins.load_class(name, group)
    known = {key for base in kind.__mro__ for key in vars(base).get("option_help", {})}
    assert known == set(plugins.list_options(kind)), "option_help names an option that there is not"


def test_a_linker_is_explained_with_its_options_needs_and_an_example(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = outcome(capsys, "linkers", "llm")
    assert code == 0
    assert out.startswith("llm\n\nA chat model on vLLM")
    assert "Needs: the URL of a chat endpoint" in out
    lines = out.splitlines()
    assert any(re.match(r"model +text +\(required\) +the model", line) for line in lines)
    assert any(re.match(r"mode +closed \| open +closed +", line) for line in lines)
    assert lines[-1] == "Example: shadowprobe run --linker llm -o model=MODEL"
    # A command to copy is not broken; everything else fits.
    assert max(len(line) for line in lines if not line.startswith(("    ", "Example"))) <= 80
    options = json.loads(outcome(capsys, "linkers", "llm", "--json")[1])["options"]
    assert options[0] == {
        "name": "model",
        "type": "text",
        "default": None,
        "about": "the model, as the endpoint calls it",
    }
    assert {"name": "temperature", "type": "number, or none", "default": "0"}.items() <= options[7].items()


@pytest.mark.parametrize(
    ("arguments", "words", "example"),
    [
        (("retrievers", "bm25"), "how much a repeated word counts", "shadowprobe retrieve --retriever bm25"),
        (("retrievers", "linker"), "Needs: a linker", "shadowprobe retrieve --retriever linker:blend"),
        (("probes", "overshadowing"), "overshadowed", "shadowprobe run --probe overshadowing"),
        (("probes", "masked_mention"), "Needs: new predictions", "shadowprobe run --also masked_mention"),
        (("probes", "amber"), "namesake", "shadowprobe retrieve --probe amber"),
        (("datasets", "mini"), "Licence: CC BY 4.0", "shadowprobe run --dataset mini"),
        (("figures", "kinds"), "Needs: finished runs of linkers", "shadowprobe plot kinds runs/*"),
        (("figures", "head-tail"), "Needs: finished runs of retrievers", "shadowprobe plot head-tail runs/*"),
    ],
)
def test_everything_with_a_name_is_explained(
    arguments: tuple[str, str], words: str, example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = outcome(capsys, *arguments)
    assert code == 0
    assert words in out
    assert out.splitlines()[-1] == f"Example: {example}"
    details = json.loads(outcome(capsys, *arguments, "--json")[1])
    assert (details["name"], details["example"]) == (arguments[1], example)


def test_a_class_of_your_own_and_a_directory_are_explained_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "from shadowprobe import Linker\n"
        "class Mine(Linker):\n"
        '    """Mine."""\n'
        "    name = 'mine'\n"
        "    def __init__(self, size: int = 3, *, words: tuple[str, ...] = ()) -> None: ...\n"
    )
    options = json.loads(outcome(capsys, "linkers", "mine.py:Mine", "--json")[1])["options"]
    assert [(one["name"], one["type"], one["default"]) for one in options] == [
        ("size", "whole number", "3"),
        ("words", "text, with commas between several", "()"),
    ]
    write_world(tmp_path / "world")
    assert "Contains: 9 entities, 4 spaces" in outcome(capsys, "datasets", "world")[1]
    assert complaint(capsys, "datasets", "minni").startswith("unknown dataset `minni` (did you mean `mini`?)")
    assert complaint(capsys, "figures", "kind") == (
        "no figure `kind` (did you mean `kinds`?): `shadowprobe figures` lists them"
    )
    assert complaint(capsys, "linkers", "llmm").startswith("unknown linker `llmm` (did you mean `llm`?)")


def test_a_type_is_written_in_words() -> None:
    assert describe_type(int | None) == "whole number, or none"
    assert describe_type(Path) == "file"
    assert describe_type(list[int]) == "whole number, with commas between several"


def complete(words: str, where: Path) -> list[str]:
    """What bash would offer for the last word."""
    environment = os.environ | {
        "_SHADOWPROBE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from shadowprobe.cli import main; main([])"],
        env=environment,
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_the_shell_completes_commands_and_every_kind_of_name(tmp_path: Path) -> None:
    for run in ("runs/first", "runs/second", "other/deep"):
        (tmp_path / run).mkdir(parents=True)
        (tmp_path / run / "run.json").write_text("{}")
    write_world(tmp_path / "datasets" / "world")
    assert complete("shadowprobe figur", tmp_path) == ["figures"]
    assert complete("shadowprobe run --linker b", tmp_path) == [
        n for n in plugins.names(plugins.LINKERS) if n[0] == "b"
    ]
    assert complete("shadowprobe linkers ll", tmp_path) == ["llm"]
    assert complete("shadowprobe run --dataset mini", tmp_path) == [k.name for k in KNOWN if k.name.startswith("mini")]
    assert complete("shadowprobe run --dataset datasets/", tmp_path) == ["datasets/world"]
    assert complete("shadowprobe run --probe overs", tmp_path) == ["overshadowing"]
    assert complete("shadowprobe retrieve --retriever bm", tmp_path) == ["bm25"]
    assert complete("shadowprobe plot k", tmp_path) == [name for name in FIGURES if name[0] == "k"]
    assert complete("shadowprobe compare ru", tmp_path) == ["runs/", "runs/first", "runs/second"]
    assert complete("shadowprobe report other/", tmp_path) == ["other/deep"]
    assert complete("shadowprobe export k", tmp_path) == ["kilt"]


def test_the_completion_can_be_shown_and_help_loads_nothing_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    # Where the tests have no shell around them, none can be found out: this variable lets the user name it.
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "True"}
    command = [sys.executable, "-m", "shadowprobe", "--show-completion", "bash"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert "_SHADOWPROBE_COMPLETE" in shown.stdout
    assert "--install-completion" in outcome(capsys, "--help")[1]
    assert outcome(capsys, "--version")[1].startswith("shadowprobe ")
    code = "import sys; from shadowprobe.cli import completion; sys.exit('shadowprobe.plugins' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_a_broken_plugin_is_listed_with_its_error_and_the_others_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[shadowprobe.linkers]\n"
        "gone = broken_gone:Gone\n"
        "unclosed = broken_syntax:Unclosed\n"
        "renamed = broken_class:Earlier\n"
        "inside = broken_package.inner:Inner\n"
        "fine = broken_class:Elsewhere\n"
        "[shadowprobe.probes]\n"
        "lost = broken_gone:Lost\n"
    )
    (tmp_path / "broken_syntax.py").write_text("class Unclosed(\n")
    (tmp_path / "broken_class.py").write_text("from elsewhere import Elsewhere\nclass Later: ...\n")
    (tmp_path / "broken_package").mkdir()
    (tmp_path / "broken_package" / "__init__.py").write_text("raise RuntimeError('no licence')\n")
    (tmp_path / "broken_package" / "inner.py").write_text("class Inner: ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = outcome(capsys, "linkers")
    assert code == 0
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines() if line.strip()}
    assert rows["gone"] == "BROKEN: there is no module `broken_gone` broken"
    assert rows["unclosed"].startswith("BROKEN: SyntaxError: '(' was never closed")
    assert rows["renamed"] == "BROKEN: there is no class `Earlier` in broken_class broken"
    assert rows["inside"] == "BROKEN: RuntimeError: no licence broken"
    # A class that another module defines cannot be described without loading it, and is not broken for that.
    assert rows["fine"] == "broken"
    assert rows["prior"].startswith("always") or "common" in rows["prior"]
    listed = json.loads(outcome(capsys, "probes", "--json")[1])
    assert [one["error"] for one in listed if one["error"]] == ["there is no module `broken_gone`"]


def test_the_docs_count_the_built_in_questions_as_their_card_does() -> None:
    root = Path(__file__).resolve().parents[3]
    counts = json.loads((root / "data/namesakes/collection.json").read_text())["counts"]
    told = (root / "docs/files.md").read_text(encoding="utf-8")
    for what, words in (
        ("documents", "{} articles"),
        ("entity_questions", "{} entity questions"),
        ("relations", "{} relations"),
        ("ambigdocs", "{} same-name document sets"),
    ):
        assert words.format(counts[what]) in told
    files = (root / "data/namesakes/entity_questions").glob("*.json")
    assert sum(len(json.loads(file.read_text())) for file in files) == counts["entity_questions"]
