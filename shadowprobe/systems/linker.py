"""The base class of all systems under test, and that of linkers, which a wrapper derives from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from shadowprobe.base.model import Candidate, Entity, Failure, Prediction, Snippet
from shadowprobe.dataset.knowledge import Knowledge
from shadowprobe.errors import abridge

# An entity as a linker may give it: one of the knowledge, or a title or URI; with its score, or without.
Named = Entity | str
Scored = Named | tuple[Named, float | None]
# What a linker gives for a snippet.
Given = Prediction | Failure


class System:
    """A system under test. Its options are the keyword arguments of its constructor, with types and defaults."""

    name: ClassVar[str] = ""
    version: ClassVar[str] = ""
    needs: ClassVar[str] = "nothing"
    # The commands that bring what the system needs into being, one a line; `check` prints them where it does not start.
    howto: ClassVar[str] = ""
    # What each option means, in a few words, for `shadowprobe linkers NAME`; those of the base classes are added.
    option_help: ClassVar[dict[str, str]] = {}
    # Options that cannot change an answer: a run that was begun with one value may go on with another.
    incidental: ClassVar[frozenset[str]] = frozenset()

    notes: list[str]

    @property
    def status(self) -> str:
        """What a user who waits should know, beside the progress bar: requests that were sent again, for example."""
        return ""

    def close(self) -> None:
        """Lets go of what the system took when it was prepared."""

    def note(self, sentence: str) -> None:
        """Says something about this run that a reader of its results must know; once, however often called."""
        if (line := abridge(sentence)) not in self.notes:
            self.notes.append(line)


class Linker(System):
    """A system under test: snippets in, one prediction for each out.

    A wrapper sets `name` and writes `link`. Its options are the keyword arguments of its constructor, with types
    and defaults; `-o key=value` on the command line sets them. What must be built once goes into `setup`.
    """

    batch_size: ClassVar[int] = 64
    # Only a linker that says so is shown the gold answer and the subset; every other gets snippets without them.
    sees_gold: ClassVar[bool] = False

    knowledge: Knowledge

    def open(self, knowledge: Knowledge) -> None:
        """Gives the linker what the dataset knows, then lets it prepare."""
        self.set_knowledge(knowledge)
        self.setup()

    def set_knowledge(self, knowledge: Knowledge) -> None:
        """Gives the linker what the dataset knows, and forgets the notes of an earlier run."""
        self.knowledge = knowledge
        self.notes = []

    def setup(self) -> None:
        """Prepares once before the first snippet: builds an index, loads a model, reaches a service."""

    def link(self, snippets: list[Snippet]) -> Sequence[Given]:
        """One prediction for each snippet, in any order; a failure in its place is tried again by the next run."""
        raise NotImplementedError(f"{type(self).__name__} must define link()")

    @property
    def streams(self) -> bool:
        """True for a linker that is asked by `link_each`, and not batch by batch."""
        return False

    def link_each(self, snippets: Iterable[Snippet]) -> Iterator[Sequence[Given]]:
        """The predictions for many snippets, some at a time, as soon as they are there."""
        raise NotImplementedError(f"{type(self).__name__} links in batches")

    @property
    def is_reached(self) -> bool:
        """True if the system is known to run, because it has answered, even if the answer cannot be used."""
        return False

    def ready(self) -> str:
        """Where and what the system is that was found, as `check` shows it once the linker has started."""
        return ""

    def outgoing(self, snippet: Snippet) -> str:
        """What the system is sent for a snippet, as `check` shows it to its author; nothing where that is plain."""
        return ""

    def answer(
        self,
        snippet: Snippet,
        entity: Named,
        score: float | None = None,
        candidates: Iterable[Candidate | Scored] = (),
        *,
        page_id: int | None = None,
        qid: str | None = None,
    ) -> Prediction:
        """The snippet's mention means this entity: one of the knowledge, or a title or URI as the system names it."""
        return Prediction(
            id=snippet.id,
            answer=entity.title if isinstance(entity, Entity) else entity,
            page_id=page_id,
            qid=qid,
            score=score,
            candidates=tuple(as_candidate(candidate) for candidate in candidates),
        )

    def ranked(self, snippet: Snippet, ranking: Iterable[Scored]) -> Prediction:
        """The first of a ranking is the answer and all are its candidates; an empty one skips the snippet."""
        candidates = [as_candidate(item) for item in ranking]
        if not candidates:
            return self.skip(snippet)
        return self.answer(snippet, candidates[0].answer or "", candidates[0].score, candidates)

    def nil(self, snippet: Snippet, score: float | None = None) -> Prediction:
        """The mention means no entity that the system knows, and it says so."""
        return Prediction(id=snippet.id, status="nil", score=score)

    def fail(self, snippet: Snippet, error: str) -> Failure:
        """The system could not be asked, or its answer not be read, for this one snippet."""
        return Failure(id=snippet.id, error=error)

    def skip(self, snippet: Snippet) -> Prediction:
        """The system gives no answer for the mention."""
        return Prediction(id=snippet.id, status="skipped")


def as_candidate(item: Candidate | Scored) -> Candidate:
    """A candidate from an entity, a title or URI, alone or with its score."""
    if isinstance(item, Candidate):
        return item
    entity, score = item if isinstance(item, tuple) else (item, None)
    if not isinstance(entity, (Entity, str)):
        raise TypeError(f"a candidate is an entity or a title, alone or with its score, not {item!r}")
    known = score is not None and math.isfinite(score)
    return Candidate(answer=entity.title if isinstance(entity, Entity) else entity, score=score if known else None)


def context_of(snippet: Snippet) -> str:
    """The text without its mention: what is left when the name is taken away."""
    return f"{snippet.text[: snippet.start]} {snippet.text[snippet.end :]}"


def without_gold(snippet: Snippet) -> Snippet:
    """The snippet as a linker may see it: neither its answer nor the subset, which would give it away."""
    return Snippet(snippet.id, "all", snippet.text, snippet.start, snippet.end, snippet.space)
