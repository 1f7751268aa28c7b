"""Samples for the user studies of AmbER and AmbigDocs, and answers to them, all worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from retrieval_world import amber_set, entity, write_documents, write_sets

from shadowprobe.human_study.amber_sample import AmberItem, AmberKey
from shadowprobe.human_study.annotations import Annotations, ItemChoice
from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Document

# Three people and three things that share a name. The lake is an article of two passages.
DOCUMENTS = (
    Document("ada-poet", "Ada Reed (poet)", "Ada Reed 🎉 was a poët, born in Porthgain by the sea."),
    Document("ada-judge", "Ada Reed (judge)", "Ada Reed was a judge. She worked in Leeds."),
    Document("ada-diver", "Ada Reed (diver)", "Ada Reed was a diver, and lived in Bangor."),
    Document("tarn-lake-1", "Tarn (lake)", "The Tarn is a lake.", page="tarn-lake"),
    Document("tarn-lake-2", "Tarn (lake)", "It is moved by the north wind.", page="tarn-lake"),
    Document("tarn-ship", "Tarn (ship)", "The Tarn was a ship, built of oak\r\nand lost in the old harbour."),
    Document("tarn-play", "Tarn (play)", "The Tarn is a play in three acts."),
    Document("bo-river", "Bo (river)", "The Bo is a river."),
    Document("bo-song", "Bo (song)", "Bo is a song."),
)


def question(query_id: str, text: str, answers: list[str], gold: str) -> dict[str, Any]:
    """A question of a set as the release writes it."""
    output = {"answer": answers, "provenance": [{"wikipedia_id": gold, "title": gold}]}
    return {"id": query_id, "input": text, "output": output}


PEOPLE = (
    amber_set(
        "Ada Reed",
        entity([question("p1", "Where was Ada Reed born?", ["Porthgain"], "ada-poet")], "ada-poet", head=True),
        entity([question("p2", "Where did Ada Reed work?", ["Leeds", "York"], "ada-judge")], "ada-judge"),
        entity([], "ada-diver"),
    ),
)
# Nobody has the fourth Tarn's document, and there are only two called Bo.
THINGS = (
    amber_set(
        "Tarn",
        entity([question("t1", "What moves Tarn?", ["north wind"], "tarn-lake")], "tarn-lake", head=True),
        entity(
            [
                question("t2", "What was Tarn built of?", ["oak"], "tarn-ship"),
                question("t3", "Where was Tarn lost?", ["old harbour"], "tarn-ship"),
            ],
            "tarn-ship",
        ),
        entity([], "tarn-play"),
        entity([question("t4", "Who owns Tarn?", ["Lee"], "tarn-farm")], "tarn-farm"),
    ),
    amber_set(
        "Bo",
        entity([question("b1", "Where is Bo?", ["Wales"], "bo-river")], "bo-river", head=True),
        entity([question("b2", "Who sings Bo?", ["Lee"], "bo-song")], "bo-song"),
    ),
)
# For t2 none of the three documents is there, and t3 has no ranking; t1 names a passage.
RANKED = {
    "p1": ("elsewhere", "ada-poet", "ada-judge"),
    "p2": ("ada-diver", "ada-judge"),
    "t1": ("tarn-lake-2", "tarn-ship"),
    "t2": ("bo-river",),
}


def write_trio(directory: Path) -> Collection:
    """The documents and the sets as the directory of a collection."""
    write_documents(directory / "documents.jsonl", DOCUMENTS)
    write_sets(directory / "amber" / "human" / "qa" / "amber_sets.jsonl", PEOPLE)
    write_sets(directory / "amber" / "nonhuman" / "qa" / "amber_sets.jsonl", THINGS)
    (directory / "collection.json").write_text('{"name": "trio"}')
    return open_collection(str(directory))


def mark(item: AmberItem, document: str, text: str | None = None) -> ItemChoice:
    """The choice of a document by its id, and the first place of a text in it as marked."""
    number = next(place for place, one in enumerate(item.documents, start=1) if one.id == document)
    if text is None:
        return ItemChoice(item.item, number)
    start = item.documents[number - 1].text.index(text)
    return ItemChoice(item.item, number, start, start + len(text), text)


def annotate(key: AmberKey, name: str, given: Mapping[str, tuple[str, str | None]]) -> Annotations:
    """The answers of an annotator by the ids of the questions: the document, and what is marked in it."""
    items = {item.id: item for item in key.items}
    return Annotations(key.sample, name, tuple(mark(items[one], *answer) for one, answer in given.items()))


# Ann always has the right document. She marks nothing for p2, too much for t2, and an article more for t3.
ANN: dict[str, tuple[str, str | None]] = {
    "p1": ("ada-poet", "Porthgain"),
    "p2": ("ada-judge", None),
    "t1": ("tarn-lake", "north wind"),
    "t2": ("tarn-ship", "built of oak"),
    "t3": ("tarn-ship", "the old harbour"),
}
# Bob does not answer t2. He has the wrong documents for p2 and t3, and too little for t1.
BOB: dict[str, tuple[str, str | None]] = {
    "p1": ("ada-poet", "Porthgain"),
    "p2": ("ada-diver", "Bangor"),
    "t1": ("tarn-lake", "north"),
    "t3": ("tarn-play", "three acts"),
}
