"""Documents about one name, from the names of a dataset or from titles."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation_world import DOCUMENTS, names
from world import write_world

from shadowprobe import UsageError
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Document
from shadowprobe.sets.name_documents import NameDocuments, gather_names


def collection(directory: Path, *documents: Document) -> Collection:
    path = directory / "documents.jsonl"
    path.write_bytes(encode_lines(documents))
    return Collection("documents", path)


def titles(found: list[NameDocuments]) -> dict[str, list[str]]:
    return {one.name: [document.title for document in one.documents] for one in found}


def test_titles_that_differ_in_their_qualifier_share_a_name(tmp_path: Path) -> None:
    one = [Document("1", "Avon (river)", "Water."), Document("2", "Bath", "A town."), Document("3", "Avon", "Soap.")]
    found = gather_names(None, collection(tmp_path, *one, Document("4", "Avon, Ohio", "A town.")))
    assert titles(found.names) == {"Avon": ["Avon (river)", "Avon", "Avon, Ohio"]}


def test_of_several_documents_with_a_title_the_first_that_has_a_text_counts(tmp_path: Path) -> None:
    passages = [
        Document("1", "Avon (river)", " "),
        Document("2", "Avon (river)", "First."),
        Document("3", "Avon", "S."),
    ]
    (avon,) = gather_names(None, collection(tmp_path, *passages, Document("4", "Avon (river)", "Second."))).names
    assert [document.id for document in avon.documents] == ["2", "3"]


def test_a_title_with_a_line_break_is_left_out(tmp_path: Path) -> None:
    odd = [Document("1", "Avon\n(river)", "Water."), Document("2", "Avon (ship)", "Wood."), Document("3", "Avon", "S.")]
    assert titles(gather_names(None, collection(tmp_path, *odd)).names) == {"Avon": ["Avon (ship)", "Avon"]}
    broken = [Document(str(number), f"Old\nAvon ({kind})", "Text.") for number, kind in enumerate(("river", "ship"))]
    empty = [Document("7", " ", "Text."), Document("8", "  ", "Text."), Document("9", "(river)", "T")]
    assert gather_names(None, collection(tmp_path, *broken, *empty)).names == []


def test_the_names_of_a_dataset_find_their_documents_by_title(tmp_path: Path) -> None:
    dataset = write_world(tmp_path / "world")
    found = gather_names(dataset, collection(tmp_path, Document("7", "Avon (ship)", "A ship."), *DOCUMENTS[:1]))
    # In the order of the dataset; the other names have no document.
    assert titles(found.names)["Avon"] == ["Avon (river)", "Avon (ship)"]
    assert sum(map(len, titles(found.names).values())) == 2
    with pytest.raises(UsageError, match="`documents` has no document with the title of an entity of `world`"):
        gather_names(dataset, collection(tmp_path, Document("1", "Zwin", "Water.")))


def test_the_descriptions_of_a_dataset_are_documents(tmp_path: Path) -> None:
    found = gather_names(write_world(tmp_path / "world"), None)
    avon = found.names[0]
    assert (avon.name, [document.text for document in avon.documents]) == (
        "Avon",
        ["Fresh water that runs to the sea.", "Vessel with a crew and masts."],
    )
    assert found.collection == {"name": "world", "digest": found.described["digest"]}


def test_only_the_first_names_documents_and_words_are_used(tmp_path: Path) -> None:
    found = gather_names(None, collection(tmp_path, *DOCUMENTS), documents=2, words=4, limit=2)
    assert titles(found.names) == {"Avon": ["Avon (river)", "Avon (ship)"], "Berg": ["Berg (river)", "Berg (ship)"]}
    assert found.names[0].documents[0].text == "The Avon is a"
    assert (found.described["documents"], found.described["words"]) == (2, 4)


def test_names_with_one_document_are_seen_and_do_not_count_towards_the_limit(tmp_path: Path) -> None:
    dataset = write_world(tmp_path / "world")
    found = gather_names(dataset, collection(tmp_path, *DOCUMENTS), limit=1)
    assert [one.is_shared for one in found.names].count(True) == 1


def test_a_collection_without_namesakes_has_no_names(tmp_path: Path) -> None:
    assert gather_names(None, collection(tmp_path, *DOCUMENTS)).names == names()
    assert gather_names(None, collection(tmp_path, *DOCUMENTS[:1])).names == []
