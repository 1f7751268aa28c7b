"""The same question asked of retrievers, readers and language models: is the less popular namesake found?"""

from __future__ import annotations

from shadowprobe.measure.query_probes import RankingProbe, ReadingProbe
from shadowprobe.queries.query import Document, Hit, Query, Ranking, ReaderAnswer, ReaderQuery
from shadowprobe.systems.reader import Reader
from shadowprobe.systems.retriever import Retriever

__all__ = [
    "Document",
    "Hit",
    "Query",
    "Ranking",
    "RankingProbe",
    "Reader",
    "ReaderAnswer",
    "ReaderQuery",
    "ReadingProbe",
    "Retriever",
]
