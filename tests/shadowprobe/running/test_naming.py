"""What a run directory is called, and what a run is called in tables."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from refusals import complaint, outcome
from retrieval_world import write_collection
from world import write_world

from shadowprobe.running.naming import default_directory


def names_in(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dataset in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")


BLEND = ["run", "--linker", "blend", "--dataset", "world"]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "llm-mini"),
        ({"model": "stub2"}, "llm-model=stub2-mini"),
        ({"model": "a/b: c", "top": None}, "llm-model=a_b_c,top=None-mini"),
        ({"url": "http://127.0.0.1:80/nif?x=1"}, "llm-url=127.0.0.1_80_nif_x=1-mini"),
        ({"model": "../.."}, "llm-model=.._..-mini"),
    ],
)
def test_options_are_part_of_the_name(options: dict[str, object], name: str) -> None:
    assert default_directory("llm", "mini", options) == Path("runs", name)


def test_a_long_name_is_cut_and_ends_in_a_digest_of_the_options() -> None:
    one, other = (default_directory("llm", "mini", {"model": "é" * 300 + end}).name for end in ("a", "b"))
    digest = hashlib.sha256(("model=" + "é" * 300 + "a").encode()).hexdigest()[:8]
    # 80 bytes of options: `model=`, letters of two bytes each, a sign and eight digits.
    assert one == "llm-model=" + "é" * 32 + f"~{digest}-mini"
    assert one != other


def test_only_options_that_differ_from_the_defaults_are_in_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    for weight in ("0.5", "0.50", "1"):
        assert outcome(capsys, *BLEND, "-o", f"weight={weight}")[0] == 0
    assert names_in("runs") == ["blend-weight=1.0-world", "blend-world"]


def test_the_name_does_not_depend_on_the_order_of_the_options() -> None:
    from shadowprobe.running.naming import choose_options

    class Linker:
        def __init__(self, a: int = 1, b: int = 2, token: str = "", url: str = "", timeout: int = 3) -> None: ...

    options = {"a": 5, "b": 6, "token": "***", "url": "http://127.0.0.1", "timeout": 9}
    chosen = choose_options(Linker, options, ["url", "timeout", "token", "b", "a"], {"timeout"})
    # No secret, no option that cannot change an answer, and an address only where nothing else was given.
    assert list(chosen.items()) == [("a", 5), ("b", 6)]
    assert choose_options(Linker, options, ["url"], set()) == {"url": "http://127.0.0.1"}
    assert choose_options(Linker, {**options, "a": 1}, ["a"], set()) == {}


def test_a_retriever_has_its_options_in_the_name_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_collection(tmp_path / "little")
    command = ["retrieve", "--retriever", "linker:blend", "--collection", "little", "--probe", "amber"]
    assert outcome(capsys, *command, "-o", "weight=1")[0] == 0
    assert names_in("runs") == ["linker_blend-weight=1.0-little"]


def test_a_run_in_a_directory_without_its_options_goes_on_there(capsys: pytest.CaptureFixture[str]) -> None:
    # As versions without options in the name left it.
    assert outcome(capsys, *BLEND, "-o", "weight=1", "--out", "runs/blend-world")[0] == 0
    code, _, err = outcome(capsys, *BLEND, "-o", "weight=1")
    assert (code, err) == (0, "21 taken from an earlier run. Written to runs/blend-world/\n")
    assert outcome(capsys, *BLEND, "-o", "weight=0")[0] == 0
    assert names_in("runs") == ["blend-weight=0.0-world", "blend-world"]
    # The run with the defaults would begin in the directory of the other.
    expected = "runs/blend-world holds a run whose linker options weight is 1.0, not 0.5; give another --out"
    assert complaint(capsys, *BLEND).startswith(expected)


def test_a_damaged_card_in_the_earlier_directory_does_not_matter(capsys: pytest.CaptureFixture[str]) -> None:
    Path("runs/blend-world").mkdir(parents=True)
    Path("runs/blend-world/run.json").write_text("{")
    assert outcome(capsys, *BLEND, "-o", "weight=1")[0] == 0
    assert Path("runs/blend-weight=1.0-world/results.json").exists()


def test_a_name_is_the_directory_and_the_label_but_no_part_of_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, *BLEND, "--name", "half and half")[0] == 0
    assert outcome(capsys, *BLEND)[0] == 0
    run = Path("runs/half and half")
    assert json.loads((run / "run.json").read_text())["name"] == "half and half"
    assert (run / "results.json").read_bytes() == Path("runs/blend-world/results.json").read_bytes()
    code, out, _ = outcome(capsys, "table", "summary", str(run), "runs/blend-world", "--format", "csv")
    assert code == 0
    assert [line.split(",")[2] for line in out.splitlines()[1:]] == ["half and half", "blend"]
    listed = json.loads(outcome(capsys, "runs", "--json")[1])
    assert [(one["system"], one["name"]) for one in listed] == [("blend", ""), ("half and half", "half and half")]


def test_a_finished_run_can_be_renamed_and_keeps_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, name in (((), ""), (("--name", "mine"), "mine"), ((), "mine"), (("--name", "ours"), "ours")):
        assert outcome(capsys, *BLEND, "--out", "run", *arguments)[0] == 0
        card = json.loads(Path("run/run.json").read_text())
        assert card.get("name", "") == name
        # It is still the card of the finished run.
        assert card["finished"]


def test_a_run_that_goes_on_keeps_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, *BLEND, "--out", "run", "--name", "mine")[0] == 0
    Path("run/predictions.jsonl").write_bytes(b"")
    assert outcome(capsys, *BLEND, "--out", "run")[0] == 0
    assert json.loads(Path("run/run.json").read_text())["name"] == "mine"


def test_an_empty_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, *BLEND, "--name", " ") == "--name: the name of the run is empty"


def test_a_name_leads_to_no_other_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, *BLEND, "--name", "../up")[0] == 0
    assert names_in("runs") == [".._up"]


def test_a_refused_resume_names_the_one_key_that_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, *BLEND, "--out", "run")[0] == 0
    old = json.loads(Path("run/run.json").read_text())["dataset"]["digest"]
    file = Path("world/entities.jsonl")
    card = json.loads(Path("world/dataset.json").read_text())
    del card["files"]
    Path("world/dataset.json").write_text(json.dumps(card))
    file.write_text(file.read_text().replace("Fresh water", "Salt water"))
    said = complaint(capsys, *BLEND, "--out", "run")
    assert said.startswith(f"run holds a run whose dataset digest is {old[:12]}..., not ")
    assert old not in said
