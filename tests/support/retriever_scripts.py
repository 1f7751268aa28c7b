"""Retrievers of a user, as files: one that writes down what it is asked, and others that go wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shadowprobe.running.job import FinishedJob, Job
from shadowprobe.running.retrieving import RetrievalSettings, RetrievingTask, make_retrieving_job

# Where their runs are.
OUT = Path("run")
SCRIPT = '''
import math
import sys
import time
from pathlib import Path

from shadowprobe import LinkerError
from shadowprobe.retrieval import Hit, Retriever


class Telling(Retriever):
    """The documents in the order of the file, for every query; it writes down what it was asked."""

    name = "telling"
    batch_size = 2

    def __init__(self, last: str = "", pause: float = 0.0, api_token: str = "", table: Path | None = None) -> None:
        self.last, self.pause, self.api_token, self.table = last, pause, api_token, table

    def index(self, documents):
        self.ids = [document.id for document in documents]

    def search(self, queries, k):
        time.sleep(self.pause)
        with open("asked.txt", "a") as file:
            file.writelines(f"{query.id}\\n" for query in queries)
        return [self.found(query, k) for query in queries]

    def found(self, query, k):
        if query.id == self.last:
            self.on_last()
        return [Hit(document, 1 / place) for place, document in enumerate(self.ids[:k], start=1)]

    def on_last(self):
        raise KeyboardInterrupt


class Noting(Telling):
    """Says something about the first query."""

    def found(self, query, k):
        if query.id == "a1":
            self.note("the first query was strange")
        return super().found(query, k)


class Failing(Telling):
    """Fails on the query a2 as long as no file is there that mends it."""

    def found(self, query, k):
        return None if query.id == "a2" and not Path("mended").exists() else super().found(query, k)


class Raising(Telling):
    def found(self, query, k):
        raise RuntimeError("out of\\nmemory")


class Leaving(Telling):
    def found(self, query, k):
        sys.exit("no licence")


class NotStarting(Telling):
    def index(self, documents):
        raise LinkerError("the model is not there")


class TooFew(Telling):
    def search(self, queries, k):
        return super().search(queries, k)[1:]


class TooMany(Telling):
    def found(self, query, k):
        return super().found(query, k + 1)


class Twice(Telling):
    def found(self, query, k):
        return super().found(query, 1) * 2


class Nothing(Telling):
    def found(self, query, k):
        return []


class Clinging(Telling):
    def close(self):
        raise OSError("still in use")


class Names(Telling):
    def found(self, query, k):
        return self.ids[:k]


class NotANumber(Telling):
    def found(self, query, k):
        return [Hit(self.ids[0], math.nan)]


class Endless(Telling):
    def found(self, query, k):
        return [Hit(self.ids[0], 2.0), Hit(self.ids[1], -math.inf)]


class Wordy(Telling):
    def found(self, query, k):
        return [Hit(self.ids[0], "high")]


class Numpy(Telling):
    """Scores as NumPy has them, and ids that are numbers."""

    def found(self, query, k):
        import numpy as np

        return [Hit(np.int64(7), np.float32(0.5))]


class Generating(Telling):
    def search(self, queries, k):
        return (self.found(query, k) for query in queries)


class NoIndex(Retriever):
    def search(self, queries, k):
        return []
'''


def write_retrievers(directory: Path) -> Path:
    """The retrievers as a file of a user's."""
    path = directory / "mine.py"
    path.write_text(SCRIPT)
    return path


def job(kind: str = "Telling", **more: Any) -> Job[RetrievingTask]:
    """A job of one of these retrievers, or of `bm25`, over the collection `little`."""
    arguments: dict[str, Any] = {"collection": "little", "probes": ["amber"], "out": OUT, **more}
    arguments.setdefault("settings", RetrievalSettings(ks=(1, 2), depth=3))
    return make_retrieving_job(kind if kind == "bm25" else f"mine.py:{kind}", **arguments)


def run(kind: str = "Telling", **more: Any) -> FinishedJob:
    """The same, done."""
    return job(kind, **more).run()
