"""The passages of training questions: about the subject and with the answer; negatives without an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from retrieval_world import write_documents

from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Document
from shadowprobe.training.passages import Asked, PassageFinder

DOCUMENTS = [
    Document("river", "Avon", "A river that rises near Naseby."),
    Document("ship", "Avon (ship)", "A ship that was built in Millwall."),
    Document("list", "Ships of Millwall", "The Avon and the Severn were built in Millwall."),
    Document("other", "Severn (ship)", "Another ship, built in Hull."),
]


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return open_collection(str(write_documents(tmp_path / "documents.jsonl", DOCUMENTS)))


@pytest.mark.parametrize(
    ("subject", "answer", "positives"),
    [
        ("Avon", "Naseby", ("river",)),
        # The title is the same without its qualifier.
        ("Avon", "Millwall", ("ship",)),
        # No title is this, but a text has the name.
        ("Severn", "Millwall", ("list",)),
        (None, "Millwall", ("ship", "list")),
    ],
)
def test_a_passage_is_about_the_subject_and_has_the_answer(
    collection: Collection, subject: str | None, answer: str, positives: tuple[str, ...]
) -> None:
    asked = Asked(f"Where was {subject or 'a ship'} built?", (answer,), subject)
    (example,) = PassageFinder(collection).find([asked], 2)
    assert example is not None
    assert set(example.positives) == set(positives)
    answering = {document.id for document in DOCUMENTS if answer in document.text}
    assert not answering & set(example.negatives)


def test_negatives_are_what_bm25_finds_without_an_answer(collection: Collection) -> None:
    (example,) = PassageFinder(collection).find([Asked("Which ship is the Avon?", ("Millwall",), "Avon")], 2)
    assert example is not None
    # The river is named so, the other one is a ship too.
    assert set(example.negatives) == {"river", "other"}


def test_a_question_without_such_a_passage_has_none(collection: Collection) -> None:
    assert PassageFinder(collection).find([Asked("Where is Avon?", ("Peru",), "Avon")], 1) == [None]
