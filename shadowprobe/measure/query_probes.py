"""The base classes of the probes that ask retrievers, readers and language models."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from shadowprobe.measure.probe import Findings

if TYPE_CHECKING:
    from shadowprobe.measure.rankings import Rankings
    from shadowprobe.queries.ambigdocs_sets import AmbigSet
    from shadowprobe.queries.document_order import DocumentOrder
    from shadowprobe.queries.query import Query, ReaderAnswer, ReaderQuery


class QueryProbe:
    """A probe that brings its own queries."""

    name: ClassVar[str] = ""
    # Where a collection keeps the queries of this probe.
    folder: ClassVar[str] = ""
    # Whom it asks.
    asks: ClassVar[str] = ""

    def load(self, path: Path) -> None:
        """Reads the queries of a file or folder, and refuses what is wrong with them."""
        raise NotImplementedError(f"{type(self).__name__} must define load()")

    def queries(self) -> Iterator[Query]:
        """What a system is asked."""
        raise NotImplementedError(f"{type(self).__name__} must define queries()")


class RankingProbe(QueryProbe):
    """A question asked of rankings: it brings the queries, and reads what was found for them."""

    asks = "retriever"

    def names(self) -> Mapping[str, Sequence[str]]:
        """The ambiguous names of the queries, each with the documents of its entities, most popular first."""
        return {}

    def gold(self) -> Set[str]:
        """The ids of the documents that are right for some query, where the queries say so."""
        return frozenset()

    def measure(self, rankings: Rankings) -> Findings:
        """The findings, as they stand in results.json; rates are fractions of 1."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")

    def rows(self, rankings: Rankings) -> Iterator[dict[str, Any]]:
        """One row for each query with its `id`, for browsers and comparisons; without this method there are none."""
        yield from ()


class ReadingProbe(QueryProbe):
    """A question asked of what a reader answered: it brings the queries with their right answers."""

    asks = "reader"
    # False if its queries name no right documents, so that they cannot be given to a reader.
    has_gold: ClassVar[bool] = True
    # Of the bootstrap, as those of `AnswerProbe`.
    rounds: int = 1000
    seed: int = 7

    def keep(self, tasks: Collection[str], limit: int | None) -> None:
        """Drops the queries of other tasks, and of each part all but the first `limit` sets or questions."""
        raise NotImplementedError(f"{type(self).__name__} must define keep()")

    def queries(self) -> Iterator[ReaderQuery]:
        """What a reader is asked, with the right answers and documents."""
        raise NotImplementedError(f"{type(self).__name__} must define queries()")

    def measure(self, answers: Mapping[str, ReaderAnswer]) -> Findings:
        """The findings, as they stand in results.json; rates are fractions of 1."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")

    def rows(self, answers: Mapping[str, ReaderAnswer]) -> Iterator[dict[str, Any]]:
        """One row for each query with its `id`, for browsers and comparisons; without this method there are none."""
        yield from ()


class AnswerProbe:
    """A question asked of what a language model answered about documents on namesakes: it asks no model."""

    name: ClassVar[str] = ""
    # Of the bootstrap; a test keeps them equal to those of `measure.statistics`, which would load NumPy for a list.
    rounds: int = 1000
    seed: int = 7
    # In which order the model saw the documents of a set; None if that is not known.
    order: DocumentOrder | None = None

    def measure(self, sets: Sequence[AmbigSet], answers: Mapping[str, str]) -> Findings:
        """The findings, from the answers by the ids of their sets; rates are fractions of 1."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")

    def rows(self, sets: Sequence[AmbigSet], answers: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """One row for each set with its `id`, for browsers and comparisons; without this method there are none."""
        yield from ()
