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


def _list_retrieval(results: Results) -> Iterator[Headline]:
    k = str(min(results["settings"]["k"]))
    for collection, words in COLLECTION_NAMES.items():
        tasks = results["probes"].get(AMBER, {}).get(collection, {})
        task = TASK if TASK in tasks else next(iter(tasks), "")
        for group in ("head", "tail") if task else ():
            row: dict[str, Any] = tasks[task]["accuracy"][k][group]
            if row["n"]:
                name, measure = f"{words},\n{group} @{k}", f"{collection}/{task}/{group}@{k}"
                yield Headline(f"{collection}_{group}", name, row["rate"], row["ci95"], measure)
    if (found := results["probes"].get(QUESTIONS)) is not None:
        rates = found["micro"]
        bounds = rates["accuracy_ci95"][k]
        yield Headline("questions", f"questions\n@{k}", rates["accuracy"][k], bounds, f"questions@{k}")


def _list_reading(results: Results) -> Iterator[Headline]:
    for collection, words in COLLECTION_NAMES.items():
        tasks = results["probes"].get(AMBER_READING, {}).get(collection, {})
        task = TASK if TASK in tasks else next(iter(tasks), "")
        for group in ("head", "tail") if task else ():
            if (row := tasks[task]["score"][group]) is not None:
                is_rate = tasks[task]["metric"] == "accuracy"
                name, measure = f"{words},\n{group} {'right' if is_rate else 'F1'}", f"{collection}/{task}/{group}"
                yield Headline(f"{collection}_{group}", name, row["rate"], row["ci95"], measure if is_rate else "")
    if (found := results["probes"].get(QUESTIONS_READING)) is not None:
        row = found["micro"]["exact_match"]
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
