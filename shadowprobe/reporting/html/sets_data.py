"""What the browser of AmbER sets shows: names, entities, queries, and the outcome of each query in every run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shadowprobe.measure.rankings import Rankings
from shadowprobe.queries.amber_sets import COLLECTION_NAMES, AmberEntity, AmberQuery, AmberSet, Page, Part
from shadowprobe.reporting.html.data import shorten
from shadowprobe.reporting.html.strings import Passages, Strings
from shadowprobe.reporting.retriever_summary import AMBER as PROBE
from shadowprobe.reporting.retriever_summary import TASK_NAMES
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.questions import check_probe, open_collection_of, open_ranking_probe, read_stored_rankings

# The outcomes that the rows of the probe have, each with what it means.
MEANING = {
    "right": "the gold document stands first",
    "namesake first": "a document of a namesake stands above the gold one",
    "other document first": "the gold document was found, and something that is no namesake's stands above it",
    "not found": "neither the gold document nor a namesake's was found",
    "no ranking": "the query was not asked, or the file has no ranking for it",
}
OUTCOMES = tuple(MEANING)


def pack_sets(runs: Sequence[FinishedRun], location: str | None = None, queries: Path | None = None) -> dict[str, Any]:
    """The sets and the outcomes of the runs over them, in columns of numbers and two tables of texts.

    `location` and `queries` say where the documents and the sets are, if not where they were; refuses others.
    """
    runs = [run for run in runs if PROBE in run.results["queries"]] or runs[:1]
    check_probe(runs[0], PROBE)
    collection = open_collection_of(runs[0], location)
    probe: Any = open_ranking_probe(runs[0], PROBE, collection, queries)
    parts: dict[Part, list[AmberSet]] = probe.parts
    strings, passages = Strings(), Passages()
    rows = [
        (part, one, qid, entity, query)
        for part, sets in parts.items()
        for one in sets
        for qid, entity in one.qids.items()
        for query in entity.queries
    ]
    entities: dict[tuple[str, str, bool], tuple[int, AmberEntity]] = {}
    for _, one, qid, entity, _ in rows:
        entities.setdefault((one.name, qid, entity.is_head), (len(entities), entity))
    ranked = [read_stored_rankings(run) for run in runs]
    ids = {document for rankings in ranked for ranking in rankings for document in ranking.documents}
    titles, pages = {}, {}
    for document in collection.documents():
        if document.id in ids:
            titles[document.id] = document.title
            if document.page is not None:
                pages[document.id] = document.page
    # The titles as the sets have them come first.
    everyone = (entity for sets in parts.values() for one in sets for entity in one.qids.values())
    titles |= {page.wikipedia_id: page.title for entity in everyone for page in _titled_pages(entity)}
    systems = []
    for run, rankings in zip(runs, ranked, strict=True):
        depth = run.results["settings"]["depth"]
        measured = probe.rows(Rankings(collection, rankings, depth=depth, pages=pages))
        systems.append({"label": run.label, **_outcomes(measured, titles, strings)})
    collections, tasks = list(COLLECTION_NAMES), list(TASK_NAMES)
    columns: dict[str, list[Any]] = {
        "id": [strings.number(query.id) for *_, query in rows],
        "name": [strings.number(one.name) for _, one, *_ in rows],
        "collection": [collections.index(part[0] or "sets") for part, *_ in rows],
        "task": [tasks.index(part[1] or "queries") for part, *_ in rows],
        "entity": [entities[one.name, qid, entity.is_head][0] for _, one, qid, entity, _ in rows],
        "text": [passages.number(query.input) for *_, query in rows],
        "gold": [strings.number(_gold(query, titles)) for *_, query in rows],
        "answer": [passages.number(_answer(query)) for *_, query in rows],
    }
    return {
        "outcomes": [list(pair) for pair in MEANING.items()],
        "collections": list(COLLECTION_NAMES.values()),
        "tasks": list(TASK_NAMES.values()),
        "queries": columns,
        "entities": {
            "id": [strings.number(qid) for _, qid, _ in entities],
            "title": [
                strings.number(next((page.title for page in _titled_pages(entity)), qid))
                for (_, qid, _), (_, entity) in entities.items()
            ],
            "head": [int(is_head) for *_, is_head in entities],
            "popularity": [shorten(entity.popularity) for _, entity in entities.values()],
        },
        "systems": systems,
        "strings": strings.all(),
        "passages": passages,
    }


def _outcomes(rows: Iterable[dict[str, Any]], titles: Mapping[str, str], strings: Strings) -> dict[str, list[int]]:
    """The outcome of each query, in columns; a rank of 0 is a document that was not found."""
    numbers = []
    for row in rows:
        # The document at the top is named where it is neither of the two that are shown anyway.
        first = None if 1 in (row["rank"], row["namesake_rank"]) else row["first"]
        named = [None if document is None else titles.get(document, document) for document in (row["namesake"], first)]
        ranks = [row["rank"] or 0, row["namesake_rank"] or 0]
        numbers.append((OUTCOMES.index(row["outcome"]), *ranks, *map(strings.number, named)))
    names = ("outcome", "rank", "rival", "rival_title", "first")
    return {name: [row[place] for row in numbers] for place, name in enumerate(names)}


def _titled_pages(entity: AmberEntity) -> Iterator[Page]:
    """The documents of an entity that have a title."""
    gold = (page for query in entity.queries for page in query.output.provenance)
    return (page for page in (*entity.wikipedia, *gold) if page.title)


def _gold(query: AmberQuery, titles: Mapping[str, str]) -> str:
    return "; ".join(titles.get(page.wikipedia_id, page.wikipedia_id) for page in query.output.provenance)


def _answer(query: AmberQuery) -> str | None:
    answer = query.output.answer
    return answer if isinstance(answer, str) else "; ".join(answer) or None
