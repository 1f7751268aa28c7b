"""Training with real weights: all-MiniLM-L6-v2 on a part of the built-in collection, without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from retrieval_world import write_documents
from weights import require_sentence_encoder

from shadowprobe.queries.collection import open_collection
from shadowprobe.queries.question_files import read_questions
from shadowprobe.training.planning import plan_training
from shadowprobe.training.settings import TrainingSettings
from shadowprobe.training.train import train_encoder

pytestmark = pytest.mark.slow
RELATIONS = ("P19", "P20")


@pytest.fixture(scope="module")
def model() -> str:
    return require_sentence_encoder()


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """The questions of two relations, and the documents about their subjects."""
    whole = open_collection("namesakes")
    assert whole.directory is not None
    questions = read_questions(whole.directory / "entity_questions")
    subjects = {one.subject for relation in RELATIONS for one in questions[relation]}
    documents = [one for one in whole.documents() if one.title.partition(" (")[0] in subjects]
    write_documents(tmp_path / "part" / "documents.jsonl", documents)
    (tmp_path / "part" / "entity_questions").mkdir()
    for relation in RELATIONS:
        source = whole.directory / "entity_questions" / f"{relation}.test.json"
        (tmp_path / "part" / "entity_questions" / source.name).write_bytes(source.read_bytes())
    return tmp_path / "part"


def test_a_real_encoder_is_trained_and_forgets_little(model: str, part: Path, tmp_path: Path) -> None:
    settings = TrainingSettings(model=model, collection=str(part), relations=("P19",), epochs=2, batch_size=4, limit=8)
    record = train_encoder(plan_training(settings, tmp_path / "out")).record
    first, last = (record.epochs["model"][place]["loss"] for place in (0, -1))
    assert last < first
    for group in record.questions.values():
        # It reads these questions well before, and so few steps at this rate change little.
        assert group["systems"]["before"]["20"]["rate"] > 0.9
        assert group["systems"]["after"]["20"]["rate"] > 0.9
    assert {name: group["n"] > 3 for name, group in record.questions.items()} == {"trained": True, "other": True}
    after = record.passages["after"]
    assert after["same_relation"] != record.passages["before"]["same_relation"]
    assert json.loads((tmp_path / "out" / "training.json").read_text())["settings"]["model"] == model
