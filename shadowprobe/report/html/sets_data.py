"""What the browser of AmbER sets shows: names, entities, queries, and what became of each query in every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shadowprobe.errors import InputError, UsageError
from shadowprobe.report.html.data import Strings
from shadowprobe.report.retrieval_table import COLLECTIONS
from shadowprobe.retrieval.amber_places import Place, placed
from shadowprobe.retrieval.amber_sets import TASKS, AmberEntity, AmberQuery, AmberSet, Part, read_amber_sets
from shadowprobe.retrieval.card import read_card
from shadowprobe.retrieval.collection import BUILTIN, Collection, digest_of, open_collection
from shadowprobe.retrieval.measured import MeasuredRun
from shadowprobe.retrieval.model import Document
from shadowprobe.retrieval.rankings import Rankings, read_rankings
from shadowprobe.retrieval.session import RANKINGS
from shadowprobe.run_directory import RUN

PROBE = "amber"
MEANING = {
    "right": "the gold document stands first",
    "namesake first": "a document of a namesake stands above the gold one",
    "other document first": "the gold document was found, and something that is no namesake's stands above it",
    "not found": "neither the gold document nor a namesake's was found",
    "no ranking": "the query was not asked, or the file has no ranking for it",
}
OUTCOMES = tuple(MEANING)


class Source(NamedTuple):
    """The documents and the sets of a run."""

    collection: Collection
    parts: dict[Part, list[AmberSet]]


def open_source(run: MeasuredRun, place: str | None = None, queries: Path | None = None) -> Source:
    """The sets that a run was asked about; refuses where they are not, or are others."""
    name, digest = run.results["collection"]["name"], run.results["collection"]["digest"]
    if PROBE not in run.results["queries"]:
        raise UsageError(f"{run.path} was not asked `{PROBE}`")
    told = read_card(run.path / RUN).locations if (run.path / RUN).exists() else {}
    if place is None and name not in BUILTIN:
        place = told.get("collection")
        if place is None or not Path(place).exists():
            raise UsageError(f"the collection `{name}` is not where the run had it; --dataset says where it is")
    if queries is None and "queries" in told:
        queries = Path(told["queries"])
        if not queries.exists():
            raise UsageError(f"{queries} is no more; --queries says where the AmbER sets are")
    collection = open_collection(place or name)
    if collection.digest != digest:
        raise InputError(
            collection.path, f"is not what {run.path} is over ({collection.digest[:12]}..., not {digest[:12]}...)"
        )
    if queries is None and collection.directory is None:
        raise UsageError(f"`{collection.name}` is a file of documents alone; --queries says where the AmbER sets are")
    folder = queries or (collection.directory or Path()) / PROBE
    parts = read_amber_sets(folder)
    if digest_of(folder) != run.results["queries"][PROBE]:
        raise InputError(folder, f"has other AmbER sets than {run.path} was asked about; --queries says where they are")
    return Source(collection, parts)


def packed(runs: Sequence[MeasuredRun], source: Source) -> dict[str, Any]:
    """The sets and the outcomes of runs over them, in columns of numbers and one table of texts."""
    strings = Strings()
    rows = [
        (part, one, qid, entity, query)
        for part, sets in source.parts.items()
        for one in sets
        for qid, entity in one.qids.items()
        for query in entity.queries
    ]
    entities: dict[tuple[str, str, bool], tuple[int, AmberEntity]] = {}
    for _, one, qid, entity, _ in rows:
        entities.setdefault((one.name, qid, entity.is_head), (len(entities), entity))
    ranked = [read_rankings(_rankings_of(run)) for run in runs]
    known = _known(source.collection, {found for run in ranked for one in run for found in one.documents})
    titles = {found: document.title for found, document in known.items()} | _titles(source)
    pages = {found: document.page for found, document in known.items() if document.page is not None}
    systems = []
    for run, rankings in zip(runs, ranked, strict=True):
        depth = run.results["settings"]["depth"]
        systems.append(
            _system(run.label, rows, Rankings(source.collection, rankings, depth=depth, pages=pages), titles, strings)
        )
    collections, tasks = list(COLLECTIONS), [*TASKS, "queries"]
    columns: dict[str, list[Any]] = {
        "id": [strings.number(query.id) for *_, query in rows],
        "name": [strings.number(one.name) for _, one, *_ in rows],
        "collection": [collections.index(part[0] or "sets") for part, *_ in rows],
        "task": [tasks.index(part[1] or "queries") for part, *_ in rows],
        "entity": [entities[one.name, qid, entity.is_head][0] for _, one, qid, entity, _ in rows],
        "text": [strings.number(query.input) for *_, query in rows],
        "gold": [strings.number(_gold(query, titles)) for *_, query in rows],
        "answer": [strings.number(_answer(query)) for *_, query in rows],
    }
    return {
        "outcomes": list(MEANING.items()),
        "collections": list(COLLECTIONS.values()),
        "tasks": [*TASKS.values(), "queries"],
        "queries": columns,
        "entities": {
            "id": [strings.number(qid) for _, qid, _ in entities],
            "title": [strings.number(_title(qid, entity)) for (_, qid, _), (_, entity) in entities.items()],
            "head": [int(is_head) for *_, is_head in entities],
            "popularity": [_short(entity.popularity) for _, entity in entities.values()],
        },
        "systems": systems,
        "strings": strings.all(),
    }


def _rankings_of(run: MeasuredRun) -> Path:
    path = run.path / RANKINGS
    if not path.exists():
        raise InputError(run.path, f"has no {RANKINGS}")
    return path


def _system(
    label: str,
    rows: Sequence[tuple[Part, AmberSet, str, AmberEntity, AmberQuery]],
    rankings: Rankings,
    titles: Mapping[str, str],
    strings: Strings,
) -> dict[str, Any]:
    columns: dict[str, list[int]] = {name: [] for name in ("outcome", "rank", "rival", "rival_title", "first")}
    for _, one, _, entity, query in rows:
        articles = rankings.articles(query.id)
        place = placed(one, entity, query, articles)
        # What stands first is told where it is neither of the two that are told anyway.
        first = articles[0] if articles and 1 not in (place.rank, place.rival) else None
        named = [None if found is None else titles.get(found, found) for found in (place.rival_document, first)]
        outcome = outcome_of(place) if query.id in rankings else "no ranking"
        numbers = (OUTCOMES.index(outcome), place.rank, place.rival, *map(strings.number, named))
        for column, number in zip(columns.values(), numbers, strict=True):
            column.append(number)
    return {"label": label, **columns}


def outcome_of(place: Place) -> str:
    """What became of a query that has a ranking, one of OUTCOMES."""
    if place.rank == 1:
        return "right"
    if place.confused:
        return "namesake first"
    return "other document first" if place.rank else "not found"


def _known(collection: Collection, ids: set[str]) -> dict[str, Document]:
    """The documents of some ids without their texts, which could fill the memory."""
    return {
        document.id: Document(document.id, document.title, "", document.qid, document.page)
        for document in collection.documents()
        if document.id in ids
    }


def _titles(source: Source) -> dict[str, str]:
    """The titles of documents as the sets have them."""
    pages = (
        page
        for sets in source.parts.values()
        for one in sets
        for entity in one.qids.values()
        for page in (*entity.wikipedia, *(page for query in entity.queries for page in query.output.provenance))
    )
    return {page.wikipedia_id: page.title for page in pages if page.title}


def _title(qid: str, entity: AmberEntity) -> str:
    pages = (*entity.wikipedia, *(page for query in entity.queries for page in query.output.provenance))
    return next((page.title for page in pages if page.title), qid)


def _gold(query: AmberQuery, titles: Mapping[str, str]) -> str:
    return "; ".join(titles.get(page.wikipedia_id, page.wikipedia_id) for page in query.output.provenance)


def _answer(query: AmberQuery) -> str | None:
    answer = query.output.answer
    return answer if isinstance(answer, str) else "; ".join(answer) or None


def _short(popularity: float | None) -> float | None:
    return None if popularity is None else float(f"{popularity:.4g}")
