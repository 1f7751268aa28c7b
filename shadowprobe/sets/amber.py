"""AmbER sets from Wikidata: names, their entities, articles and popularity, into files laid out as the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe.build.settings import today
from shadowprobe.dataset import make_directory
from shadowprobe.errors import BuildError, UsageError
from shadowprobe.jsonl import encode_json, encode_lines, open_for_reading, write_atomically
from shadowprobe.retrieval.amber_making import Namesake, make_sets, paper_properties
from shadowprobe.retrieval.amber_sets import COLLECTIONS, FILE, TASKS, AmberSet
from shadowprobe.retrieval.wikidata.documents import find_documents
from shadowprobe.retrieval.wikidata.dump import Progress
from shadowprobe.retrieval.wikidata.namesakes import Bearer, Namesakes
from shadowprobe.retrieval.wikidata.origin import Origin, open_facts
from shadowprobe.retrieval.wikidata.popularity import Popularity, logarithm
from shadowprobe.retrieval.wikidata.store import number_of
from shadowprobe.retrieval.wikidata.values import Values

CARD = "amber.json"
WITHOUT_DOCUMENT = "entities without a document"
# The sets of each collection by task.
Sets = dict[str, dict[str, list[AmberSet]]]


class Counts(Struct, frozen=True):
    """How large a collection is, as in the paper's Table 4: totals, and what there is of each in a set."""

    sets: int
    entities: int
    entities_with_properties: int
    properties: int
    queries: dict[str, int]
    per_set: dict[str, float]


class AmberCard(Struct, frozen=True):
    """What `amber.json` says: what was made of what, and what was left out and why."""

    counts: dict[str, Counts]
    dropped: dict[str, int]
    language: str
    subclasses: bool
    source: dict[str, Any]
    documents: str
    popularity: dict[str, Any]
    made: str
    shadowprobe: str
    schema: int = 1


def refuse_to_overwrite(out: Path, *, force: bool) -> None:
    """Refuses a directory that holds sets, before hours of work and not after them."""
    if not force and ((out / CARD).exists() or any(path.exists() for path in _files(out).values())):
        raise UsageError(f"{out} holds AmbER sets already; --force writes over them")


def write_amber(
    origin: Origin,
    documents: Path,
    popularity: Popularity,
    out: Path,
    *,
    limit: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> AmberCard:
    """Makes AmbER sets and writes them with their card; refuses to write over others without `force`."""
    refuse_to_overwrite(out, force=force)
    # Whether it is there is better known now than after hours.
    with open_for_reading(documents):
        make_directory(out)
    sets, dropped = gather_sets(origin, documents, popularity, out, limit=limit, progress=progress)
    if not any(many for tasks in sets.values() for many in tasks.values()):
        why = "; ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise BuildError(f"no AmbER set could be made ({why or 'no two entities of the wanted kinds share a name'})")
    card = AmberCard(
        counts={name: _counted(tasks) for name, tasks in sets.items() if tasks["qa"]},
        dropped=dict(dropped),
        language=origin.language,
        subclasses=origin.subclasses,
        source=origin.described(),
        documents=documents.name,
        popularity=popularity.described(),
        made=today(),
        shadowprobe=shadowprobe.__version__,
    )
    _write(out, sets, card)
    return card


def gather_sets(
    origin: Origin,
    documents: Path,
    popularity: Popularity,
    directory: Path,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[Sets, Counter[str]]:
    """The sets of both collections, and what was left out on the way and why."""
    known = paper_properties()
    with open_facts(origin, directory, known.properties, progress, classes=True) as facts:
        book, values = Namesakes(facts.connection, known, origin), Values(facts.connection)
        names = {collection: dict(islice(book.names(collection), limit)) for collection in COLLECTIONS}
        titles = {bearer.qid: bearer.title for bearer in _bearers(names)}
        counts = popularity.counts(titles, progress)
        telling = {bearer.qid for bearer in _bearers(names) if bearer.own}
        found = find_documents(documents, titles, telling, progress)
        dropped = facts.dropped + book.dropped
        if len(found) < len(titles):
            dropped[WITHOUT_DOCUMENT] = len(titles) - len(found)

        def namesake(bearer: Bearer) -> Namesake:
            facts_of = {number: many for number in bearer.own if (many := values.of(bearer.qid, number))}
            count = counts.get(bearer.qid)
            return Namesake(
                bearer.qid, found.get(bearer.qid, ()), facts_of, None if count is None else logarithm(count)
            )

        sets: Sets = {}
        for collection, shared in names.items():
            ordered = {name: sorted(bearers, key=_by_popularity(counts)) for name, bearers in shared.items()}
            made = make_sets({name: list(map(namesake, many)) for name, many in ordered.items()}, known.properties)
            sets[collection] = made.sets
            dropped.update(made.dropped)
    return sets, dropped + values.dropped


def _bearers(names: Mapping[str, Mapping[str, Sequence[Bearer]]]) -> Iterator[Bearer]:
    return (bearer for shared in names.values() for bearers in shared.values() for bearer in bearers)


def _by_popularity(counts: Mapping[str, int]) -> Callable[[Bearer], tuple[int, int]]:
    """The most popular first, and those of which it is not known last; equals in the order of their QIDs."""
    return lambda bearer: (-counts.get(bearer.qid, -1), number_of(bearer.qid))


def _counted(tasks: Mapping[str, Sequence[AmberSet]]) -> Counts:
    entities = [entity for amber_set in tasks["qa"] for entity in amber_set.qids.values()]
    totals = {
        "entities": len(entities),
        "entities_with_properties": sum(1 for entity in entities if entity.queries),
        # A property makes one question.
        "properties": sum(len(entity.queries) for entity in entities),
    }
    sets = len(tasks["qa"])
    queries = {task: sum(1 for amber_set in many for _ in amber_set.queries()) for task, many in tasks.items()}
    per_set = {name: round(total / sets, 2) for name, total in totals.items()}
    return Counts(sets=sets, **totals, queries=queries, per_set=per_set)


def _files(out: Path) -> dict[tuple[str, str], Path]:
    return {(collection, task): out / collection / task / FILE for collection in COLLECTIONS for task in TASKS}


def _write(out: Path, sets: Sets, card: AmberCard) -> None:
    # The card goes first and comes last: without one, half of the sets are none.
    (out / CARD).unlink(missing_ok=True)
    for (collection, task), path in _files(out).items():
        if not sets[collection][task]:
            path.unlink(missing_ok=True)
            continue
        make_directory(path.parent)
        write_atomically(path, encode_lines(sets[collection][task]))
    write_atomically(out / CARD, encode_json(card))
