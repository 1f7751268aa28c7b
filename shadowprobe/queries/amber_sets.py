"""AmbER sets as they are released: namesakes, and queries that only one of them answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.jsonl import NonBlank, read_lines
from shadowprobe.errors import InputError

FILE = "amber_sets.jsonl"
# The tasks, in the paper's order, with its abbreviations.
TASKS = {"fc": "fact checking", "sf": "slot filling", "qa": "question answering"}
COLLECTIONS = ("human", "nonhuman")
# What readers call them; `sets` are those of a file that does not say which.
COLLECTION_NAMES = {"human": "people", "nonhuman": "things", "sets": "all sets"}


class Page(Struct, frozen=True, omit_defaults=True):
    """A document of an entity; the id is that of the knowledge source."""

    wikipedia_id: str
    title: str = ""


class Output(Struct, frozen=True, omit_defaults=True):
    """The expected result of a query: its answers, and the documents that contain one."""

    answer: list[str] | str = field(default_factory=list)
    provenance: tuple[Page, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)


class AmberQuery(Struct, frozen=True, omit_defaults=True):
    """A question, claim or slot about one entity under the name of the set."""

    id: str
    input: str
    output: Output
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def gold(self) -> frozenset[str]:
        """The ids of the correct documents."""
        return frozenset(page.wikipedia_id for page in self.output.provenance)

    @property
    def answers(self) -> tuple[str, ...]:
        """The right answers."""
        given = self.output.answer
        return (given,) if isinstance(given, str) else tuple(given)


class AmberEntity(Struct, frozen=True, omit_defaults=True):
    """One of the namesakes; the popularity is the logarithm of its page views, if known."""

    is_head: bool
    queries: tuple[AmberQuery, ...]
    popularity: float | None = None
    wikipedia: tuple[Page, ...] = ()

    @property
    def documents(self) -> frozenset[str]:
        """The ids of all documents about it, including the gold documents of its queries."""
        gold = {page.wikipedia_id for query in self.queries for page in query.output.provenance}
        return frozenset(gold | {page.wikipedia_id for page in self.wikipedia})


class AmberSet(Struct, frozen=True):
    """A name and the entities that share it, by QID or another unique key."""

    name: NonBlank
    qids: dict[str, AmberEntity]

    def queries(self) -> Iterator[tuple[str, AmberQuery]]:
        """Every query with the entity that it is about."""
        for qid, entity in self.qids.items():
            for query in entity.queries:
                yield qid, query


Part = tuple[str, str]


def read_amber_sets(path: Path) -> dict[Part, list[AmberSet]]:
    """Reads the sets of a file, or of a folder with the layout of the release, by collection and task.

    Collection and task are the names of the file's folders, as in `human/qa/amber_sets.jsonl`. They are empty if the
    folders have other names.
    """
    if not path.exists():
        raise InputError(path, "no such file or folder")
    files = [path] if path.is_file() else sorted(path.glob(f"**/{FILE}"))
    if not files:
        raise InputError(path, f"holds no {FILE}")
    parts: dict[Part, list[AmberSet]] = {}
    ids: set[str] = set()
    for file in files:
        sets = list(_read_file(file, ids))
        if not sets:
            raise InputError(file, "holds no sets")
        parts.setdefault(_find_part(file), []).extend(sets)
    order = [(collection, task) for collection in (*COLLECTIONS, "") for task in (*TASKS, "")]
    return {part: parts[part] for part in order if part in parts}


def _find_part(file: Path) -> Part:
    # The folder is resolved, but not the file: a file may be a link to a place with other folder names.
    folder = file.parent.resolve()
    task, collection = folder.name, folder.parent.name
    return collection if collection in COLLECTIONS else "", task if task in TASKS else ""


def _read_file(file: Path, ids: set[str]) -> Iterator[AmberSet]:
    for line, amber_set in read_lines(file, AmberSet):
        for name, problem in _find_problems(amber_set, ids):
            raise InputError(file, problem, line=line, field=name)
        yield amber_set


def _find_problems(amber_set: AmberSet, ids: set[str]) -> Iterator[tuple[str, str]]:
    if not any(entity.is_head for entity in amber_set.qids.values()):
        yield "qids", "no entity is the head"
    if not any(entity.queries for entity in amber_set.qids.values()):
        yield "qids", "no entity has a query"
    for qid, query in amber_set.queries():
        if not query.id.strip() or not query.input.strip():
            yield f"qids.{qid}.queries", f"{query.id!r} has an empty id or input"
        if query.id in ids:
            yield f"qids.{qid}.queries", f"the id {query.id!r} stands twice"
        ids.add(query.id)
        if not query.output.provenance:
            yield f"qids.{qid}.queries", f"{query.id!r} has no gold document in its provenance"


def group_by_name(parts: Mapping[Part, Sequence[AmberSet]]) -> dict[str, list[frozenset[str]]]:
    """Lists the documents of each entity of a name, the most popular entity first, or the head if that is not known.

    People and things may share a name: it then has a head in each collection.
    """
    entities: dict[str, list[AmberEntity]] = {}
    for sets in parts.values():
        for amber_set in sets:
            entities.setdefault(amber_set.name, []).extend(amber_set.qids.values())
    return {
        name: list(dict.fromkeys(entity.documents for entity in _sort_by_popularity(namesakes)))
        for name, namesakes in entities.items()
    }


def _sort_by_popularity(entities: Sequence[AmberEntity]) -> list[AmberEntity]:
    is_known = all(entity.popularity is not None for entity in entities)
    return sorted(entities, key=lambda entity: (-(entity.popularity or 0) if is_known else 0, not entity.is_head))
