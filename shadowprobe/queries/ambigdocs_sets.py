"""AmbigDocs as it is released: a question about a name, and a document with its answer for each namesake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.errors import InputError, nearest
from shadowprobe.identity import normalise_title
from shadowprobe.jsonl import BOM, open_for_reading, read_json, read_lines

if TYPE_CHECKING:
    from shadowprobe.dataset import Dataset

FILE = "ambigdocs.json"
T = TypeVar("T")
_MISSING = re.compile(r"missing required field `([^`]+)`")
_DISAMBIGUATION = re.compile(r"\s*\(disambiguation\)\s*$", re.IGNORECASE)


class AmbigDocument(Struct, frozen=True, omit_defaults=True):
    """A document on one of the namesakes, whose title tells it from the others."""

    title: str
    text: str
    # Released answers have one form; of several the one that an output comes nearest to counts.
    answer: str | list[str]
    pid: int | str | None = None

    @property
    def answers(self) -> list[str]:
        """The forms of its answer."""
        return [self.answer] if isinstance(self.answer, str) else self.answer


class AmbigSet(Struct, frozen=True, omit_defaults=True):
    """A question about a name, and the documents on those who bear it."""

    question: str
    ambiguous_entity: str
    documents: tuple[AmbigDocument, ...]
    qid: int | str | None = None

    @property
    def id(self) -> str:
        """What tells the set from the others of its file; reading gives one without a `qid` its place there."""
        return str(self.qid)

    @property
    def name(self) -> str:
        """The ambiguous name, without the mark of a disambiguation page."""
        return _DISAMBIGUATION.sub("", self.ambiguous_entity).strip()

    def first(self, documents: int) -> AmbigSet:
        """The set with its first documents alone."""
        return replace(self, documents=self.documents[:documents])


class AmbigQuestion(Struct, frozen=True):
    """A question for the namesakes of a dataset, with the answer of each by its title."""

    name: str
    question: str
    answers: dict[str, str | list[str]]


class Item(NamedTuple):
    """Where an item stands in its file, from 0, and what makes an error of a field of it and its problem."""

    number: int
    fault: Callable[[str, str], InputError]


def read_items(path: Path, kind: type[T], *, torn: bool = False) -> Iterator[tuple[Item, T]]:
    """The items of a JSON list or of JSON lines, checked against their type; `torn` is that of `read_lines`."""
    with open_for_reading(path) as file:
        start = file.read(4096).removeprefix(BOM).lstrip()
    if not start.startswith(b"["):
        for number, (line, item) in enumerate(read_lines(path, kind, torn=torn)):
            yield Item(number, _fault_of_line(path, line)), item
        return
    decode = msgspec.json.Decoder(kind).decode
    for number, raw in enumerate(read_json(path, list[msgspec.Raw])):
        fault = _fault_of_item(path, number)
        try:
            item = decode(raw)
        except msgspec.ValidationError as error:
            problem, _, place = str(error).partition(" - at ")
            missing = _MISSING.search(problem)
            field = place.strip("`").removeprefix("$").lstrip(".") or (missing[1] if missing else "")
            raise fault(field, problem) from None
        yield Item(number, fault), item


def _fault_of_line(path: Path, line: int) -> Callable[[str, str], InputError]:
    return lambda field, problem: InputError(path, problem, line=line, field=field)


def _fault_of_item(path: Path, number: int) -> Callable[[str, str], InputError]:
    return lambda field, problem: InputError(path, f"item {number}: {problem}", field=field or None)


def read_ambigdocs(path: Path) -> list[AmbigSet]:
    """The sets of a file."""
    sets: dict[str, AmbigSet] = {}
    for item, found in read_items(path, AmbigSet):
        one = replace(found, qid=item.number) if found.qid is None else found
        for field, problem in _faults(one):
            raise item.fault(field, problem)
        if one.id in sets:
            raise item.fault("qid", f"{one.id!r} stands twice")
        sets[one.id] = one
    if not sets:
        raise InputError(path, "holds no set")
    return list(sets.values())


def _faults(one: AmbigSet) -> Iterator[tuple[str, str]]:
    if not one.question.strip():
        yield "question", "is empty"
    if not one.name:
        yield "ambiguous_entity", "names nothing"
    if not one.id.strip():
        yield "qid", "is empty"
    if len(one.documents) < 2:
        yield "documents", f"namesakes are two at least, and here is {len(one.documents) or 'none'}"
    for number, document in enumerate(one.documents):
        if not document.title.strip():
            yield f"documents[{number}].title", "is empty"
        if not document.answers or not all(form.strip() for form in document.answers):
            yield f"documents[{number}].answer", "is empty"


def sets_from(dataset: Dataset, questions: Path) -> list[AmbigSet]:
    """Sets on names of a dataset; the description of each entity that a question has an answer for is a document."""
    asked: Counter[str] = Counter()
    sets = []
    for line, question in read_lines(questions, AmbigQuestion):
        space = dataset.spaces.get(question.name)
        if space is None:
            problem = f"`{dataset.name}` has no name {question.name!r}{nearest(question.name, dataset.spaces)}"
            raise InputError(questions, problem, line=line, field="name")
        answers = {normalise_title(title): answer for title, answer in question.answers.items()}
        for title in answers:
            if title not in space.entities:
                problem = f"{title!r} is no entity of {space.name!r}{nearest(title, space.entities)}"
                raise InputError(questions, problem, line=line, field="answers")
            if not (dataset.entities[title].description or "").strip():
                problem = f"{title!r} has no description in `{dataset.name}`: `shadowprobe describe` fills it"
                raise InputError(questions, problem, line=line, field="answers")
        asked[space.name] += 1
        entities = [dataset.entities[title] for title in space.entities if title in answers]
        made = AmbigSet(
            question=question.question,
            ambiguous_entity=space.name,
            documents=tuple(
                AmbigDocument(entity.title, entity.description or "", answers[entity.title], entity.page_id)
                for entity in entities
            ),
            qid=f"{space.name} {asked[space.name]}",
        )
        for field, problem in _faults(made):
            # The question file has the answers of all documents in one field.
            raise InputError(questions, problem, line=line, field=field if field == "question" else "answers")
        sets.append(made)
    if not sets:
        raise InputError(questions, "holds no question")
    return sets
