"""Makes AmbER sets from Wikidata and writes them in the layout of the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe.base.files import make_directory, open_for_reading, write_atomically
from shadowprobe.base.jsonl import encode_json, encode_lines
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.build.settings import today
from shadowprobe.errors import BuildError, UsageError
from shadowprobe.queries.amber_sets import COLLECTIONS, FILE, TASKS, AmberSet
from shadowprobe.sets.amber_rules import Namesake, make_sets, read_properties
from shadowprobe.sets.article_documents import find_documents
from shadowprobe.sets.fact_source import Origin, open_facts
from shadowprobe.sets.fact_store import parse_qid
from shadowprobe.sets.namesakes import NamedEntity, Namesakes
from shadowprobe.sets.popularity import Popularity, compute_popularity
from shadowprobe.sets.values import Values

CARD = "amber.json"
WITHOUT_DOCUMENT = "entities without a document"
# The sets of each collection by task.
Sets = dict[str, dict[str, list[AmberSet]]]


class Counts(Struct, frozen=True):
    """The size of a collection, as in the paper's Table 4: totals, and averages per set."""

    sets: int
    entities: int
    entities_with_properties: int
    properties: int
    queries: dict[str, int]
    per_set: dict[str, float]


class AmberCard(Struct, frozen=True):
    """The content of `amber.json`: the sources of the sets, and what was left out and why."""

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
    """Refuses a directory that holds sets, before the long work begins."""
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
    progress: Progress = ignore_progress,
) -> AmberCard:
    """Makes AmbER sets and writes them with their card; overwrites other sets only with `force`."""
    refuse_to_overwrite(out, force=force)
    # A missing file is reported now, and not after hours.
    with open_for_reading(documents):
        make_directory(out)
    sets, dropped = gather_sets(origin, documents, popularity, out, limit=limit, progress=progress)
    if not any(amber_sets for tasks in sets.values() for amber_sets in tasks.values()):
        why = "; ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise BuildError(f"no AmbER set could be made ({why or 'no two entities of the wanted kinds share a name'})")
    card = AmberCard(
        counts={name: _count(tasks) for name, tasks in sets.items() if tasks["qa"]},
        dropped=dict(dropped),
        language=origin.language,
        subclasses=origin.subclasses,
        source=origin.describe(),
        documents=documents.name,
        popularity=popularity.describe(),
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
    progress: Progress = ignore_progress,
) -> tuple[Sets, Counter[str]]:
    """Makes the sets of both collections, and counts what was left out by its reason."""
    known = read_properties()
    with open_facts(origin, directory, known.properties, progress, classes=True) as facts:
        namesakes, values = Namesakes(facts.connection, known, origin), Values(facts.connection)
        names = {collection: dict(islice(namesakes.list_names(collection), limit)) for collection in COLLECTIONS}
        entities = [entity for shared in names.values() for many in shared.values() for entity in many]
        titles = {entity.qid: entity.title for entity in entities}
        counts = popularity.count(titles, progress)
        with_facts = {entity.qid for entity in entities if entity.own}
        articles = find_documents(documents, titles, with_facts, progress)
        dropped = facts.dropped + namesakes.dropped
        dropped[WITHOUT_DOCUMENT] = len(titles) - len(articles)

        def make_namesake(entity: NamedEntity) -> Namesake:
            known_values = {number: many for number in entity.own if (many := values.find(entity.qid, number))}
            count = counts.get(entity.qid)
            popularity = None if count is None else compute_popularity(count)
            return Namesake(entity.qid, articles.get(entity.qid, ()), known_values, popularity)

        def popularity_order(entity: NamedEntity) -> tuple[int, int]:
            """The most popular entity first, unknown popularity last, and equal ones in the order of their QIDs."""
            return -counts.get(entity.qid, -1), parse_qid(entity.qid)

        sets: Sets = {}
        for collection, shared in names.items():
            ordered = {name: sorted(many, key=popularity_order) for name, many in shared.items()}
            made = make_sets({name: list(map(make_namesake, many)) for name, many in ordered.items()}, known.properties)
            sets[collection] = made.sets
            dropped.update(made.dropped)
    # A sum of counters has no zeros.
    return sets, dropped + values.dropped


def _count(tasks: Mapping[str, Sequence[AmberSet]]) -> Counts:
    entities = [entity for amber_set in tasks["qa"] for entity in amber_set.qids.values()]
    totals = {
        "entities": len(entities),
        "entities_with_properties": sum(1 for entity in entities if entity.queries),
        # There is one question for each property.
        "properties": sum(len(entity.queries) for entity in entities),
    }
    sets = len(tasks["qa"])
    queries = {task: sum(1 for amber_set in many for _ in amber_set.queries()) for task, many in tasks.items()}
    per_set = {name: round(total / sets, 2) for name, total in totals.items()}
    return Counts(sets=sets, **totals, queries=queries, per_set=per_set)


def _files(out: Path) -> dict[tuple[str, str], Path]:
    return {(collection, task): out / collection / task / FILE for collection in COLLECTIONS for task in TASKS}


def _write(out: Path, sets: Sets, card: AmberCard) -> None:
    # The card is deleted first and written last: sets without a card are incomplete.
    (out / CARD).unlink(missing_ok=True)
    for (collection, task), path in _files(out).items():
        if not sets[collection][task]:
            path.unlink(missing_ok=True)
            continue
        make_directory(path.parent)
        write_atomically(path, encode_lines(sets[collection][task]))
    write_atomically(out / CARD, encode_json(card))
