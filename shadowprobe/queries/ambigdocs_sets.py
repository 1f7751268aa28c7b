"""AmbigDocs as it is released: a question about a name, and a document with its answer for each namesake."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from shadowprobe.base.files import BOM, open_for_reading
from shadowprobe.base.identity import normalise_title
from shadowprobe.base.jsonl import NonBlank, read_json, read_lines
from shadowprobe.errors import InputError, nearest

if TYPE_CHECKING:
    from shadowprobe.dataset.dataset import Dataset

FILE = "ambigdocs.json"
T = TypeVar("T")
_DISAMBIGUATION = re.compile(r"\s*\(disambiguation\)\s*$", re.IGNORECASE)


# Released answers have one form. If there are several, the one that is most similar to an output counts. A single one
# is checked by `is_blank`, because msgspec 0.22 corrupts the memory for a union of a list and a string with a pattern.
Answer = str | Annotated[list[NonBlank], Meta(min_length=1)]


class AmbigDocument(Struct, frozen=True, omit_defaults=True):
    """A document about one of the namesakes; each has a different title."""

    title: NonBlank
    text: str
    answer: Answer
    pid: int | str | None = None

    @property
    def answers(self) -> list[str]:
        """The forms of its answer."""
        return [self.answer] if isinstance(self.answer, str) else self.answer


class AmbigSet(Struct, frozen=True, omit_defaults=True):
    """A question about a name, and the documents about the entities with this name."""

    question: NonBlank
    ambiguous_entity: str
    documents: tuple[AmbigDocument, ...]
    qid: int | NonBlank | None = None

    @property
    def id(self) -> str:
        """The unique id within its file; a set without a `qid` gets its position in the file."""
        return str(self.qid)

    @property
    def name(self) -> str:
        """The ambiguous name, without the mark of a disambiguation page."""
        return _DISAMBIGUATION.sub("", self.ambiguous_entity).strip()

    def first(self, documents: int) -> AmbigSet:
        """Returns the set with only its first documents."""
        return replace(self, documents=self.documents[:documents])


def is_blank(answer: Answer) -> bool:
    """True for an answer without a word."""
    return isinstance(answer, str) and not answer.strip()


class AmbigQuestion(Struct, frozen=True):
    """A question about the namesakes of a dataset, and the answers by their titles."""

    name: str
    question: NonBlank
    answers: dict[str, Answer]


class Item(NamedTuple):
    """The place of an item in its file: its position from 0, and its line if every item has one."""

    path: Path
    number: int
    line: int | None = None

    def fault(self, field: str, problem: str) -> InputError:
        """Makes the error for a field of this item."""
        place = field if self.line is not None else f"[{self.number}].{field}"
        return InputError(self.path, problem, line=self.line, field=place)


def read_items(path: Path, kind: type[T], *, torn: bool = False) -> Iterator[tuple[Item, T]]:
    """Reads the items of a JSON list or of JSON lines, and checks their type; `torn` is that of `read_lines`."""
    with open_for_reading(path) as file:
        is_list = file.read(4096).removeprefix(BOM).lstrip().startswith(b"[")
    if is_list:
        for number, item in enumerate(read_json(path, list[kind])):  # type: ignore[valid-type]
            yield Item(path, number), item
    else:
        for number, (line, item) in enumerate(read_lines(path, kind, torn=torn)):
            yield Item(path, number, line), item


def read_ambigdocs(path: Path) -> list[AmbigSet]:
    """Reads the sets of a file."""
    sets: dict[str, AmbigSet] = {}
    for item, stored in read_items(path, AmbigSet):
        ambig_set = replace(stored, qid=item.number) if stored.qid is None else stored
        for field, problem in _find_problems(ambig_set):
            raise item.fault(field, problem)
        if ambig_set.id in sets:
            raise item.fault("qid", f"{ambig_set.id!r} stands twice")
        sets[ambig_set.id] = ambig_set
    if not sets:
        raise InputError(path, "holds no set")
    return list(sets.values())


def _find_problems(ambig_set: AmbigSet) -> Iterator[tuple[str, str]]:
    if not ambig_set.name:
        yield "ambiguous_entity", "contains no name"
    if len(ambig_set.documents) < 2:
        yield "documents", f"expected at least two namesakes, got {len(ambig_set.documents)}"
    for number, document in enumerate(ambig_set.documents):
        if is_blank(document.answer):
            yield f"documents[{number}].answer", "is empty"


def make_ambig_sets(dataset: Dataset, questions: Path) -> list[AmbigSet]:
    """Makes sets from the names of a dataset; each entity with an answer gets its description as document."""
    questions_per_name: Counter[str] = Counter()
    sets = []
    for line, question in read_lines(questions, AmbigQuestion):
        space = dataset.spaces.get(question.name)
        if space is None:
            problem = f"`{dataset.name}` has no name {question.name!r}{nearest(question.name, dataset.spaces)}"
            raise InputError(questions, problem, line=line, field="name")
        answers = {normalise_title(title): answer for title, answer in question.answers.items()}
        for title, answer in answers.items():
            if is_blank(answer):
                raise InputError(questions, f"is empty for {title!r}", line=line, field="answers[...]")
            if title not in space.entities:
                problem = f"{title!r} is not an entity of {space.name!r}{nearest(title, space.entities)}"
                raise InputError(questions, problem, line=line, field="answers")
            if not (dataset.entities[title].description or "").strip():
                problem = f"{title!r} has no description in `{dataset.name}`: `shadowprobe describe` fills it"
                raise InputError(questions, problem, line=line, field="answers")
        questions_per_name[space.name] += 1
        entities = [dataset.entities[title] for title in space.entities if title in answers]
        ambig_set = AmbigSet(
            question=question.question,
            ambiguous_entity=space.name,
            documents=tuple(
                AmbigDocument(entity.title, entity.description or "", answers[entity.title], entity.page_id)
                for entity in entities
            ),
            qid=f"{space.name} {questions_per_name[space.name]}",
        )
        for _, problem in _find_problems(ambig_set):
            # The question file has the answers of all documents in one field.
            raise InputError(questions, problem, line=line, field="answers")
        sets.append(ambig_set)
    if not sets:
        raise InputError(questions, "holds no question")
    return sets
