"""The documents that a reader is given, from a small collection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import InputError, UsageError
from shadowprobe.base.files import file_digest
from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Document, ReaderQuery
from shadowprobe.running.document_source import is_found, open_source

DOCUMENTS = [
    {"id": "avon-1", "title": "Avon", "text": "A river.", "page": "avon"},
    {"id": "avon-2", "title": "Avon", "text": "It is long.", "page": "avon"},
    {"id": "exe", "title": "Exe", "text": "Another river."},
]


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collection:
    monkeypatch.chdir(tmp_path)
    Path("documents.jsonl").write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS))
    return open_collection("documents.jsonl")


def query(name: str, *gold: str, **more: Any) -> ReaderQuery:
    return ReaderQuery(name, "What is it?", task="qa", gold=frozenset(gold), **more)


def write_rankings(path: Path, **found: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ({"id": name, "documents": documents} for name, documents in found.items())
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def ids(given: dict[str, ReaderQuery]) -> dict[str, list[str]]:
    return {name: [document.id for document in one.documents] for name, one in given.items()}


def test_the_right_documents_are_an_article_with_all_its_passages(collection: Collection) -> None:
    source = open_source("oracle")
    assert (source.name, source.label, source.described) == ("oracle", "oracle", {"source": "oracle"})
    handed, lacking = source.hand_out(
        [query("a", "avon"), query("b", "exe", "avon-2"), query("c", "lost"), query("d")], collection
    )
    assert ids(handed) == {"a": ["avon-1", "avon-2"], "b": ["avon-2", "exe"], "c": [], "d": []}
    assert {name: one.found for name, one in handed.items()} == {"a": True, "b": True, "c": False, "d": False}
    # One document that is wanted is not there.
    assert lacking == 1


def test_the_first_documents_of_a_ranking_are_given_each_once(collection: Collection) -> None:
    path = write_rankings(Path("bm25.jsonl"), a=["exe", "exe", "avon-2", "avon-1"], b=["lost"])
    # A document that is ranked again is ranked once.
    source = open_source(str(path), k=2)
    assert source.described == {"source": "bm25", "digest": file_digest(path), "k": 2}
    assert (source.name, source.label) == ("bm25", "bm25@2")
    handed, lacking = source.hand_out([query("a", "avon"), query("b", "exe"), query("c", "exe")], collection)
    assert ids(handed) == {"a": ["exe", "avon-2"], "b": [], "c": []}
    assert [one.found for one in handed.values()] == [True, False, False]
    assert lacking == 1
    # The id of an article is none of a passage, which a ranking names.
    articles = open_source(str(write_rankings(Path("articles.jsonl"), a=["avon"])))
    assert ids(articles.hand_out([query("a", "avon")], collection)[0]) == {"a": []}
    assert articles.label == "articles@20"


def test_a_document_with_an_answer_is_right_where_no_document_is_named() -> None:
    document = Document("x", "Avon", "A river of Wiltshire.")
    assert is_found(query("a", answers=("wiltshire",)), [document])
    assert is_found(query("a", answers=("Avon",)), [document])
    assert not is_found(query("a", answers=("Kent",)), [document])
    # Where one is named, the words do not count.
    assert not is_found(query("a", "other", answers=("wiltshire",)), [document])
    assert is_found(query("a", "x"), [document])


def write_run(path: Path, depth: int) -> Path:
    write_rankings(path / "rankings.jsonl", a=["exe"])
    card = {
        "retriever": {"name": "dense", "version": "1", "options": {}},
        "collection": {"name": "little", "digest": "1"},
        "queries": {"amber": "2"},
        "depth": depth,
        "shadowprobe": "1",
    }
    (path / "run.json").write_text(json.dumps(card))
    return path


@pytest.mark.usefixtures("collection")
def test_a_run_has_its_name_and_at_least_as_many_documents_as_are_read() -> None:
    assert open_source(str(write_run(Path("runs/a"), 20))).label == "dense@20"
    with pytest.raises(UsageError) as refused:
        open_source("runs/a", k=21)
    assert str(refused.value) == "--k 21: runs/a has only 20 documents for each query (`retrieve --depth`)"


@pytest.mark.usefixtures("collection")
def test_what_has_no_documents_is_refused() -> None:
    Path("empty").mkdir()
    for documents in ("", "nowhere"):
        with pytest.raises(UsageError, match=f"--documents {documents}: is neither `oracle` nor a run;"):
            open_source(documents)
    with pytest.raises(InputError, match=r"empty: has no rankings\.jsonl: --documents is `oracle` or a run"):
        open_source("empty")
    with pytest.raises(InputError, match=r"none\.jsonl: has no ranking"):
        open_source(str(write_rankings(Path("none.jsonl"))))
