"""A small collection with queries, a reader of a user and what it answers, all worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from retrieval_world import ANSWERED, amber_set, entity, write_collection, write_sets

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.query import Ranking
from shadowprobe.running.retrieving import RetrievalSettings, RetrievingTask
from shadowprobe.running.stored import score_stored

SCRIPT = '''
import time
from pathlib import Path

from shadowprobe import Failure
from shadowprobe.retrieval import Reader

# By the query and the first document that it gets.
SAID = {
    ("a1", "avon-river-1"): "the Naseby.",
    ("a1", "elbe"): "Cuxhaven",
    ("a2", "avon-ship"): "Genoa",
    ("a2", "como-ship"): "Millwall",
    ("b1", "berg-river"): "Western Cape river",
    ("b1", "berg-song"): "Lindgren",
    ("b2", "berg-song"): "by Anna Lindgren",
    ("d1", "dale-river"): "Yorkshire",
    ("f1", "avon-river-1"): "SUPPORTS",
    ("f2", "avon-ship"): "SUPPORTS",
    ("P19-0", "avon-river-1"): "Naseby",
    ("P19-1", "berg-song"): "a song",
    ("P20-0", "como-lake-b"): "The Como Lake!",
}


class Told(Reader):
    """Says what it was told to say, and writes down what it was asked."""

    name = "told"
    batch_size = 2

    def __init__(self, pause: float = 0.0, token: str = ""):
        self.pause, self.token = pause, token

    def read(self, queries):
        time.sleep(self.pause)
        with open("asked.txt", "a") as file:
            file.writelines(f"{query.id}\\n" for query in queries)
        return [self.say(query) for query in queries]

    def say(self, query):
        assert not query.answers and not query.gold and not query.found
        return SAID.get((query.id, query.documents[0].id), "nothing")


class NoClaims(Told):
    tasks = ("sf", "qa")


class Failing(Told):
    """Fails on a2 as long as no file is there that mends it."""

    def say(self, query):
        return Failure(query.id, "too hard") if query.id == "a2" and not Path("mended").exists() else super().say(query)


class Raising(Told):
    def say(self, query):
        raise RuntimeError("out of\\nmemory")


class NotStarting(Told):
    def setup(self):
        raise OSError("no weights")


class TooFew(Told):
    def read(self, queries):
        return super().read(queries)[1:]


class Numbers(Told):
    def say(self, query):
        return 7


class Clashing(Told):
    def __init__(self, documents: str = ""):
        self.documents = documents


class NoRead(Reader):
    pass
'''


def query(query_id: str, text: str, answers: list[str], *gold: str) -> dict[str, Any]:
    """A query of a set with its right answers."""
    pages = [{"wikipedia_id": one, "title": one} for one in gold]
    return {"id": query_id, "input": text, "output": {"answer": answers, "provenance": pages}}


# Of Avon the head is right and the tail wrong, Berg is a tie, and the tail of Dale has no document.
QUESTIONS = (
    amber_set(
        "Avon",
        entity(
            [query("a1", "Where does Avon rise?", ["near Naseby", "Naseby"], "avon-river")], "avon-river", head=True
        ),
        entity([query("a2", "Where was Avon built?", ["Millwall"], "avon-ship")], "avon-ship"),
    ),
    amber_set(
        "Berg",
        entity([query("b1", "Where is Berg?", ["Western Cape"], "berg-river")], "berg-river", head=True),
        entity([query("b2", "Who sings Berg?", ["Anna Lindgren"], "berg-song")], "berg-song"),
    ),
    amber_set(
        "Dale",
        entity([query("d1", "Where is Dale?", ["North Yorkshire"], "dale-river")], "dale-river", head=True),
        entity([query("d2", "Who built Dale?", ["Denny"], "dale-ship")], "dale-ship"),
    ),
)
CLAIMS = (
    amber_set(
        "Avon",
        entity([query("f1", "Avon rises near Naseby.", ["SUPPORTS"], "avon-river")], "avon-river", head=True),
        entity([query("f2", "Avon was built at Genoa.", ["REFUTES"], "avon-ship")], "avon-ship"),
    ),
)
# Rankings: a1, b2 (without a ranking) and d2 lack their right document; f1 and f2 have theirs.
FOUND = {
    "a1": ("elbe",),
    "a2": ("como-ship", "avon-ship"),
    "b1": ("berg-song", "berg-river"),
    "d1": ("dale-river",),
    "d2": ("elbe", "not-there"),
    "f1": ("avon-river-1",),
    "f2": ("avon-ship",),
    **ANSWERED,
}


def write_reading_world(directory: Path) -> None:
    """The collection `little`, the run `found` of a retriever over it, and the readers in `mine.py`."""
    write_collection(directory / "little")
    write_sets(directory / "little/amber/human/qa/amber_sets.jsonl", QUESTIONS)
    write_sets(directory / "little/amber/human/fc/amber_sets.jsonl", CLAIMS)
    rankings = directory / "rankings" / "told.jsonl"
    rankings.parent.mkdir()
    rankings.write_bytes(encode_lines(Ranking(one, tuple(documents)) for one, documents in FOUND.items()))
    task = RetrievingTask(str(directory / "little"), settings=RetrievalSettings(ks=(1, 2)))
    score_stored(task, rankings, out=directory / "found")
    (directory / "mine.py").write_text(SCRIPT)
