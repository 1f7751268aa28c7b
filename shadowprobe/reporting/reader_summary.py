"""What a screen and a page say of a reader: does it answer queries about the less popular namesake as well?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.reporting.relation_rows import mean_rows, relation_columns, relation_rows
from shadowprobe.reporting.retriever_summary import GROUPS, by_task, describe_gaps, list_parts, list_sizes
from shadowprobe.reporting.tables.table import (
    Column,
    Results,
    Row,
    Runs,
    Table,
    estimate,
    percent,
    select_probe,
    text_column,
    write_points,
    write_short,
)

AMBER, QUESTIONS = "amber_reading", "entity_questions_reading"
# The probes that the tables show.
SHOWN = {AMBER, QUESTIONS}


def describe_size(results: Results) -> str:
    """How many sets, entities and questions a run is over, and what was read."""
    sizes = [*list_sizes(results["probes"], AMBER, QUESTIONS)]
    limit = results["collection"]["limit"]
    sizes += [f"limited to the first {limit} of each part"] if limit is not None else []
    return "; ".join([*sizes, f"documents: {_name_documents(results)}"])


def _name_documents(results: Results) -> str:
    documents = results["documents"]
    k = documents.get("k")
    return str(documents["source"]) if k is None else f"the first {k} of {documents['source']}"


def list_warnings(results: Results) -> Iterator[str]:
    """What changes the meaning of a figure."""
    if results["missing"]:
        yield f"{results['missing']} queries have no answer; they count as wrong"


def describe_verdict(results: Results) -> str:
    """Whether queries about the less popular namesake are answered as well, by the difference in every task."""
    found = results["probes"].get(AMBER)
    if found is None:
        answered = results["probes"].get(QUESTIONS)
        share = answered["micro"]["exact_match"] if answered is not None else None
        rest = f"; it answers {percent(share['rate'], share['ci95'])} of {share['n']} simple questions" if share else ""
        return f"was not asked about namesakes{rest}."
    return describe_gaps(found, "answers queries about the less popular namesake", "score", ("well", "worse", "better"))


def make_tables(runs: Runs) -> list[Table]:
    """Every table that the runs have figures for: AmbER's Table 7 by collection, and EntityQuestions by relation."""
    amber, questions = select_probe(runs, AMBER), select_probe(runs, QUESTIONS)
    collections = dict.fromkeys(collection for collection, _ in list_parts(amber.values()))
    tables = [_reading(amber, collection) for collection in collections]
    return [*tables, _questions(questions)] if questions else tables


def _reading(found: Runs, collection: str) -> Table:
    rows = []
    counts: dict[str, Any] = {}
    for task, label, row in by_task(found, collection):
        counts = counts or row
        cells = [estimate(row["score"][group]) for group in GROUPS]
        rest = (estimate(row["exact_match"]["all"]), estimate(row["found"]["all"]))
        rows.append(Row((task, label, *cells, estimate(row["gap"], "difference"), *rest), section=task))
    columns = (
        text_column("task"),
        text_column("system"),
        *(Column(group, group, write_short) for group in GROUPS),
        Column("gap", "head minus tail,\npoints", write_points),
        Column("exact_match", "exact\nmatch", write_short),
        Column("found", "document\nfound", write_short),
    )
    title = f"AmbER, {COLLECTION_NAMES[collection]}: are queries answered? (%)"
    note = (
        f"{counts['sets']} sets of {counts['entities']} entities; accuracy for claims, else F1 over words; head: the"
        " most popular of a name, tail: its namesakes; document found: a right one was read; in brackets 95% intervals."
    )
    return Table(f"reading-{collection}", title, columns, tuple(rows), (note,))


def _questions(found: Runs) -> Table:
    keys = {"exact_match": "exact match", "f1": "F1"}
    rows = relation_rows(
        found, keys, lambda row, key: float(row[key]["rate"]), lambda row: int(row["exact_match"]["n"])
    )
    macro = [value for one in found.values() for value in (100 * one["macro"], None)]
    micro = [estimate(one["micro"][key]) for one in found.values() for key in keys]
    rows += mean_rows(macro, micro, next(iter(found.values()))["questions"])
    title = "EntityQuestions: are questions answered? (%)"
    columns = relation_columns(found, keys)
    return Table("reading-questions", title, columns, tuple(rows), tuple(_write_losses(found)))


def _write_losses(found: Runs) -> Iterator[str]:
    """Who lost the questions that are wrong, for each run."""
    for label, one in found.items():
        if (lost := one["lost"]) is not None:
            by_retriever, by_reader = (
                percent(lost[key]["rate"], lost[key]["ci95"]) for key in ("by_retriever", "by_reader")
            )
            yield (
                f"{label}: {by_retriever} of the questions are lost by the retriever (wrong, and no document has an"
                f" answer), {by_reader} by the reader (wrong, and one has); 95% intervals."
            )
