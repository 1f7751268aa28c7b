"""What a screen and a page say of a retriever: does it find the less popular namesake?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.report.tables.retrieval_tables import AMBER, QUESTIONS, TASK_NAMES
from shadowprobe.report.tables.retrieval_tables import retrieval_tables as make_tables
from shadowprobe.report.tables.table import Results, in_percent, percent

__all__ = ["SHOWN", "describe_size", "describe_verdict", "list_warnings", "make_tables"]

# The probes that the tables show.
SHOWN = {AMBER, QUESTIONS}


def describe_size(results: Results) -> str:
    """How many sets, entities and questions a run is over."""
    probes, sizes = results["probes"], []
    if AMBER in probes:
        counts = (
            f"{parts['sets']} sets of {parts['entities']} entities ({COLLECTION_NAMES[name]})"
            for name, tasks in probes[AMBER].items()
            if name in COLLECTION_NAMES
            for parts in [next(iter(tasks.values()))]
        )
        sizes.append(f"AmbER: {', '.join(counts)}")
    if QUESTIONS in probes:
        sizes.append(f"EntityQuestions: {probes[QUESTIONS]['questions']} questions")
    return "; ".join(sizes)


def list_warnings(results: Results) -> Iterator[str]:
    """What changes the meaning of a figure."""
    if results["missing"]:
        yield f"{results['missing']} queries have no ranking; they count as wrong"


def describe_verdict(results: Results) -> str:
    """Whether the less popular namesake is found, by the difference of head and tail in every task."""
    found = results["probes"].get(AMBER)
    if found is None:
        return f"was not asked whether it finds the less popular namesake{_answered(results)}."
    compared = {
        f"{COLLECTION_NAMES[collection]}, {TASK_NAMES[name]}": task
        for collection in COLLECTION_NAMES
        for name, task in found.get(collection, {}).items()
        if task["gap"] is not None
    }
    if not compared:
        return "was asked about head entities alone or tail entities alone: there is nothing to compare."
    gaps = [(task["gap"], name) for name, task in compared.items()]
    least, greatest = (pick(gaps, key=lambda one: one[0]["difference"]) for pick in (min, max))
    ends = " to ".join(_write_gap(*gap) for gap in ([least] if least is greatest else [least, greatest]))
    return (
        f"{_how_often([task.get('verdict') for task in compared.values()])}: head minus tail"
        f" accuracy@{min(results['settings']['k'])} {'is' if least is greatest else 'runs from'} {ends},"
        " with 95% intervals."
    )


def _write_gap(gap: dict[str, Any], task: str) -> str:
    points = in_percent(gap["difference"], gap["ci95"])
    return f"{points.value:+.1f} points ({points.low:+.1f} to {points.high:+.1f}; {task})"


def _how_often(verdicts: Sequence[str | None]) -> str:
    """In how many tasks the tail is found less often than the head, or the head less often than the tail."""
    if None in verdicts:
        return "was measured by an earlier version, which gives no verdict (`shadowprobe retrieve --predictions` does)"
    less, more, undecided = (verdicts.count(word) for word in ("head", "tail", "undecided"))
    if undecided == len(verdicts):
        rest = f"no difference being certain in any of {undecided} tasks"
        return f"finds the less popular namesake about as often as the popular one, {rest}"
    clear = [f"{word} often in {count}" for word, count in (("less", less), ("more", more)) if count]
    rest = f", no difference being certain in the other {undecided}" if undecided else ""
    return f"finds the less popular namesake {' and '.join(clear)} of {len(verdicts)} tasks than the popular one{rest}"


def _answered(results: Results) -> str:
    found = results["probes"].get(QUESTIONS)
    if found is None:
        return ""
    k, rate = next(iter(found["micro"]["accuracy"].items()))
    where = "in the first document" if k == "1" else f"in the first {k} documents"
    rates = percent(rate, found["micro"]["accuracy_ci95"][k])
    return f"; it finds an answer {where} for {rates} of {found['micro']['n']} simple questions (95% interval)"
