"""The base class that a retriever derives from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from shadowprobe.retrieval.model import Document, Hit, Query


class Retriever:
    """A system under test: a query in, ranked documents out.

    A wrapper sets `name` and writes `index` and `search`. Its options are the keyword arguments of its constructor,
    with types and defaults, as those of a linker.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = ""
    needs: ClassVar[str] = "nothing"
    batch_size: ClassVar[int] = 256

    # The names that queries are about, each with the documents of its entities, most popular first: what a linker
    # chooses from. A retriever of another kind has no use for them.
    names: Mapping[str, Sequence[str]]

    def open(self, documents: Iterable[Document], names: Mapping[str, Sequence[str]]) -> None:
        """Gives the retriever the documents, and lets it index them."""
        self.names = names
        self.notes: list[str] = []
        self.index(documents)

    def index(self, documents: Iterable[Document]) -> None:
        """Prepares the documents; they come once, and there may be millions."""
        raise NotImplementedError(f"{type(self).__name__} must define index()")

    def search(self, queries: Sequence[Query], k: int) -> Sequence[Sequence[Hit] | None]:
        """The best documents for each query, at most k, best first; None where it failed, to be asked again later."""
        raise NotImplementedError(f"{type(self).__name__} must define search()")

    def close(self) -> None:
        """Lets go of what `index` took."""

    def note(self, sentence: str) -> None:
        """Says something about this run that a reader of its results must know; once, however often called."""
        if sentence not in self.notes:
            self.notes.append(sentence)


def document_text(document: Document) -> str:
    """What a retriever reads of a document: its title and its text."""
    return f"{document.title}. {document.text}"


def lot(query: Query, document: str) -> str:
    """Where a document stands in an order drawn for one query: among equal scores no document is always the first."""
    return hashlib.sha256(f"{query.text}\n{document}".encode()).hexdigest()
