"""Training from end to end, with encoders of random weights over invented names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from syllable_world import save_syllable_pair, save_syllable_sentence_model, write_syllable_world

from shadowprobe import InputError, UsageError
from shadowprobe.base.files import file_digest
from shadowprobe.plugins import make_retriever
from shadowprobe.queries.collection import open_collection
from shadowprobe.queries.query import Query
from shadowprobe.queries.question_files import read_questions
from shadowprobe.systems.encoder_directory import read_encoder_card
from shadowprobe.training.loop import EncoderModels, train_encoders
from shadowprobe.training.planning import Plan, begin_training, plan_training
from shadowprobe.training.record import read_record, read_training
from shadowprobe.training.saved_encoders import train_and_save
from shadowprobe.training.settings import TrainingSettings
from shadowprobe.training.train import train_encoder

pytest.importorskip("sentence_transformers", reason="the extra [dense] is not installed", exc_type=ImportError)

# One short pass, for tests that need a training but not its success.
SHORT: dict[str, Any] = {"epochs": 1, "learning_rate": 1e-3, "batch_size": 16}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small collection of people and products."""
    return write_syllable_world(tmp_path_factory.mktemp("world"), people=40, products=20)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The settings that name a DPR pair of random weights."""
    return save_syllable_pair(tmp_path_factory.mktemp("pair"))


def plan(world: Path, out: Path, given: dict[str, Any], **more: Any) -> Plan:
    settings = {"relations": ("P19",), **SHORT, **given, **more}
    return plan_training(TrainingSettings(collection=str(world), **settings), out)


def digests(folder: Path) -> dict[str, str]:
    """The content of every file of a folder."""
    return {str(path.relative_to(folder)): file_digest(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def index_bytes(model: str, collection: Path, **options: str) -> bytes:
    """The vectors of all documents, as the retriever `dense` has them."""
    retriever: Any = make_retriever("dense", {"model": model, **options})
    retriever.open(open_collection(str(collection)).documents(), {})
    (index,) = retriever._indexes.values()
    vectors: Any = index._vectors
    return np.ascontiguousarray(vectors).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 8])
def test_encoders_of_random_weights_learn_the_trained_relation_and_no_other(tmp_path: Path, seed: int) -> None:
    collection = write_syllable_world(tmp_path / "world", people=300, products=150)
    # Two models with other weights: before training, nothing relates a question to its passage.
    questions, passages = (save_syllable_sentence_model(tmp_path / f"model-{one}", seed=one) for one in (1, 2))
    settings = TrainingSettings(
        model=str(questions),
        document_model=str(passages),
        collection=str(collection),
        relations=("P19",),
        epochs=20,
        learning_rate=3e-3,
        batch_size=48,
        seed=seed,
    )
    found = train_encoder(plan_training(settings, tmp_path / "out")).record
    trained, other = found.questions["trained"], found.questions["other"]
    # Of 450 documents one is right: chance is 0.2% at the first place, and 4.4% among the first 20. Where products are
    # told from people, it is 0.7% and 13%.
    assert trained["n"] > 60
    assert other["n"] > 30
    assert trained["systems"]["before"]["1"]["rate"] < 0.05
    assert trained["systems"]["before"]["20"]["rate"] < 0.2
    assert trained["systems"]["after"]["1"]["rate"] > 0.8
    assert trained["change"]["1"]["ci95"][0] > 0.7
    for when in ("before", "after"):
        assert other["systems"][when]["1"]["rate"] < 0.08
        assert other["systems"][when]["20"]["rate"] < 0.3
    # A retriever that compares words needs no training.
    assert trained["systems"]["bm25"]["1"]["rate"] == other["systems"]["bm25"]["1"]["rate"] == 1.0
    # No name of the test was trained on.
    training, test = (read_questions(tmp_path / "out" / "questions" / part) for part in ("train", "test"))
    assert not {one.subject for one in training["P19"]} & {one.subject for one in test["P19"]}
    assert set(training) == {"P19"}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(
    world: Path, pair: dict[str, Any], tmp_path: Path
) -> None:
    made = {}
    for name, seed in (("one", 7), ("two", 7), ("three", 8)):
        train_and_save(plan(world, tmp_path / name, pair, seed=seed), lambda *_: None)
        made[name] = digests(tmp_path / name / "model-questions") | digests(tmp_path / name / "model-passages")
    assert made["one"] == made["two"]
    assert made["one"]["model.safetensors"] != made["three"]["model.safetensors"]


def test_training_questions_only_leaves_the_index_as_it_was(world: Path, pair: dict[str, Any], tmp_path: Path) -> None:
    train_and_save(plan(world, tmp_path / "out", pair, train="questions"), lambda *_: None)
    before = index_bytes(pair["model"], world, document_model=pair["document_model"], kind="dpr")
    assert index_bytes(str(tmp_path / "out"), world) == before
    trained = read_encoder_card(tmp_path / "out")
    assert trained is not None
    # The encoder of questions is another one.
    weights = (Path(trained.pairs[0].questions), Path(pair["model"]))
    assert len({file_digest(folder / "model.safetensors") for folder in weights}) == 2


def test_training_passages_only_changes_the_index_and_not_the_questions(
    world: Path, pair: dict[str, Any], tmp_path: Path
) -> None:
    train_and_save(plan(world, tmp_path / "out", pair, train="passages"), lambda *_: None)
    before = index_bytes(pair["model"], world, document_model=pair["document_model"], kind="dpr")
    assert index_bytes(str(tmp_path / "out"), world) != before
    kept = tmp_path / "out" / "base-questions" / "model.safetensors"
    assert file_digest(kept) == file_digest(Path(pair["model"]) / "model.safetensors")


def test_a_sentence_model_is_trained_as_one_and_the_retriever_loads_it(world: Path, tmp_path: Path) -> None:
    model = save_syllable_sentence_model(tmp_path / "model")
    training = train_encoder(plan(world, tmp_path / "out", {"model": str(model)}))
    card = read_encoder_card(tmp_path / "out")
    assert card is not None
    assert (card.kind, [Path(one.questions).name for one in card.pairs]) == ("sentence", ["model"])
    assert card.pairs[0].questions == card.pairs[0].passages
    assert index_bytes(str(tmp_path / "out"), world) != index_bytes(str(model), world)
    # What the retriever finds is what the training has measured.
    found = training.record.questions["trained"]
    assert set(found["systems"]) == {"before", "after", "bm25"}
    assert set(found["change"]) == {"1", "5", "20"}
    counts = training.record.split["amber"]
    assert counts["kept"] + counts["dropped_for_overlap"] == 20
    assert counts["kept"] > 0
    part = training.record.amber["human"]["qa"]
    assert part["sets"] == counts["kept"]
    # Both queries of a set have the same words and rank documents alike, so that one of them is right at most.
    assert part["systems"]["bm25"]["head"]["rate"] == 1.0
    assert part["systems"]["bm25"]["gap"]["difference"] == 1.0
    assert training.record.passages["after"]["same_relation"] is not None
    assert len(training.record.passages["after"]["places"]) == len(training.record.passages["items"])


def test_one_encoder_per_relation_takes_the_questions_of_its_pattern(
    world: Path, pair: dict[str, Any], tmp_path: Path
) -> None:
    given = plan(world, tmp_path / "out", pair, relations=(), per_relation=True, train="questions")
    card = train_and_save(given, lambda *_: None)
    assert [one.questions for one in card.pairs] == ["P176-questions", "P19-questions", "base-questions"]
    assert {one.passages for one in card.pairs} == {"base-passages"}
    retriever: Any = make_retriever("dense", {"model": str(tmp_path / "out"), "precision": "double"})
    retriever.open(open_collection(str(world)).documents(), {})
    asked = ["Where was Baka born?", "What is the birthplace of Baka?", "Who is Baka?"]
    alone = {}
    for name in ("P19-questions", "base-questions"):
        options = {"kind": "dpr", "model": str(tmp_path / "out" / name), "precision": "double"}
        options["document_model"] = str(tmp_path / "out" / "base-passages")
        other = make_retriever("dense", options)
        other.open(open_collection(str(world)).documents(), {})
        alone[name] = other.search([Query(str(n), text) for n, text in enumerate(asked)], 5)
    found = retriever.search([Query(str(n), text) for n, text in enumerate(asked)], 5)
    assert [found[0], found[1]] == alone["P19-questions"][:2]
    # A question of no pattern is encoded as before training.
    assert found[2] == alone["base-questions"][2]
    assert found[0] != alone["base-questions"][0]


def test_similar_patterns_are_trained_and_the_usual_ones_tested(
    world: Path, pair: dict[str, Any], tmp_path: Path
) -> None:
    given = plan(world, tmp_path / "out", pair, similar=True)
    assert all(one.text.startswith("What is the birthplace of ") for one in given.examples["P19"])
    assert all(one.question.question.startswith("Where was ") for one in given.split.test if one.relation == "P19")


def test_a_stopped_training_goes_on_with_what_is_saved(
    world: Path, pair: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    given: dict[str, Any] = {"relations": (), "per_relation": True, "train": "questions"}
    first = plan(world, out, pair, **given)
    train_and_save(first, lambda *_: None)
    saved = digests(out / "P19-questions")
    # The second encoder is gone, as if the training had been killed before it.
    shutil.rmtree(out / "P176-questions")
    with pytest.raises(InputError, match="is not finished"):
        read_training(out)
    trained = []

    def train_and_count(models: EncoderModels, examples: Any, *rest: Any) -> Any:
        trained.append(len(examples))
        return train_encoders(models, examples, *rest)

    monkeypatch.setattr("shadowprobe.training.saved_encoders.train_encoders", train_and_count)
    train_encoder(plan(world, out, pair, **given))
    assert len(trained) == 1
    assert digests(out / "P19-questions") == saved
    # A finished one is only read.
    again = train_encoder(plan(world, out, pair, **given))
    assert len(trained) == 1
    assert again.record.is_finished


def test_a_directory_of_another_training_is_refused(world: Path, pair: dict[str, Any], tmp_path: Path) -> None:
    begin_training(plan(world, tmp_path / "out", pair))
    with pytest.raises(UsageError, match="holds a training whose settings epochs is 1, not 2"):
        plan(world, tmp_path / "out", pair, epochs=2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    settings = TrainingSettings(collection=str(world), relations=("P19",), **pair, **SHORT)
    for force in (False, True):
        with pytest.raises(UsageError, match="is not empty, and holds no training"):
            plan_training(settings, tmp_path / "mine", force=force)
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_mixed_questions_are_trained_and_tested_apart(world: Path, pair: dict[str, Any], tmp_path: Path) -> None:
    split = plan(world, tmp_path / "first", pair).split
    leaking = split.test[0].subject
    items = [
        {
            "question": f"Which company is Lana{number} produced by?",
            "answers": ["Nasa"],
            "positive_ctxs": [{"title": f"Lana{number}", "text": "Made by Nasa."}],
            "hard_negative_ctxs": [{"title": "Other", "text": "Made by nobody."}],
        }
        for number in range(8)
    ]
    # In our own form, whose passages are in the collection; and one about an entity of the test.
    product = read_questions(world / "entity_questions" / "P176.test.json")["P176"][0]
    items += [{"question": product.question, "answers": list(product.answers)}] * 4
    items += [{"question": f"Who is {leaking}?", "answers": ["x"]}] * 8
    (tmp_path / "mix.json").write_text(json.dumps(items))
    training = train_encoder(plan(world, tmp_path / "out", pair, mix=str(tmp_path / "mix.json")))
    counts = training.record.split["mix"]
    assert counts["test"] == 5
    assert counts["examples"] + counts["names_a_test_subject"] + counts["without_passage"] == 15
    assert counts["names_a_test_subject"] >= 3
    assert training.record.questions["mix"]["n"] == 5
    record = read_record(tmp_path / "out")
    assert record is not None
    assert len(record.epochs["model"]) == 1
