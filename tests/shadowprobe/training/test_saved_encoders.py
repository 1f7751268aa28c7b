"""Which encoders a training makes, on which examples, and in which folders."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from shadowprobe.systems.encoder_directory import EncoderPair
from shadowprobe.training.passages import Example
from shadowprobe.training.saved_encoders import Part, _name_pair, count_up, list_parts
from shadowprobe.training.settings import Trained, TrainingSettings

BORN, LOCATED, FOUND, MIXED = (Example(text, (text,), ()) for text in ("born", "located", "found", "mixed"))


def parts(*, per_relation: bool) -> list[Part]:
    plan: Any = SimpleNamespace(
        settings=TrainingSettings(per_relation=per_relation),
        examples={"P131": [LOCATED], "P19": [BORN], "P276": [FOUND]},
        mix=SimpleNamespace(examples=[MIXED]),
    )
    return list_parts(plan)


def test_one_pair_of_encoders_takes_all_examples() -> None:
    assert parts(per_relation=False) == [Part("model", [LOCATED, BORN, FOUND, MIXED])]


def test_relations_whose_questions_look_alike_share_a_pair_and_each_pair_gets_the_mix() -> None:
    located, born = parts(per_relation=True)
    # Both ask "Where is [E] located?".
    assert (located.name, located.examples) == ("P131-P276", [LOCATED, FOUND, MIXED])
    assert located.patterns == (
        "Where is [E] located?",
        "In which district or region does [E] lie?",
        "In what place can one find [E]?",
    )
    assert (born.name, born.examples) == ("P19", [BORN, MIXED])
    assert born.patterns == ("Where was [E] born?", "What is the birthplace of [E]?")


@pytest.mark.parametrize(
    ("train", "document_model", "folders"),
    [
        ("both", "", ("P19", "P19")),
        ("both", "other", ("P19-questions", "P19-passages")),
        ("questions", "", ("P19-questions", "base-passages")),
        ("passages", "", ("base-questions", "P19-passages")),
    ],
)
def test_what_is_not_trained_is_in_a_folder_for_all_pairs(
    train: Trained, document_model: str, folders: tuple[str, str]
) -> None:
    settings = TrainingSettings(train=train, document_model=document_model)
    assert _name_pair(Part("P19", [], ("pattern",)), settings) == EncoderPair(*folders, ("pattern",))


def test_progress_is_reported_as_a_sum() -> None:
    steps: list[tuple[str, int, int | None]] = []
    advance = count_up(lambda *step: steps.append(step), "training", 9)
    advance(2)
    advance(5)
    assert steps == [("training", 2, 9), ("training", 7, 9)]
