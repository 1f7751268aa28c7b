"""The same question asked of retrievers and language models: is the less popular namesake found?"""

from __future__ import annotations

from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.queries.query import Document, Hit, Query, Ranking
from shadowprobe.systems.retriever import Retriever

__all__ = ["Document", "Hit", "Query", "Ranking", "RankingProbe", "Retriever"]
