"""What a reader loses with the documents of a retriever in place of the right ones, and who loses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from shadowprobe.measure.statistics import describe_mean
from shadowprobe.running.document_source import ORACLE
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.item_measures import AMBER_READING
from shadowprobe.running.questions import read_reading_rows

GROUPS = ("all", "head", "tail")
Row = dict[str, Any]
# A mean with its number of queries and its interval.
Mean = dict[str, Any]


class Loss(Struct, frozen=True):
    """The mean scores of two runs of a reader over the same queries, and the two parts of their difference.

    `by_retriever`: over the queries for which no right document was among those of the retriever. `by_reader`: over the
    others, where the reader had a right document beside other ones. Both are shares of all queries, so that they add up
    to `gap`.
    """

    label: str
    collection: str
    task: str
    group: str
    oracle: Mean
    retrieved: Mean
    gap: Mean
    by_retriever: Mean
    by_reader: Mean


def list_losses(runs: Sequence[FinishedRun]) -> list[Loss]:
    """The losses of each run with the documents of a retriever, where the run of its reader with the right ones is."""
    return [loss for run in runs for oracle in _find_oracle(run, runs) for loss in _split(oracle, run)]


def _find_oracle(run: FinishedRun, runs: Sequence[FinishedRun]) -> Iterator[FinishedRun]:
    """The run of the same reader with the right documents, for a run with other ones."""
    if run.kind != "reader" or AMBER_READING not in run.results["probes"] or _reads_gold(run):
        return
    for other in runs:
        if _reads_gold(other) and _identify(other) == _identify(run) and AMBER_READING in other.results["probes"]:
            yield other
            return


def _reads_gold(run: FinishedRun) -> bool:
    return bool(run.results["documents"]["source"] == ORACLE)


def _identify(run: FinishedRun) -> tuple[Any, ...]:
    options = {key: value for key, value in run.system["options"].items() if key != "documents"}
    return run.system["name"], run.system.get("version"), options


def _split(oracle: FinishedRun, run: FinishedRun) -> Iterator[Loss]:
    right, given = ({row["id"]: row for row in read_reading_rows(one)[AMBER_READING]} for one in (oracle, run))
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in given.values():
        if row["id"] in right and row["found"] is not None:
            parts.setdefault((row["collection"], row["task"]), []).append(row)
    settings = run.results["settings"]
    for (collection, task), rows in parts.items():
        for group in GROUPS:
            members = [row for row in rows if group in {"all", row["group"]}]
            if members:
                means = _measure(members, right, settings["bootstrap_rounds"], settings["bootstrap_seed"])
                yield Loss(run.label, collection, task, group, **means)


def _measure(rows: Sequence[Row], right: Mapping[str, Row], rounds: int, seed: int) -> dict[str, Mean]:
    """The means of the scores, of their differences, and of the parts of these, over the same queries."""
    lost = [right[row["id"]]["score"] - row["score"] for row in rows]
    values = {
        "oracle": [right[row["id"]]["score"] for row in rows],
        "retrieved": [row["score"] for row in rows],
        "gap": lost,
        "by_retriever": [0.0 if row["found"] else value for row, value in zip(rows, lost, strict=True)],
        "by_reader": [value if row["found"] else 0.0 for row, value in zip(rows, lost, strict=True)],
    }
    sets = [row["set"] for row in rows]
    return {name: describe_mean(own, sets, rounds, seed) or {} for name, own in values.items()}
