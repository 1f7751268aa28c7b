"""The few figures that stand for a run in a list of many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.running.directory import KINDS, Results
from shadowprobe.running.item_measures import (
    AMBER,
    AMBER_READING,
    AMBIGDOCS,
    BOTH_RIGHT,
    OVERSHADOWED,
    PRIOR_BIAS,
    QUESTIONS,
    QUESTIONS_READING,
)

# The task of AmbER that stands for the others, where a set has it: questions, as people ask them.
TASK = "qa"


class Headline(Struct, frozen=True):
    """A figure of a run as a fraction of 1, with its 95% interval."""

    key: str
    # In the lines of a narrow heading.
    name: str
    value: float
    interval: Sequence[float]
    # What `compare` calls the same figure for each item; empty where it is no rate of items.
    measure: str = ""
    # True where less is better.
    is_fault: bool = False


def list_headlines(results: Results) -> list[Headline]:
    """The figures of a run of any kind, as far as its probes were asked."""
    if "linker" in results:
        return [*_list_linking(results)]
    if "retriever" in results:
        return [*_list_retrieval(results)]
    if "reader" in results:
        return [*_list_reading(results)]
    return [*_list_answering(results)]


def _list_linking(results: Results) -> Iterator[Headline]:
    # Without the probe `subsets`, there are none.
    subsets = results.get("subsets", {})
    for subset in ("shadow", "top", "tail", "all"):
        # A closed choice is always right on Tail, where a name has one entity.
        if subset in subsets and not (subset == "tail" and "shadow" in subsets):
            row = subsets[subset]
            yield Headline(f"{subset}_f1", f"{subset.capitalize()}\nF1", row["f1"], row["f1_ci95"], subset)
    found = results["probes"].get("overshadowing", {})
    for key, name, measure, is_fault in (
        ("overshadowed", "over-\nshadowed", OVERSHADOWED, True),
        ("prior_bias", "prior\nbias", PRIOR_BIAS, True),
        ("consistent", "both\nright", BOTH_RIGHT, False),
    ):
        if found.get(key) is not None:
            yield Headline(key, name, found[key], found[f"{key}_ci95"], measure, is_fault)


def _list_groups(results: Results, probe: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """The collection, its chosen task, each group, and the findings on that task, of every collection of AmbER."""
    for collection in COLLECTION_NAMES:
        if tasks := results["probes"].get(probe, {}).get(collection):
            task = TASK if TASK in tasks else next(iter(tasks))
            yield from ((collection, task, group, tasks[task]) for group in ("head", "tail"))


def _list_retrieval(results: Results) -> Iterator[Headline]:
    k = str(min(results["settings"]["k"]))
    for collection, task, group, found in _list_groups(results, AMBER):
        row = found["accuracy"][k][group]
        if row["n"]:
            name = f"{COLLECTION_NAMES[collection]},\n{group} @{k}"
            measure = f"{collection}/{task}/{group}@{k}"
            yield Headline(f"{collection}_{group}", name, row["rate"], row["ci95"], measure)
    if (questions := results["probes"].get(QUESTIONS)) is not None:
        rates = questions["micro"]
        bounds = rates["accuracy_ci95"][k]
        yield Headline("questions", f"questions\n@{k}", rates["accuracy"][k], bounds, f"questions@{k}")


def _list_reading(results: Results) -> Iterator[Headline]:
    for collection, task, group, found in _list_groups(results, AMBER_READING):
        if (row := found["score"][group]) is not None:
            is_rate = found["metric"] == "accuracy"
            name = f"{COLLECTION_NAMES[collection]},\n{group} {'right' if is_rate else 'F1'}"
            measure = f"{collection}/{task}/{group}" if is_rate else ""
            yield Headline(f"{collection}_{group}", name, row["rate"], row["ci95"], measure)
    if (questions := results["probes"].get(QUESTIONS_READING)) is not None:
        row = questions["micro"]["exact_match"]
        yield Headline("questions", "questions\nexact", row["rate"], row["ci95"], "questions")


def _list_answering(results: Results) -> Iterator[Headline]:
    found = results["probes"].get(AMBIGDOCS, {})
    for key, name in (
        ("answer_recall", "answer\nrecall"),
        ("entity_recall", "entity\nrecall"),
        ("entity_answer_recall", "entity-answer\nrecall"),
    ):
        if found.get(key) is not None:
            yield Headline(key, name, found[key], found[f"{key}_ci95"])
    for category, is_fault in (("complete", False), ("merged", True)):
        if category in found.get("categories", {}):
            row = found["categories"][category]
            measure = "complete" if category == "complete" else ""
            yield Headline(category, category, row["share"], row["share_ci95"], measure, is_fault)


def name_verdict(results: Results) -> str:
    """The verdict on a system in a word or two; empty where its probe was not asked or could not tell."""
    kind = next(kind for kind in KINDS if kind in results)
    if kind == "linker":
        return str(results["probes"].get("overshadowing", {}).get("verdict") or "")
    if kind == "model":
        return ""
    probe = AMBER_READING if kind == "reader" else AMBER
    tasks = [
        task.get("verdict")
        for collection in COLLECTION_NAMES
        for task in results["probes"].get(probe, {}).get(collection, {}).values()
        if task["gap"] is not None
    ]
    if not tasks or None in tasks:
        return ""
    clear = [f"{tasks.count(group)} {group}" for group in ("head", "tail") if group in tasks]
    return f"favours {', '.join(clear)} of {len(tasks)}" if clear else "undecided"
