"""What training changed: the same questions before and after it, and with BM25."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shadowprobe.measure.statistics import ROUNDS, SEED, describe_difference, describe_gap, describe_share
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.item_measures import AMBER, is_among
from shadowprobe.running.job import Progress
from shadowprobe.running.questions import open_collection_of, open_ranking_probe, read_rankings_of
from shadowprobe.running.retrieving import DEPTH, RetrievalSettings, make_retrieving_job

BEFORE, AFTER, BM25 = "before", "after", "bm25"
GROUPS = ("head", "tail")
# The retriever of each system, by its name and options.
Retrievers = Mapping[str, tuple[str, Mapping[str, str]]]
Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]


def run_systems(
    retrievers: Retrievers,
    collection: str,
    probe: str,
    queries: Path | None,
    folder: Path,
    ks: tuple[int, ...],
    progress: Progress | None = None,
) -> list[FinishedRun]:
    """Asks every retriever the queries of a probe, each in its own run directory; goes on where a run stopped."""
    settings = RetrievalSettings(ks, max(DEPTH, *ks))
    paths = []
    for system, (name, options) in retrievers.items():
        job = make_retrieving_job(
            name,
            collection,
            probes=(probe,),
            queries=queries,
            options=options,
            out=folder / system,
            settings=settings,
        )
        paths.append(job.run(progress).out)
    return read_runs(paths, names=list(retrievers))


def read_rows(runs: Sequence[FinishedRun], collection: str, probe: str, ks: tuple[int, ...]) -> dict[str, list[Row]]:
    """What a probe says of every query in each run, by the label of the run."""
    opened = open_collection_of(runs[0], collection)
    loaded = open_ranking_probe(runs[0], probe, opened)
    return {
        run.label: list(loaded.rows(rankings))
        for run, rankings in zip(runs, read_rankings_of(runs, opened, ks), strict=True)
    }


def describe_questions(rows: Rows, subjects: Sequence[str], chosen: Sequence[bool], ks: Sequence[int]) -> Row | None:
    """The accuracies of all systems on the chosen questions, and what changed; None where no question is chosen.

    Questions about the same subject depend on each other, so subjects are drawn for the intervals of changes.
    """
    places = [place for place, is_chosen in enumerate(chosen) if is_chosen]
    if not places:
        return None
    codes = np.unique([subjects[place] for place in places], return_inverse=True)[1].astype(np.int32)
    described: Row = {"n": len(places), "subjects": len(set(codes.tolist())), "systems": {}, "change": {}, "lead": {}}
    for k in ks:
        holds = {system: is_among([of_system[place] for place in places], k) for system, of_system in rows.items()}
        for system, hits in holds.items():
            described["systems"].setdefault(system, {})[str(k)] = describe_share(hits.tolist())
        for name, other in (("change", BEFORE), ("lead", BM25)):
            # What is after training, minus what was before it or is with BM25.
            difference = describe_difference("difference", holds[AFTER], holds[other], codes, ROUNDS, SEED)
            described[name][str(k)] = {"difference": difference["difference"], "ci95": difference["difference_ci95"]}
    return described


def describe_amber(runs: Sequence[FinishedRun], rows: Rows) -> Row:
    """Head, tail and their gap before and after training in each collection and task, and how the gap changed."""
    parts: Row = {}
    for collection, task in dict.fromkeys((row["collection"], row["task"]) for row in rows[BEFORE]):
        k = str(min(runs[0].results["settings"]["k"]))
        found = {run.label: run.results["probes"][AMBER][collection][task] for run in runs}
        parts.setdefault(collection, {})[task] = {
            "k": int(k),
            "sets": found[BEFORE]["sets"],
            "systems": {
                system: {**{group: one["accuracy"][k][group] for group in GROUPS}, "gap": one["gap"]}
                for system, one in found.items()
            },
            "gap_change": _change_of_gap(rows, collection, task, int(k)),
        }
    return parts


def _change_of_gap(rows: Rows, collection: str, task: str, k: int) -> Row | None:
    """How much wider the gap between head and tail became; sets are drawn, with their queries before and after."""
    counts: dict[int, list[int]] = {}
    before, after = (is_among(rows[system], k).astype(int).tolist() for system in (BEFORE, AFTER))
    for row, was_right, is_right in zip(rows[BEFORE], before, after, strict=True):
        if (row["collection"], row["task"]) == (collection, task):
            of_set = counts.setdefault(row["set"], [0, 0, 0, 0])
            first = 0 if row["group"] == "head" else 2
            of_set[first] += is_right - was_right
            of_set[first + 1] += 1
    return describe_gap(list(counts.values()), ROUNDS, SEED)
