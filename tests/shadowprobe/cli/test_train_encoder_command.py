"""`shadowprobe train-encoder`, `table training` and `plot passages`, as their users meet them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from drawn import assert_readable
from refusals import complaint, outcome
from syllable_world import save_syllable_pair, write_syllable_world

from shadowprobe.reporting import figures
from shadowprobe.reporting.figures.style import Width

pytest.importorskip("sentence_transformers", reason="the extra [dense] is not installed", exc_type=ImportError)

PAIR = ("--kind", "dpr", "--model", "pair/of-questions", "--document-model", "pair/of-passages")
SHORT = ("--collection", "world", "--relation", "P19", "--epochs", "1", *PAIR)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small world, a pair of encoders, and the directory of one training."""
    folder = tmp_path_factory.mktemp("trained")
    write_syllable_world(folder / "world", people=40, products=20)
    save_syllable_pair(folder / "pair")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        from shadowprobe.cli import main

        with pytest.raises(SystemExit) as ended:
            main(["train-encoder", *SHORT, "--out", "out"])
    assert ended.value.code == 0
    return folder


@pytest.fixture(autouse=True)
def _in_the_folder(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trained)
    monkeypatch.setenv("COLUMNS", "200")


def test_a_finished_training_is_shown_again_with_its_split(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "train-encoder", *SHORT, "--out", "out")
    assert code == 0
    # Of 60 questions a quarter is held out: each has a subject of its own, and the names share no word.
    assert "The test has 15 questions." in out
    assert "Use it with: shadowprobe retrieve --retriever dense -o model=out" in err
    for words in ("trained relations", "other relations", "before", "after", "bm25", "The same by relation"):
        assert words in out
    assert "AmbER: is the right document first?" in out
    assert "How similar are passages to each other?" in out


def test_json_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "train-encoder", *SHORT, "--out", "out", "--json")
    found = json.loads(out)
    assert code == 0
    assert found == json.loads(Path("out/training.json").read_text())
    assert found["settings"]["seed"] == 7
    relations = [one["systems"]["bm25"]["1"]["rate"] for one in found["relations_found"].values()]
    assert found["macro"]["bm25"]["1"] == pytest.approx(sum(relations) / 2)
    assert found["split"]["test"]["P19"] + found["split"]["test"]["P176"] == 15


def test_the_retriever_takes_the_directory(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--collection", "world", "--queries", "out/questions/test", "--probe", "entity_questions")
    code, out, _ = outcome(
        capsys, "retrieve", "--retriever", "dense", "-o", "model=out", *arguments, "--out", "again", "-k", "5", "--json"
    )
    assert code == 0
    stored = json.loads(Path("out/training.json").read_text())["relations_found"]["P19"]["systems"]["after"]["5"]
    assert json.loads(out)["probes"]["entity_questions"]["relations"]["P19"]["accuracy"]["5"] == stored["rate"]


@pytest.mark.parametrize("format_name", ["terminal", "markdown", "csv", "latex", "json", "html"])
def test_the_table_has_every_format(capsys: pytest.CaptureFixture[str], format_name: str) -> None:
    code, out, _ = outcome(capsys, "table", "training", "out", "--published", "--format", format_name)
    assert code == 0
    # Table 2 of the paper: FT OnlyQ on P19, P159 and P170.
    assert all(figure in out for figure in ("45.4", "72.8", "73.4"))
    # Table 4: DPR-PAQ with one question encoder for each relation.
    assert "68.4" in out


def test_two_trainings_are_told_apart_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree("out", "copy", dirs_exist_ok=True)
    code, out, _ = outcome(capsys, "table", "training", "out", "copy", "--name", "first", "--name", "second")
    assert code == 0
    assert "first: after" in out
    assert "second: bm25" in out
    _, out, _ = outcome(capsys, "table", "training", "out", "copy")
    assert "copy: before" in out


REFUSED = [
    (("train-encoder", *SHORT, "--out", "out", "--seed", "8"), "holds a training whose settings seed is 7, not 8"),
    (("train-encoder", "--out", "x", "--train", "question"), "--train question: choose from both, passages, questions"),
    (("train-encoder", "--out", "x", "--kind", "dpr"), "--kind dpr: needs the encoder of the passages too"),
    (("train-encoder", "--out", "x", "--disjoint", "none"), "--disjoint none: choose from all, relation"),
    (("train-encoder", "--out", "x", "--held-out", "1"), "--held-out: is a share between 0 and 1, not 1"),
    (("train-encoder", "--out", "x", "--learning-rate", "-1"), "--learning-rate: is a number between 0 and 1, not -1"),
    (("train-encoder", "--out", "x", "--relation", "P1"), "--relation P1: has no training questions"),
    (("train-encoder", "--out", "x", "--mix", "gone.json"), "gone.json: no such file: --mix is a JSON list"),
    (("train-encoder", "--out", "x", "--collection", "world/documents.jsonl"), "has no questions: give --queries"),
    (("train-encoder", "--out", "x", "--model", "gone", "--relation", "P19"), "cannot load the model `gone`"),
    (("table", "training"), "name a run directory, or give --published"),
    (("table", "training", "world"), "world: is no training: it holds no training.json"),
    (("table", "training", "out", "out"), "two trainings are called 'out': give each a --name of its own"),
    (("table", "training", "out", "--dataset", "mini"), "--dataset: goes with runs of linkers"),
    (("plot", "passages", "world"), "world: is no training"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_wrong_use_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert words in complaint(capsys, *arguments)


def test_without_its_packages_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    arguments = ("--collection", "world", "--out", "missing", "--model", "any", "--relation", "P19")
    assert "pip install 'shadowprobe[dense]'" in complaint(capsys, "train-encoder", *arguments)


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("questions", ("table", "training", "bad")),
        ("passages", ("table", "training", "bad")),
        ("passages", ("plot", "passages", "bad", "--out", "bad.png")),
    ],
)
def test_a_record_with_a_wrong_value_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], key: str, command: tuple[str, ...]
) -> None:
    record = json.loads(Path("out/training.json").read_text())
    record[key] = {"trained": 1, "before": {"places": [1]}}
    Path("bad").mkdir(exist_ok=True)
    Path("bad/training.json").write_text(json.dumps(record))
    said = complaint(capsys, *command)
    assert "bad/training.json: a value is missing or has a wrong type" in said
    assert "`shadowprobe train-encoder --force`" in said


@pytest.mark.parametrize("width", ["one", "two"])
def test_the_figure_has_a_panel_before_and_after_with_the_numbers_of_the_record(width: Width) -> None:
    drawn = figures.plot("passages", ["out"], width=width)
    found = json.loads(Path("out/training.json").read_text())["passages"]
    assert_readable(drawn)
    for axes, when in zip(drawn.axes, ("before", "after"), strict=True):
        assert when in axes.get_title()
        for kind in ("same_relation", "other_relation"):
            assert f"{found[when][kind]:.2f}" in axes.get_title()
        groups: list[Any] = [one.get_offsets() for one in axes.collections]
        points = [tuple(place) for group in groups for place in group.tolist()]
        assert sorted(points) == sorted(tuple(place) for place in found[when]["places"])
    legend = [text.get_text().replace("\n", " ") for text in drawn.legends[0].get_texts()]
    assert legend == ["place of birth (P19)", "manufacturer (P176)"]
