"""Any linker as a retriever: the entities that it finds in a query rank their documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from shadowprobe import (
    Entity,
    EntitySpace,
    Failure,
    ItemError,
    Knowledge,
    Linker,
    LinkerError,
    Prediction,
    Snippet,
    UsageError,
)
from shadowprobe.formats.spans import Span, whole_words
from shadowprobe.identity import Resolver, normalise_title
from shadowprobe.linker import by_id
from shadowprobe.retrieval.model import Document, Hit, Query
from shadowprobe.retrieval.retriever import Retriever
from shadowprobe.runner import HOPELESS

# So much of a document stands for its entity where a linker reads descriptions.
WORDS = 60


class LinkerRetriever(Retriever):
    """A linker by its name, `linker:NAME`: it links the name in a query, and its candidates rank their documents.

    As the AmbER paper uses BLINK and Bootleg. A document is the entity of its title, described by its first 60 words.
    The mention is the ambiguous name that the query is known to be about, or else each name of the collection that
    stands in it. What the linker answers with comes first, then its other candidates; entities without a document are
    passed over, and a query in which it finds nothing has no documents. One on which it fails is asked again by the
    next run.
    """

    name = "linker"
    needs = "a linker: --retriever linker:NAME, and what that linker needs"
    batch_size = 64

    def __init__(self, linker: Linker) -> None:
        if linker.sees_gold:
            raise UsageError(f"`{linker.name}` answers from what a dataset says of its snippets, and cannot be asked")
        self.linker = linker
        self._answered, self._failed = False, 0

    def index(self, documents: Iterable[Document]) -> None:
        """Tells the linker the documents as its entities, and the names that they share."""
        self._id: dict[str, str] = {}
        entities: dict[str, Entity] = {}
        # By article, as queries name what they ask for; of itself where a document is no passage of one.
        titles: dict[str, str] = {}
        hidden = 0
        for document in documents:
            title = normalise_title(document.title) or document.id
            article = document.page or document.id
            # The first passage of an article has what it is about.
            if title not in entities:
                entities[title] = Entity(title, description=" ".join(document.text.split()[:WORDS]))
                self._id[title] = document.id
                titles[article] = title
            else:
                hidden += article not in titles
        if hidden:
            self.note(f"{hidden} documents have the title of another, by which a linker cannot tell them apart")
        spaces = list(self._spaces(self.names, titles))
        self._known = {space.name for space in spaces} | entities.keys()
        self._resolver = Resolver(entities.values())
        self.linker.open(Knowledge(entities, spaces))

    @staticmethod
    def _spaces(names: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> Iterable[EntitySpace]:
        for name, documents in names.items():
            if known := tuple(dict.fromkeys(titles[found] for found in documents if found in titles)):
                yield EntitySpace(name, known)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit] | None]:
        """Links the mentions of each query; several mentions take turns. None where the linker fails on one."""
        asked = [(query, self._mentions(query)) for query in queries]
        snippets = [
            Snippet(f"{query.id} {number}", "all", query.text, span.start, span.end)
            for query, spans in asked
            for number, span in enumerate(spans)
        ]
        answers = self._answers(snippets) if snippets else {}
        for sentence in self.linker.notes:
            self.note(sentence)
        return [self._hits([answers[f"{query.id} {n}"] for n in range(len(spans))], k) for query, spans in asked]

    def _answers(self, snippets: list[Snippet]) -> dict[str, Prediction | None]:
        """What the linker says of each snippet; one that it fails on does not cost the others their answers."""
        try:
            found = by_id(self.linker.link(list(snippets)))
            if missing := [snippet.id for snippet in snippets if snippet.id not in found]:
                raise ItemError(f"no prediction for snippet {missing[0]!r}")
        except (Exception, SystemExit) as error:
            if isinstance(error, LinkerError) and not isinstance(error, ItemError):
                raise
            if len(snippets) > 1:
                return {snippet.id: self._answers([snippet])[snippet.id] for snippet in snippets}
            self._count_failure(f"{type(error).__name__}: {' '.join(str(error).split())}")
            return {snippets[0].id: None}
        self._answered |= any(isinstance(given, Prediction) for given in found.values())
        answers: dict[str, Prediction | None] = {}
        for snippet in snippets:
            given = found[snippet.id]
            if isinstance(given, Failure):
                self._count_failure(given.error)
            answers[snippet.id] = given if isinstance(given, Prediction) else None
        return answers

    def _count_failure(self, error: str) -> None:
        self._failed += 1
        if self._failed == 1:
            self.note(f"linker `{self.linker.name}` failed on some queries, first with: {error}")
        if self._failed >= HOPELESS and not self._answered:
            many = f"failed on each of its first {self._failed} queries, the last time with"
            raise LinkerError(f"linker `{self.linker.name}` {many}: {error}")

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

    def _hits(self, predictions: Sequence[Prediction | None], k: int) -> list[Hit] | None:
        given = [prediction for prediction in predictions if prediction is not None]
        if len(given) < len(predictions):
            return None
        ranked = [self._documents(prediction) for prediction in given]
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
