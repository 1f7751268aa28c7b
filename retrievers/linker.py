"""Any linker as a retriever: the entities that it links in a query rank their documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar

from shadowprobe import (
    Entity,
    EntitySpace,
    Failure,
    Knowledge,
    Linker,
    Prediction,
    Snippet,
    UsageError,
)
from shadowprobe.base.identity import Resolver, normalise_title
from shadowprobe.base.spans import Span, find_name
from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.systems.calling import link_in_parts
from shadowprobe.systems.retriever import Retriever

# The number of words of a document that are used as the description of its entity.
WORDS = 60


class LinkerRetriever(Retriever):
    """A linker by its name, `linker:NAME`: it links the name in a query, and its candidates rank their documents.

    The AmbER paper uses BLINK and Bootleg in this way. A document is the entity of its title, described by its first 60
    words. The mention is the ambiguous name of the query, if it is known, or else each name of the collection that
    occurs in it. The linker's answer comes first, then its other candidates. Entities without a document are left out,
    and a query without an answer has no documents. A query on which the linker fails is repeated by the next run.
    """

    name = "linker"
    needs = "a linker: --retriever linker:NAME, and what that linker needs"
    batch_size = 64
    option_help: ClassVar[dict[str, str]] = {
        "linker": "the linker, given as --retriever linker:NAME",
    }

    def __init__(self, linker: Linker) -> None:
        if linker.sees_gold:
            raise UsageError(f"`{linker.name}` needs the gold entities of a dataset, and cannot be used as a retriever")
        self.linker = linker

    def index(self, documents: Iterable[Document]) -> None:
        """Opens the linker with the documents as its entities, and with the names that they share."""
        self._id: dict[str, str] = {}
        entities: dict[str, Entity] = {}
        # The title of each article. A document that is not a passage is its own article.
        titles: dict[str, str] = {}
        hidden = 0
        for document in documents:
            title = normalise_title(document.title) or document.id
            article = document.page or document.id
            # The first passage of an article describes its subject.
            if title not in entities:
                entities[title] = Entity(title, description=" ".join(document.text.split()[:WORDS]))
                self._id[title] = document.id
                titles[article] = title
            else:
                hidden += article not in titles
        if hidden:
            self.note(f"{hidden} documents have the same title as another one, so a linker cannot distinguish them")
        spaces = list(self._make_spaces(self.names, titles))
        self._known = {space.name for space in spaces} | entities.keys()
        self._resolver = Resolver(entities.values())
        self.linker.open(Knowledge(entities, spaces))

    @property
    def status(self) -> str:
        """What the linker says to a user who waits."""
        return self.linker.status

    @staticmethod
    def _make_spaces(names: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> Iterable[EntitySpace]:
        for name, documents in names.items():
            if known := tuple(dict.fromkeys(titles[document] for document in documents if document in titles)):
                yield EntitySpace(name, known)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit] | Failure]:
        """Links the mentions of each query; documents of several mentions alternate."""
        mentions = [(query, self._find_mentions(query)) for query in queries]
        snippets = [
            Snippet(f"{query.id} {number}", "all", query.text, span.start, span.end)
            for query, spans in mentions
            for number, span in enumerate(spans)
        ]
        predictions: dict[str, Prediction | Failure] = {}
        for part in link_in_parts(self.linker, snippets) if snippets else ():
            predictions |= part
        for sentence in self.linker.notes:
            self.note(sentence)
        return [
            self._make_hits(query, [predictions[f"{query.id} {number}"] for number in range(len(spans))], k)
            for query, spans in mentions
        ]

    def _find_mentions(self, query: Query) -> list[Span]:
        if query.name:
            return find_name(query.text, query.name)[:1]
        mentions: list[Span] = []
        # Of overlapping names the longest one is used.
        for name in sorted((name for name in self._known if name in query.text), key=len, reverse=True):
            for span in find_name(query.text, name)[:1]:
                if all(span.end <= other.start or span.start >= other.end for other in mentions):
                    mentions.append(span)
        return sorted(mentions)

    def _make_hits(self, query: Query, predictions: Sequence[Prediction | Failure], k: int) -> list[Hit] | Failure:
        ranked = []
        for prediction in predictions:
            if isinstance(prediction, Failure):
                return Failure(query.id, prediction.error)
            ranked.append(self._rank_documents(prediction))
        alternating = [document for row in zip_longest(*ranked) for document in row if document is not None]
        documents = list(dict.fromkeys(alternating))[:k]
        # Scores of several mentions are not comparable, so the score depends on the rank only.
        return [Hit(document, 1 / rank) for rank, document in enumerate(documents, start=1)]

    def _rank_documents(self, prediction: Prediction) -> list[str]:
        keys = [(prediction.answer, prediction.page_id, prediction.qid)] if prediction.status == "linked" else []
        keys += [(candidate.answer, candidate.page_id, candidate.qid) for candidate in prediction.candidates]
        titles = [self._resolver.resolve(*key).entity for key in keys]
        return list(dict.fromkeys(self._id[title] for title in titles if title in self._id))

    def close(self) -> None:
        """Closes the linker."""
        self.linker.close()
