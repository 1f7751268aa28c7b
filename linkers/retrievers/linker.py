"""Any linker as a retriever: the entities that it finds in a query rank their documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shadowprobe import Entity, EntitySpace, Knowledge, Linker, Prediction, Snippet
from shadowprobe.formats.spans import Span, whole_words
from shadowprobe.identity import Resolver, normalise_title
from shadowprobe.retrieval.model import Document, Hit, Query
from shadowprobe.retrieval.retriever import Retriever

# So much of a document stands for its entity where a linker reads descriptions.
WORDS = 60


class LinkerRetriever(Retriever):
    """A linker by its name, `linker:NAME`: it links the name in a query, and its candidates rank their documents.

    As the AmbER paper uses BLINK and Bootleg. A document is the entity of its title, described by its first 60 words.
    The mention is the ambiguous name that the query is known to be about, or else each name of the collection that
    stands in it. What the linker answers with comes first, then its other candidates; entities without a document are
    passed over, and a query in which it finds nothing has no documents.
    """

    name = "linker"
    needs = "a linker: --retriever linker:NAME, and what that linker needs"
    batch_size = 64

    def __init__(self, linker: Linker) -> None:
        self.linker = linker

    def index(self, documents: Iterable[Document]) -> None:
        """Tells the linker the documents as its entities, and the names that they share."""
        self._id: dict[str, str] = {}
        entities: dict[str, Entity] = {}
        for document in documents:
            title = normalise_title(document.title) or document.id
            # The first passage of an article has what it is about.
            if title not in entities:
                entities[title] = Entity(title, description=" ".join(document.text.split()[:WORDS]))
                self._id[title] = document.id
        spaces = list(self._spaces(self.names, {found: title for title, found in self._id.items()}))
        self._known = {space.name for space in spaces} | entities.keys()
        self._resolver = Resolver(entities.values())
        self.linker.open(Knowledge(entities, spaces))

    @staticmethod
    def _spaces(names: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> Iterable[EntitySpace]:
        for name, documents in names.items():
            if known := tuple(dict.fromkeys(titles[found] for found in documents if found in titles)):
                yield EntitySpace(name, known)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Links the mentions of each query; several mentions take turns."""
        asked = [(query, self._mentions(query)) for query in queries]
        snippets = {
            f"{query.id} {number}": Snippet(f"{query.id} {number}", "all", query.text, span.start, span.end)
            for query, spans in asked
            for number, span in enumerate(spans)
        }
        answers = self.linker.link(list(snippets.values())) if snippets else []
        given = {answer.id: answer for answer in answers if isinstance(answer, Prediction)}
        if len(given) < len(snippets):
            self.note(f"linker `{self.linker.name}` failed on some queries; they have no documents")
        for sentence in self.linker.notes:
            self.note(sentence)
        return [
            self._hits(query, [given.get(f"{query.id} {n}") for n in range(len(spans))], k) for query, spans in asked
        ]

    def _mentions(self, query: Query) -> list[Span]:
        if query.name:
            return whole_words(query.text, query.name)[:1]
        found: list[Span] = []
        # The longest name at a place is the one that is meant.
        for name in sorted((name for name in self._known if name in query.text), key=len, reverse=True):
            for span in whole_words(query.text, name)[:1]:
                if all(span.end <= taken.start or span.start >= taken.end for taken in found):
                    found.append(span)
        return sorted(found)

    def _hits(self, query: Query, predictions: Sequence[Prediction | None], k: int) -> list[Hit]:
        ranked = [self._documents(prediction) for prediction in predictions if prediction is not None]
        turns = [
            each[place] for place in range(max(map(len, ranked), default=0)) for each in ranked if place < len(each)
        ]
        documents = list(dict.fromkeys(turns))[:k]
        # Scores of several mentions are not comparable, so that the place alone is told.
        return [Hit(document, 1 / place) for place, document in enumerate(documents, start=1)]

    def _documents(self, prediction: Prediction) -> list[str]:
        named = [(prediction.answer, prediction.page_id, prediction.qid)] if prediction.status == "linked" else []
        named += [(candidate.answer, candidate.page_id, candidate.qid) for candidate in prediction.candidates]
        titles = [self._resolver.resolve(*each).entity for each in named]
        return list(dict.fromkeys(self._id[title] for title in titles if title in self._id))

    def close(self) -> None:
        """Lets go of the linker."""
        self.linker.close()
