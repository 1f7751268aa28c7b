"""A small collection with AmbER sets and entity questions, and rankings for them, all worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from shadowprobe import Failure
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.measure.rankings import Rankings, look_up
from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Document, Hit, Query, Ranking
from shadowprobe.systems.retriever import Retriever

# The river Avon is an article of two passages, Lake Como one entity of two articles; the ship Dale has none at all.
DOCUMENTS = (
    Document("avon-river-1", "Avon (river)", "The Avon is a river that rises near Naseby.", page="avon-river"),
    Document("avon-river-2", "Avon (river)", "It ends in the Severn at Tewkesbury.", page="avon-river"),
    Document("avon-ship", "Avon (ship)", "A packet ship built at Millwall."),
    Document("berg-river", "Berg (river)", "A river of the Western Cape."),
    Document("berg-song", "Berg (song)", "A song by Lindgren, on the label Polar."),
    Document("como-lake-a", "Lake Como", "A lake of Lombardy, fed by the Adda."),
    Document("como-lake-b", "Como Lake", "Another article on the same lake, fed by the Mera."),
    Document("como-ship", "Como (ship)", "A steamer built at Genoa."),
    Document("dale-river", "Dale (river)", "A short river of Yorkshire."),
    Document("elbe", "Elbe", "A river that ends at Cuxhaven."),
)


def entity(
    queries: Sequence[dict[str, Any]], *documents: str, head: bool = False, popularity: float | None = None
) -> Any:
    """An entity of a set as the release writes it."""
    pages = [{"wikipedia_id": one, "title": one} for one in documents]
    found: dict[str, Any] = {"is_head": head, "wikipedia": pages, "queries": list(queries)}
    return found if popularity is None else {**found, "popularity": popularity}


def query(query_id: str, text: str, *gold: str) -> dict[str, Any]:
    """A query of a set as the release writes it."""
    values = {"values": ["it"], "additional_values": []}
    pages = [{"wikipedia_id": one, "title": one} for one in gold]
    return {
        "id": query_id,
        "input": text,
        "output": {"answer": ["it"], "provenance": pages, "meta": values},
        "meta": {"pid": "P0"},
    }


def amber_set(name: str, *entities: Any) -> dict[str, Any]:
    """A set as the release writes it."""
    return {"name": name, "qids": {f"Q{number}": each for number, each in enumerate(entities, start=1)}}


# Gaps of popularity: Avon (6 - 5) / 5 = 20%, Berg (4 - 2) / 2 = 100%, Como unknown, Dale (3 - 2.5) / 2.5 = 20%.
SETS = (
    amber_set(
        "Avon",
        entity([query("a1", "Where does Avon rise?", "avon-river")], "avon-river", head=True, popularity=6.0),
        entity(
            [query("a2", "Who built Avon?", "avon-ship"), query("a3", "What sort of ship was Avon?", "avon-ship")],
            "avon-ship",
            popularity=5.0,
        ),
    ),
    amber_set(
        "Berg",
        entity([query("b1", "Where is Berg?", "berg-river")], "berg-river", head=True, popularity=4.0),
        entity([query("b2", "Who sings Berg?", "berg-song")], "berg-song", popularity=2.0),
    ),
    amber_set(
        "Como",
        entity(
            [query("c1", "What feeds Como?", "como-lake-a", "como-lake-b")],
            "como-lake-a",
            "como-lake-b",
            head=True,
            popularity=3.0,
        ),
        entity([query("c2", "Who built Como?", "como-ship")], "como-ship"),
    ),
    amber_set(
        "Dale",
        entity([query("d1", "Where is Dale?", "dale-river")], "dale-river", head=True, popularity=3.0),
        entity([query("d2", "Who built Dale?", "dale-ship")], "dale-ship", popularity=2.5),
    ),
)
# What a retriever found, passage by passage; d1 has no ranking.
FOUND = {
    # Right: both passages are of the river.
    "a1": ("avon-river-2", "avon-river-1", "avon-ship"),
    # The head's document before the tail's: second, and after two passages of one article second too.
    "a2": ("avon-river-1", "avon-ship"),
    "a3": ("avon-river-1", "avon-river-2", "avon-ship"),
    # A tie of scores, which came out for the namesake.
    "b1": ("berg-song", "berg-river"),
    "b2": ("berg-song",),
    # Either of the two gold documents will do.
    "c1": ("como-lake-b", "como-ship"),
    "c2": ("elbe", "como-lake-a", "como-lake-b", "como-ship"),
    # Its gold document is not in the collection.
    "d2": ("elbe",),
}
QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "P19": [
        {"question": "Where was Avon born?", "answers": ["Tewkesbury", "Naseby"]},
        {"question": "Where was Berg born?", "answers": ["western cape"]},
        {"question": "Where was Elbe born?", "answers": ["Cuxhaven"]},
    ],
    "P20": [{"question": "Where did Como die?", "answers": ["Como Lake"]}],
}
# The first answers at once, the second at the second place, the third is without a ranking; the fourth by its title.
ANSWERED = {
    "P19-0": ("avon-river-1",),
    "P19-1": ("berg-song", "berg-river"),
    "P20-0": ("como-lake-b",),
}


def write_sets(path: Path, sets: Iterable[Mapping[str, Any]] = SETS) -> Path:
    """Sets as a file of the release."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_lines(sets))
    return path


def write_questions(folder: Path, questions: Mapping[str, Sequence[Mapping[str, Any]]] = QUESTIONS) -> Path:
    """Questions as the files of the release."""
    folder.mkdir(parents=True, exist_ok=True)
    for relation, many in questions.items():
        (folder / f"{relation}.test.json").write_text(json.dumps(many), encoding="utf-8")
    return folder


def write_documents(path: Path, documents: Iterable[Document] = DOCUMENTS) -> Path:
    """Documents as a file of our own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_lines(documents))
    return path


def write_collection(directory: Path) -> Collection:
    """The documents, the sets and the questions as the directory of a collection."""
    write_documents(directory / "documents.jsonl")
    write_sets(directory / "amber" / "human" / "qa" / "amber_sets.jsonl")
    write_questions(directory / "entity_questions")
    (directory / "collection.json").write_text('{"name": "little"}')
    return open_collection(str(directory))


def as_kilt(ranking: Ranking) -> dict[str, Any]:
    """A ranking in KILT's form of predictions."""
    return {"id": ranking.id, "output": {"provenance": [{"wikipedia_id": found} for found in ranking.documents]}}


def rankings_of(
    collection: Collection, found: Mapping[str, Sequence[str]], ks: tuple[int, ...] = (1, 2), **more: Any
) -> Rankings:
    """Rankings as a run hands them to a probe."""
    listed = [Ranking(query_id, tuple(documents)) for query_id, documents in found.items()]
    pages = look_up(collection, {one for documents in found.values() for one in documents}).pages
    return Rankings(collection, listed, depth=more.pop("depth", 100), ks=ks, pages=pages, **more)


def search(retriever: Retriever, queries: Sequence[Query], k: int) -> list[list[Hit]]:
    """What a retriever finds for queries on none of which it fails."""
    found = retriever.search(queries, k)
    assert not any(hits is None or isinstance(hits, Failure) for hits in found)
    return [list(hits) for hits in found if isinstance(hits, Sequence)]
