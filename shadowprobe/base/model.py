"""The nouns: entities, entity spaces, snippets and predictions."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

Subset = Literal["top", "shadow", "tail", "neutral", "all"]
Status = Literal["linked", "nil", "skipped"]
# The column of a neutral context; the index of a dataset has 32 bits for it.
TemplateNumber = Annotated[int, Meta(ge=0, le=2**31 - 1)]
QID = re.compile(r"Q[1-9][0-9]*")


class Entity(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A thing that a mention can refer to; its title is the Wikipedia title with spaces."""

    title: str
    page_id: int | None = None
    qid: str | None = None
    commonness: int | None = None
    kind: str | None = None
    description: str | None = None
    redirects: tuple[str, ...] = ()


class EntitySpace(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An ambiguous name and the titles of its entities, most common first.

    The rank of an entity is its position here, and not a field of the entity: an entity can be in two spaces.
    """

    name: str
    entities: tuple[str, ...]

    @property
    def top(self) -> str:
        """The title of the most common entity."""
        return self.entities[0]

    @property
    def shadows(self) -> tuple[str, ...]:
        """The titles of the entities that the top one overshadows."""
        return self.entities[1:]

    def rank(self, title: str) -> int:
        """Returns the rank of an entity within the space, 1 for the most common."""
        return self.entities.index(title) + 1


class Snippet(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A text with one marked mention; offsets count code points and `end` is exclusive."""

    id: str
    subset: Subset
    text: str
    start: int
    end: int
    space: str | None = None
    gold: str | None = None
    source: str | None = None
    template: TemplateNumber | None = None
    # The foreign document, if it has several mentions and this snippet is one of them.
    document: str | None = None

    @property
    def mention(self) -> str:
        """The marked words of the text."""
        return self.text[self.start : self.end]


class Candidate(Struct, frozen=True, omit_defaults=True):
    """An entity that a linker considered: as it named it, and what that was resolved to."""

    answer: str | None = None
    page_id: int | None = None
    qid: str | None = None
    score: float | None = None
    entity: str | None = None


class Failure(Struct, frozen=True, omit_defaults=True):
    """No answer to one snippet, because the linker failed on it."""

    id: str
    error: str


class Prediction(Struct, frozen=True, omit_defaults=True):
    """A linker's answer to one snippet: an entity, an explicit NIL, or nothing (skipped), never merged."""

    id: str
    status: Status = "linked"
    answer: str | None = None
    page_id: int | None = None
    qid: str | None = None
    score: float | None = None
    entity: str | None = None
    # How much the answer looks like a mere repetition of the prior; the higher, the more doubtful.
    suspicion: float | None = None
    candidates: tuple[Candidate, ...] = ()

    def find_problem(self) -> tuple[str, str] | None:
        """The field and the problem of an invalid prediction, or None."""
        is_named = self.answer is not None or self.page_id is not None or self.qid is not None
        if self.status == "linked" and not is_named:
            return "answer", "is missing: give an entity, or a status of nil or skipped"
        if self.status != "linked" and is_named:
            return "status", f"is {self.status}, and there is an answer too"
        if self.answer is not None and not self.answer.strip():
            return "answer", "is empty: give an entity, or a status of nil or skipped"
        if problem := _find_id_problem(self):
            return problem
        for number, candidate in enumerate(self.candidates):
            if problem := _find_id_problem(candidate):
                return f"candidates[{number}].{problem[0]}", problem[1]
            if not candidate.answer and candidate.page_id is None and candidate.qid is None:
                return f"candidates[{number}]", "names no entity: give its answer, page_id or qid"
        return None


def _find_id_problem(named: Prediction | Candidate) -> tuple[str, str] | None:
    """The field and the problem of an id that no page or item has, or None."""
    if named.page_id is not None and named.page_id <= 0:
        return "page_id", f"{named.page_id} is not a page id"
    if named.qid is not None and not QID.fullmatch(named.qid):
        return "qid", f"{named.qid!r} is not a QID such as Q42"
    return None
