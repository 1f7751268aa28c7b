"""The loss of a batch, worked out by hand; and what it must not do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from shadowprobe.queries.query import Document
from shadowprobe.training.loop import EncoderModels, _Loop, count_steps, repeat_exactly, train_encoders
from shadowprobe.training.passages import Example
from shadowprobe.training.settings import Trained, TrainingSettings
from shadowprobe.training.trainable import TrainableEncoder

torch: Any = pytest.importorskip("torch", reason="the extra [dense] is not installed", exc_type=ImportError)

DOCUMENTS = {name: Document(name, "", name) for name in ("a", "b", "c")}


class Lookup(TrainableEncoder):
    """A vector for each text, which is a weight."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.names = list(vectors)
        self.module = torch.nn.Embedding.from_pretrained(torch.tensor(list(vectors.values())), freeze=False)

    def encode_questions(self, texts: Sequence[str]) -> Any:
        return self.module(torch.tensor([self.names.index(text) for text in texts]))

    def encode_passages(self, documents: Sequence[Document]) -> Any:
        return self.encode_questions([document.text for document in documents])


def make_models() -> EncoderModels:
    questions = Lookup({"who": [1.0, 0.0], "where": [0.0, 1.0]})
    return EncoderModels(questions, Lookup({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 1.0]}))


def run(examples: Sequence[Example], train: Trained = "both", **more: Any) -> tuple[EncoderModels, Any]:
    models = make_models()
    settings = TrainingSettings(epochs=1, learning_rate=0.1, batch_size=8, train=train, **more)
    return models, train_encoders(models, examples, DOCUMENTS, settings, lambda _: None)


def test_the_loss_is_that_of_the_own_passage_among_all_of_the_batch() -> None:
    _, (epoch,) = run([Example("who", ("a",), ("c",)), Example("where", ("b",), ())])
    # Scores of `who`: 1, 0 and 1 for a, b and c; of `where`: 0, 1 and 1.
    assert epoch.loss == pytest.approx(-math.log(math.e / (2 * math.e + 1)), abs=1e-6)


def test_another_passage_that_answers_the_question_is_no_negative() -> None:
    _, (epoch,) = run([Example("who", ("a", "b"), ()), Example("where", ("b",), ())])
    # For `who` only its own passage is left, whose loss is 0; `where` scores 0 and 1.
    assert epoch.loss == pytest.approx(-math.log(math.e / (math.e + 1)) / 2, abs=1e-6)


@pytest.mark.parametrize("train", ["both", "questions", "passages"])
def test_only_the_chosen_encoder_changes(train: Trained) -> None:
    models, _ = run([Example("who", ("a",), ("c",)), Example("where", ("b",), ())], train)
    fresh = make_models()
    changed = {
        side: not torch.equal(getattr(models, side).module.weight, getattr(fresh, side).module.weight)
        for side in ("questions", "passages")
    }
    assert changed == {"questions": train != "passages", "passages": train != "questions"}


def test_the_state_of_pytorch_is_as_before() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with repeat_exactly(1):
        torch.rand(5)
        assert torch.are_deterministic_algorithms_enabled()
    assert torch.equal(torch.rand(2), expected)
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_last_batch_may_be_smaller() -> None:
    assert count_steps(25, TrainingSettings(epochs=2, batch_size=24)) == 4


def test_an_epoch_is_the_mean_over_its_questions_in_batches_of_any_size() -> None:
    models, steps = make_models(), list[int]()
    # `who` scores 1 for its own passage and 0 for the other; `where` scores 0 and 1. The third has no other passage.
    examples = [Example("who", ("a",), ("b",)), Example("where", ("a",), ("b",)), Example("who", ("a",), ())]
    settings = TrainingSettings(epochs=2, learning_rate=1e-9, batch_size=1)
    epochs = train_encoders(models, examples, DOCUMENTS, settings, steps.append)
    right, wrong = math.log(1 + 1 / math.e), math.log(1 + math.e)
    for epoch in epochs:
        assert epoch.loss == pytest.approx((right + wrong) / 3, abs=1e-5)
        assert epoch.accuracy == pytest.approx(2 / 3)
    assert (len(epochs), steps) == (2, [1] * 6)
    assert not models.questions.module.training
    assert not models.passages.module.training


def test_the_learning_rate_rises_in_a_tenth_of_the_steps_and_falls_to_zero_in_the_others() -> None:
    # 20 examples in batches of one: two steps rise, and eighteen fall.
    examples = [Example("who", ("a",), ("b",))] * 20
    loop = _Loop(make_models(), examples, DOCUMENTS, TrainingSettings(epochs=1, batch_size=1))
    rates = [loop._scale_rate(step) for step in (0, 1, 2, 11, 19, 20, 21)]
    assert rates == pytest.approx([1 / 2, 1, 1, 1 / 2, 1 / 18, 0, 0])
    # A single step is made at the full rate.
    loop = _Loop(make_models(), examples[:1], DOCUMENTS, TrainingSettings(epochs=1, batch_size=1))
    assert [loop._scale_rate(step) for step in (0, 1)] == [1, 0]
