"""What a training reads and refuses before any model is loaded, and what it writes when it begins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import write_documents

from shadowprobe import UsageError
from shadowprobe.queries.query import Document
from shadowprobe.training.planning import Plan, begin_training, plan_training
from shadowprobe.training.record import read_record
from shadowprobe.training.settings import TrainingSettings

BIRTHS = {"Eva Falk": "Paris", "Otto Lund": "Kiel", "Ida Jung": "Oslo"}


def write_questions(folder: Path, name: str, facts: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for relation, of_relation in facts.items():
        items = [
            {"question": f"Where was {subject} born?", "answers": [answer], "subject": subject}
            for subject, answer in of_relation
        ]
        (folder / f"{relation}.{name}.json").write_text(json.dumps(items))


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A collection with a passage about each person but the last of the training."""
    path = tmp_path / "little"
    documents = [Document(name, name, f"{name} was born in {place}.") for name, place in BIRTHS.items()]
    write_documents(path / "documents.jsonl", documents)
    questions = path / "entity_questions"
    write_questions(questions / "train", "train", {"P19": [*list(BIRTHS.items())[:2], ("Uwe Voss", "Bern")]})
    write_questions(questions / "test", "test", {"P19": [("Ida Jung", "Oslo")]})
    return path


def plan(collection: Path, out: Path, *, force: bool = False, **changed: Any) -> Plan:
    return plan_training(TrainingSettings(collection=str(collection), **changed), out, force=force)


def list_files(out: Path) -> list[str]:
    return sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())


def test_a_question_without_a_passage_is_left_out_and_counted(collection: Path, tmp_path: Path) -> None:
    made = plan(collection, tmp_path / "out")
    assert [(example.text, example.positives) for example in made.examples["P19"]] == [
        ("Where was Eva Falk born?", ("Eva Falk",)),
        ("Where was Otto Lund born?", ("Otto Lund",)),
    ]
    assert made.record.relations == ["P19"]
    assert (made.record.split["without_passage"], made.record.split["examples"]) == (1, {"P19": 2})
    assert list(made.record.digests) == ["queries"]
    assert not (tmp_path / "out").exists()


def test_a_training_begins_with_its_record_and_its_questions_and_goes_on_with_the_same(
    collection: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    begin_training(plan(collection, out))
    files = ["questions/test/P19.test.json", "questions/train/P19.train.json", "training.json"]
    assert list_files(out) == files
    train = json.loads((out / files[1]).read_text())
    assert [item["subject"] for item in train] == ["Eva Falk", "Otto Lund", "Uwe Voss"]
    (out / "weights").touch()
    again = plan(collection, out)
    assert again.record == read_record(out)
    begin_training(again)
    assert list_files(out) == [*files, "weights"]


def test_another_training_is_removed_only_by_force(collection: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    begin_training(plan(collection, out))
    (out / "weights").touch()
    with pytest.raises(UsageError, match=r"out holds a training whose .*; give another --out, or --force to write"):
        plan(collection, out, seed=8)
    begin_training(plan(collection, out, force=True, seed=8))
    assert "weights" not in list_files(out)
    record = read_record(out)
    assert record is not None
    assert record.settings["seed"] == 8


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_training_is_never_written_over(collection: Path, tmp_path: Path, force: bool) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file: is a file; name a directory"):
        plan(collection, tmp_path / "file", force=force)
    (tmp_path / "full").mkdir()
    plan(collection, tmp_path / "full", force=force)
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(UsageError, match="full is not empty, and holds no training; give another --out"):
        plan(collection, tmp_path / "full", force=force)


def test_a_similar_question_has_the_other_pattern_of_its_relation(collection: Path, tmp_path: Path) -> None:
    # As in footnote 7 of the paper.
    (example, *_) = plan(collection, tmp_path / "out", similar=True).examples["P19"]
    assert example.text == "What is the birthplace of Eva Falk?"


@pytest.mark.parametrize("option", ["similar", "per_relation"])
def test_a_relation_without_a_known_pattern_is_refused_where_one_is_needed(
    collection: Path, tmp_path: Path, option: str
) -> None:
    write_questions(collection / "entity_questions" / "train", "train", {"P9999": [("Eva Falk", "Paris")]})
    plan(collection, tmp_path / "out")
    with pytest.raises(UsageError, match=r"^--(similar|per-relation): P9999 is no relation of the paper"):
        plan(collection, tmp_path / "out", **{option: True})


def test_a_collection_without_any_passage_cannot_be_trained_on(collection: Path, tmp_path: Path) -> None:
    write_documents(collection / "documents.jsonl", [Document("1", "Nobody", "nothing")])
    with pytest.raises(UsageError, match="the collection has no passage for any training question"):
        plan(collection, tmp_path / "out")
