"""The report of retrievers: does each find the less popular namesake? The tables, the figures and the sets."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from shadowprobe.errors import ShadowprobeError, UsageError
from shadowprobe.figures.asked import AMBER, QUESTIONS, parts_of
from shadowprobe.report.html.parts import assembled, browser, figures, isolated, no_browser, skip_to, system
from shadowprobe.report.html.retrieval_tables import points, tables
from shadowprobe.report.html.sets_data import open_source, packed
from shadowprobe.report.retrieval_table import COLLECTIONS
from shadowprobe.report.verdict import percent
from shadowprobe.retrieval.amber_sets import TASKS
from shadowprobe.retrieval.measured import MeasuredRun
from shadowprobe.run_kinds import refuse_one_name

FIGURES = {
    "head-tail": "Is the right document found, of head and tail? (AmbER, Table 5)",
    "confusion": "Does a namesake stand above it? (AmbER, Table 6)",
    "retrieval-gap": "Head minus tail, by the gap in popularity (AmbER, Fig. 4)",
    "questions": "Are simple questions answered? By relation (EntityQuestions, Table 5)",
    "question-buckets": "By how frequent the subject is (EntityQuestions, Fig. 1)",
}
FIELDS = {"outcome": "Outcome", "collection": "Collection", "task": "Task", "group": "About"}


def page(
    runs: Sequence[MeasuredRun], collection: str | None = None, queries: Path | None = None, *, published: bool = False
) -> str:
    """The whole file; where the sets are not at hand, without the browser of them."""
    refuse_unlike(runs)
    data, section = _browser(runs, collection, queries)
    name = runs[0].results["collection"]["name"]
    parts = {
        "title": escape(f"{', '.join(run.label for run in runs)} on {name}"),
        "skip": skip_to("sets"),
        "heading": f"{', '.join(isolated(run.label) for run in runs)} on {isolated(name)}",
        "verdicts": "".join(f'<p class="verdict">{isolated(run.label)} {escape(verdict(run))}</p>' for run in runs),
        "about": _about(runs),
        "systems": "".join(system(run.label, _words(run)) for run in runs),
        "tables": "".join(tables(runs, published=published)),
        "figures": "".join(figures(FIGURES, runs)),
        "browser": section,
    }
    scripts = ("browser.js", "sets.js") if data is not None else ()
    return assembled(parts, data, scripts, ("report.css", "measured.css"))


def refuse_unlike(runs: Sequence[MeasuredRun]) -> None:
    """Refuses runs that cannot stand side by side: over other documents or queries, or under one name."""
    first = runs[0]
    for run in runs[1:]:
        one, other = first.results["collection"]["digest"], run.results["collection"]["digest"]
        if one != other:
            raise UsageError(
                f"{run.path} is not over the same documents as {first.path}: {other[:12]}..., not {one[:12]}...;"
                " write a report for each"
            )
        for probe in first.results["queries"].keys() & run.results["queries"].keys():
            if first.results["queries"][probe] != run.results["queries"][probe]:
                raise UsageError(
                    f"{run.path} has other queries for `{probe}` than {first.path}: write a report for each"
                )
    refuse_one_name(runs, "--name")


def _browser(runs: Sequence[MeasuredRun], collection: str | None, queries: Path | None) -> tuple[Any, str]:
    """What the browser of the sets shows and its section; nothing, and the reason, where they are not at hand."""
    try:
        asked = [run for run in runs if AMBER in run.results["queries"]] or runs[:1]
        data = packed(asked, open_source(asked[0], collection, queries))
    except ShadowprobeError as error:
        # What a user names must be right; what is only looked for may have gone.
        if collection is not None or queries is not None:
            raise
        return None, no_browser("sets", "Sets", str(error))
    return data, browser("sets", "Sets", FIELDS, "name, query, title")


def verdict(run: MeasuredRun) -> str:
    """Whether the less popular namesake is found, by the difference of head and tail in every task."""
    found = run.results["probes"].get(AMBER)
    if found is None:
        return f"was not asked whether it finds the less popular namesake{_answered(run)}."
    gaps = [
        (found[collection][task]["gap"], f"{COLLECTIONS[collection]}, {TASKS.get(task, task)}")
        for collection, task in parts_of([found])
        if found[collection][task]["gap"] is not None
    ]
    if not gaps:
        return "was asked about head entities alone or tail entities alone: there is nothing to compare."
    low, high = min(gaps, key=lambda one: one[0]["difference"]), max(gaps, key=lambda one: one[0]["difference"])
    ends = " to ".join(
        f"{value} points ({interval}; {part})"
        for gap, part in ([low] if low is high else [low, high])
        for value, interval in [points(gap)]
    )
    measured = f"head minus tail accuracy@{min(run.results['settings']['k'])}"
    return (
        f"finds the less popular namesake {_how_often([gap for gap, _ in gaps])}: {measured}"
        f" {'is' if low is high else 'runs from'} {ends}, with 95% intervals."
    )


def _how_often(gaps: Sequence[dict[str, Any]]) -> str:
    """In how many tasks the tail falls short of the head, or the head of the tail, with the interval on one side."""
    less, more = sum(gap["ci95"][0] > 0 for gap in gaps), sum(gap["ci95"][1] < 0 for gap in gaps)
    undecided = len(gaps) - less - more
    if undecided == len(gaps):
        return f"about as often as the popular one, no difference being certain in any of {len(gaps)} tasks"
    clear = [f"{word} often in {count}" for word, count in (("less", less), ("more", more)) if count]
    rest = f", no difference being certain in the other {undecided}" if undecided else ""
    return f"{' and '.join(clear)} of {len(gaps)} tasks than the popular one{rest}"


def _answered(run: MeasuredRun) -> str:
    found = run.results["probes"].get(QUESTIONS)
    if found is None:
        return ""
    k, rate = next(iter(found["micro"]["accuracy"].items()))
    where = "in the first document" if k == "1" else f"in the first {k} documents"
    rates = percent(rate, found["micro"]["accuracy_ci95"][k])
    return f"; it finds an answer {where} for {rates} of {found['micro']['n']} simple questions (95% interval)"


def _about(runs: Sequence[MeasuredRun]) -> str:
    collection = runs[0].results["collection"]
    probes: dict[str, Any] = {}
    for run in runs:
        probes |= run.results["probes"]
    words = []
    if AMBER in probes:
        counts = (
            f"{parts['sets']} sets of {parts['entities']} entities ({COLLECTIONS.get(name, name)})"
            for name, tasks in probes[AMBER].items()
            for parts in [next(iter(tasks.values()))]
        )
        words.append(f" AmbER: {', '.join(counts)}.")
    if QUESTIONS in probes:
        words.append(f" EntityQuestions: {probes[QUESTIONS]['questions']} questions.")
    rest = f" ({collection['digest'][:12]}).{''.join(words)}"
    return f"Collection {isolated(collection['name'])}{escape(rest)}"


def _words(run: MeasuredRun) -> list[str]:
    """What was run, and what a careful reader must know besides."""
    retriever = run.system
    options = " ".join(f"{key}={value}" for key, value in retriever["options"].items())
    words = [" ".join(word for word in (retriever["name"], retriever.get("version", ""), options) if word)]
    words.append(f"the first {run.results['settings']['depth']} documents of each query were read")
    if run.results["missing"]:
        words.append(f"{run.results['missing']} queries have no ranking; they count as wrong")
    return words + list(run.results["notes"])
