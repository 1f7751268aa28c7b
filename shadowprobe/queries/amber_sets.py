"""AmbER sets as they are released: namesakes, and queries that only one of them answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.errors import InputError
from shadowprobe.jsonl import read_lines

FILE = "amber_sets.jsonl"
# The tasks, in the paper's order, with its abbreviations.
TASKS = {"fc": "fact checking", "sf": "slot filling", "qa": "question answering"}
COLLECTIONS = ("human", "nonhuman")


class Page(Struct, frozen=True, omit_defaults=True):
    """A document of an entity; the id is that of the knowledge source."""

    wikipedia_id: str
    title: str = ""


class Output(Struct, frozen=True, omit_defaults=True):
    """What a query should get: its answers, and the documents that have one."""

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
        """The ids of the documents that are right."""
        return frozenset(page.wikipedia_id for page in self.output.provenance)


class AmberEntity(Struct, frozen=True, omit_defaults=True):
    """One of the namesakes; the popularity is the logarithm of its page views, where it is known."""

    is_head: bool
    queries: tuple[AmberQuery, ...]
    popularity: float | None = None
    wikipedia: tuple[Page, ...] = ()

    @property
    def documents(self) -> frozenset[str]:
        """The ids of all documents about it, those that gold queries name included."""
        named = {page.wikipedia_id for query in self.queries for page in query.output.provenance}
        return frozenset(named | {page.wikipedia_id for page in self.wikipedia})


class AmberSet(Struct, frozen=True):
    """A name and the entities that share it, by their QIDs or whatever else tells them apart."""

    name: str
    qids: dict[str, AmberEntity]

    def queries(self) -> Iterator[tuple[str, AmberQuery]]:
        """Every query with the entity that it is about."""
        for qid, entity in self.qids.items():
            for query in entity.queries:
                yield qid, query


Part = tuple[str, str]


def read_amber_sets(path: Path) -> dict[Part, list[AmberSet]]:
    """The sets of a file, or of a folder laid out as the release, by collection and task.

    A file says neither: both are read from the folders that it lies in, as in `human/qa/amber_sets.jsonl`, and are
    empty where these have other names.
    """
    if not path.exists():
        raise InputError(path, "no such file or folder")
    files = [path] if path.is_file() else sorted(path.glob(f"**/{FILE}"))
    if not files:
        raise InputError(path, f"holds no {FILE}")
    found: dict[Part, list[AmberSet]] = {}
    ids: set[str] = set()
    for file in files:
        sets = list(_read(file, ids))
        if not sets:
            raise InputError(file, "holds no sets")
        found.setdefault(_part(file), []).extend(sets)
    order = [(collection, task) for collection in (*COLLECTIONS, "") for task in (*TASKS, "")]
    return {part: found[part] for part in order if part in found}


def _part(file: Path) -> Part:
    # Of the folder, and not of the file: a file may be a link into a store whose folders say nothing.
    folder = file.parent.resolve()
    task, collection = folder.name, folder.parent.name
    return collection if collection in COLLECTIONS else "", task if task in TASKS else ""


def _read(file: Path, ids: set[str]) -> Iterator[AmberSet]:
    for line, amber_set in read_lines(file, AmberSet):
        for name, problem in _faults(amber_set, ids):
            raise InputError(file, problem, line=line, field=name)
        yield amber_set


def _faults(amber_set: AmberSet, ids: set[str]) -> Iterator[tuple[str, str]]:
    if not amber_set.name.strip():
        yield "name", "is empty"
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


def names(parts: Mapping[Part, Sequence[AmberSet]]) -> dict[str, list[frozenset[str]]]:
    """The documents of the entities behind each name, most popular first; heads first where nothing says how popular.

    People and things may share a name, so that it has a head in each collection.
    """
    found: dict[str, list[AmberEntity]] = {}
    for sets in parts.values():
        for amber_set in sets:
            found.setdefault(amber_set.name, []).extend(amber_set.qids.values())
    return {name: list(dict.fromkeys(one.documents for one in _by_popularity(many))) for name, many in found.items()}


def _by_popularity(entities: Sequence[AmberEntity]) -> list[AmberEntity]:
    told = all(entity.popularity is not None for entity in entities)
    return sorted(entities, key=lambda entity: (-(entity.popularity or 0) if told else 0, not entity.is_head))
