"""The same question asked of retrievers and language models: is the less popular namesake found?"""

from __future__ import annotations

from shadowprobe.retrieval.model import Document, Hit, Query, Ranking
from shadowprobe.retrieval.probe import RankingProbe
from shadowprobe.retrieval.retriever import Retriever

__all__ = ["Document", "Hit", "Query", "Ranking", "RankingProbe", "Retriever"]
