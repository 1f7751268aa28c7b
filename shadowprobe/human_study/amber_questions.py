"""The questions of AmbER sets that people can be asked: those with documents of three namesakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from shadowprobe.errors import UsageError
from shadowprobe.queries.amber_sets import AmberEntity, AmberQuery, AmberSet, read_amber_sets
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Document

Collected = Literal["human", "nonhuman", "sets"]
Group = Literal["head", "tail"]
_COLLECTIONS: dict[str, Collected] = {"human": "human", "nonhuman": "nonhuman"}
# As many as in the paper.
DOCUMENTS = 3
FOLDER, QUESTIONS = "amber", "qa"
# Why a question cannot be asked.
NO_GOLD = "the right document is not in the collection"
NO_ANSWER = "no right answer is given"
FEW = f"fewer than {DOCUMENTS} namesakes have a document"


class NamesakeDocument(Struct, frozen=True):
    """A document that annotators read; `passages` are the ids by which a ranking may name it."""

    id: str
    title: str
    text: str
    passages: tuple[str, ...]


class AmberQuestion(NamedTuple):
    """A question that can be asked: the right document, and those of its namesakes."""

    collection: Collected
    group: Group
    name: str
    query: AmberQuery
    gold: NamesakeDocument
    others: list[NamesakeDocument]


def list_questions(collection: Collection, queries: Path | None) -> tuple[list[AmberQuestion], dict[str, int]]:
    """Lists the questions that can be asked, and counts the others by reason."""
    parts = read_amber_sets(queries or _find_folder(collection))
    # A file that does not say its task is one of questions, as for readers.
    sets = [(part, one) for (part, task), members in parts.items() if task in {QUESTIONS, ""} for one in members]
    entities = (entity for _, one in sets for entity in one.qids.values())
    known = _read_documents(collection, {document for entity in entities for document in entity.documents})
    questions: list[AmberQuestion] = []
    left_out: Counter[str] = Counter()
    for part, amber_set in sets:
        pairs = ((one, query) for one in amber_set.qids.values() for query in one.queries)
        for entity, query in pairs:
            found = _find_documents(part, amber_set, entity, query, known)
            if isinstance(found, str):
                left_out[found] += 1
            else:
                questions.append(found)
    return questions, dict(left_out)


def _find_folder(collection: Collection) -> Path:
    folder = (collection.directory or Path()) / FOLDER
    if collection.directory is None or not folder.exists():
        raise UsageError(f"the collection `{collection.name}` has no AmbER sets: give them with --queries")
    return folder


def _read_documents(collection: Collection, wanted: Set[str]) -> dict[str, NamesakeDocument]:
    """Reads documents by their ids, from one pass over the collection; the passages of an article are one document."""
    passages: dict[str, list[Document]] = {}
    for document in collection.documents():
        for key in {document.id, document.page or document.id} & wanted:
            passages.setdefault(key, []).append(document)
    documents = {key: _join_passages(key, members) for key, members in passages.items()}
    return {key: document for key, document in documents.items() if document.text.strip()}


def _join_passages(key: str, passages: Sequence[Document]) -> NamesakeDocument:
    # A text field of a browser knows one kind of line break, and the places of answers are counted there.
    text = "\n".join(one.text for one in passages).replace("\r\n", "\n").replace("\r", "\n")
    return NamesakeDocument(key, passages[0].title, text, tuple(one.id for one in passages))


def _find_documents(
    part: str, amber_set: AmberSet, entity: AmberEntity, query: AmberQuery, known: Mapping[str, NamesakeDocument]
) -> AmberQuestion | str:
    """A question with the documents of its namesakes, or the reason why it cannot be asked."""
    gold = next((known[page.wikipedia_id] for page in query.output.provenance if page.wikipedia_id in known), None)
    if gold is None:
        return NO_GOLD
    if not any(answer.strip() for answer in query.answers):
        return NO_ANSWER
    others: dict[str, NamesakeDocument] = {}
    for other in amber_set.qids.values():
        # A document about both entities does not tell them apart.
        own = sorted(one for one in other.documents - entity.documents if one in known)
        if own:
            others.setdefault(own[0], known[own[0]])
    if len(others) < DOCUMENTS - 1:
        return FEW
    group: Group = "head" if entity.is_head else "tail"
    return AmberQuestion(_COLLECTIONS.get(part, "sets"), group, amber_set.name, query, gold, list(others.values()))
