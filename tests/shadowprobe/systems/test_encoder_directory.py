"""A directory of trained encoders: which pair takes which question, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import InputError, LinkerError
from shadowprobe.plugins import make_retriever
from shadowprobe.systems.encoder_directory import (
    EncoderCard,
    EncoderPair,
    choose_pair,
    read_encoder_card,
    write_encoder_card,
)

BORN = EncoderPair("born", "all", ("Where was [E] born?", "What is the birthplace of [E]?"))
REST = EncoderPair("rest", "all")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in ("born", "rest", "all"):
        (tmp_path / name).mkdir()
    write_encoder_card(tmp_path, EncoderCard("dpr", (BORN, REST)))
    return tmp_path


def test_folders_are_found_inside_the_directory(directory: Path) -> None:
    card = read_encoder_card(directory)
    assert card is not None
    assert card.kind == "dpr"
    assert [Path(pair.questions) for pair in card.pairs] == [directory / "born", directory / "rest"]
    assert card.pairs[0].patterns == BORN.patterns


def test_another_model_has_no_such_card(tmp_path: Path) -> None:
    assert read_encoder_card(tmp_path) is None


@pytest.mark.parametrize(
    ("question", "number"),
    [("Where was Ada born?", 0), ("What is the birthplace of Ada?", 0), ("Where did Ada die?", 1), ("Ada", 1)],
)
def test_the_pattern_of_a_question_chooses_its_pair(question: str, number: int) -> None:
    assert choose_pair((BORN, REST), question) == number


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ((BORN,), "has no pair without patterns at its end"),
        ((), "has no pair without patterns at its end"),
        ((EncoderPair("../born", "all"),), "names the folder '../born', which is not in the directory"),
        ((EncoderPair("gone", "all"),), "names the folder 'gone', which is not in the directory"),
    ],
)
def test_a_card_with_a_fault_is_refused(directory: Path, pairs: tuple[EncoderPair, ...], words: str) -> None:
    write_encoder_card(directory, EncoderCard("dpr", pairs))
    with pytest.raises(InputError, match=words):
        read_encoder_card(directory)


def test_a_trained_directory_has_its_own_encoder_of_documents(directory: Path) -> None:
    retriever = make_retriever("dense", {"model": str(directory), "document_model": "other"})
    with pytest.raises(LinkerError, match="has its own encoder of documents; leave document_model out"):
        retriever.open([], {})
    # It says itself what kind of encoders it has.
    make_retriever("dense", {"model": str(directory), "kind": "dpr"})
