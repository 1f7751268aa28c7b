"""The lower and the upper reference: the first sentence, and the right answer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from shadowprobe.plugins import make_reader
from shadowprobe.retrieval import Document, ReaderQuery

# By their names, since type checkers do not see where the folder is installed.
first_sentence: Any = import_module("shadowprobe.readers.first_sentence")
oracle_answer: Any = import_module("shadowprobe.readers.oracle_answer")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("The Avon is a river. It ends here.", "The Avon is a river."),
        # The stop of an initial ends nothing.
        ("W. G. Sebald wrote it. He lived in Norwich.", "W. G. Sebald wrote it."),
        ("Version 1.525 is out! More.", "Version 1.525 is out!"),
        ("no end at all", "no end at all"),
        ("", ""),
    ],
)
def test_the_first_sentence_is_cut_at_its_stop(text: str, sentence: str) -> None:
    document = Document("d", "Title", text)
    query = ReaderQuery("q", "What?", task="qa", documents=(document, Document("e", "E", "Another one.")))
    assert make_reader("first-sentence").read([query]) == [sentence]


def test_every_claim_is_true_to_the_lower_reference() -> None:
    query = ReaderQuery("q", "So.", task="fc", labels=("SUPPORTS", "REFUTES"), documents=(Document("d", "T", "Text."),))
    assert make_reader("first-sentence").read([query]) == ["SUPPORTS"]


def test_the_upper_reference_gives_the_first_right_answer_or_only_what_is_found() -> None:
    lost = ReaderQuery("q", "What?", task="qa", answers=("one", "two"))
    found = ReaderQuery("r", "What?", task="qa", answers=("three",), found=True)
    assert oracle_answer.OracleAnswerReader().read([lost, found]) == ["one", "three"]
    assert make_reader("oracle-answer", {"only_found": "true"}).read([lost, found]) == ["", "three"]
