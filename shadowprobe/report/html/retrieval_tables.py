"""What retrievers found, as the tables of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from shadowprobe.figures.asked import AMBER, QUESTIONS, counted, parts_of
from shadowprobe.report.html.parts import Rows, table
from shadowprobe.report.retrieval_table import COLLECTIONS, GROUPS, MARK, NOTHING
from shadowprobe.retrieval import published as papers
from shadowprobe.retrieval.amber_sets import TASKS
from shadowprobe.retrieval.entity_questions import relations
from shadowprobe.retrieval.measured import MeasuredRun

# A run's label, and what one probe found in it.
Found = list[tuple[str, dict[str, Any]]]


def tables(runs: Sequence[MeasuredRun], *, published: bool) -> Iterator[str]:
    """The tables of every probe that was asked; `published` adds the rows of the papers, marked."""
    ks = counted(runs)
    if amber := _asked(runs, AMBER):
        yield from _amber(amber, ks, {str(min(run.results["settings"]["k"])) for run in runs}, published=published)
    if questions := _asked(runs, QUESTIONS):
        shown = papers.SYSTEMS if published and "20" in ks else ()
        yield _relations(questions, ks, shown)
        if shown:
            yield _source("questions", papers.ENTITY_QUESTIONS_SOURCE)
        if any(found["buckets"] for _, found in questions):
            yield _buckets(questions, ks)


def _asked(runs: Sequence[MeasuredRun], probe: str) -> Found:
    return [(run.label, run.results["probes"][probe]) for run in runs if probe in run.results["probes"]]


def points(gap: dict[str, Any]) -> tuple[str, str]:
    """A difference of rates as a person reads it, and its interval."""
    low, high = (f"{100 * bound:+.1f}" for bound in gap["ci95"])
    return f"{100 * gap['difference']:+.1f}", f"{low} to {high}"


def _rate(found: dict[str, Any] | None) -> str:
    return NOTHING if found is None else _short(found["rate"], found["ci95"])


def _short(rate: float, interval: Sequence[float]) -> str:
    """A rate in per cent with its interval, in few characters: many stand in one row."""
    return f"{100 * rate:.1f} ({100 * interval[0]:.0f}–{100 * interval[1]:.0f})"


def _printed(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"


def _source(name: str, paper: str) -> str:
    words = f"{MARK.strip()}: as printed in {paper}, on other data and other documents."
    return f'<p class="quiet" id="source-{name}">{escape(words)}</p>'


def _amber(amber: Found, ks: Sequence[str], smallest: set[str], *, published: bool) -> Iterator[str]:
    parts = parts_of([found for _, found in amber])
    for collection in dict.fromkeys(collection for collection, _ in parts):
        tasks = [task for one, task in parts if one == collection]
        for k in ks:
            theirs = papers.AMBER_BY_K.get(int(k), {}).get(collection, {}) if published else {}
            # The gap is one at the smallest number of documents that a run counts.
            yield _accuracy(amber, collection, tasks, k, theirs, gap=smallest == {k})
        yield _confusion(amber, collection, tasks, papers.AMBER_CONFUSION.get(collection, {}) if published else {})
    if published:
        yield _source("amber", papers.AMBER_SOURCE)


def _of_task(amber: Found, collection: str, task: str) -> Found:
    return [(label, found[collection][task]) for label, found in amber if task in found.get(collection, {})]


def _accuracy(
    amber: Found, collection: str, tasks: Sequence[str], k: str, theirs: Mapping[str, papers.Tasks], *, gap: bool
) -> str:
    """Table 5 or 9 of the paper: the gold document among the first k."""
    rows: Rows = []
    for task in tasks:
        for label, row in _of_task(amber, collection, task):
            rates = [_rate(row["accuracy"][k][group]) for group in GROUPS]
            more = ["{} ({})".format(*points(row["gap"])) if row["gap"] is not None else NOTHING] if gap else []
            rows.append((label, [TASKS.get(task, task), *rates, _rate(row["all_correct"][k]), *more]))
        for system, figures in theirs.items():
            if task in figures:
                cells = [_printed(value) for value in figures[task]]
                rows.append((f"{system}{MARK}", [TASKS[task], *cells, *([NOTHING] if gap else [])]))
    ((_, counts), *_) = _of_task(amber, collection, tasks[0])
    first = "first" if k == "1" else f"among the first {k}"
    caption = (
        f"AmbER, {COLLECTIONS[collection]}: how often is the right document {first}? % of queries, with 95% intervals."
        f" {counts['sets']} sets of {counts['entities']} entities; head: the most popular of a name, tail: its"
        " namesakes, ∀: % of sets with every query right."
    )
    heads = ["task", "all", "head", "tail", "∀", *(["head minus tail, points"] if gap else [])]
    return table(f"amber-{collection}-{k}", (caption, heads, rows), mark=MARK)


def _confusion(
    amber: Found, collection: str, tasks: Sequence[str], theirs: Mapping[str, Mapping[str, Sequence[float]]]
) -> str:
    """Table 6 of the paper: a namesake's document above the gold one."""
    rows: Rows = []
    for task in tasks:
        for label, row in _of_task(amber, collection, task):
            cells = [_rate(row["confusion"][group]) for group in ("head", "tail")]
            rows.append((label, [TASKS.get(task, task), *cells, _rate(row["neither"])]))
        for system, figures in theirs.items():
            if task in figures:
                rows.append((f"{system}{MARK}", [TASKS[task], *map(_printed, figures[task]), NOTHING]))
    caption = (
        f"AmbER, {COLLECTIONS[collection]}: how often does a namesake's document stand above the right one? % of"
        " queries, with 95% intervals; neither found: no document of the whole set."
    )
    heads = ["task", "head", "tail", "neither found"]
    return table(f"amber-{collection}-confusion", (caption, heads, rows), mark=MARK)


def _relations(questions: Found, ks: Sequence[str], shown: Sequence[str]) -> str:
    """EntityQuestions, Tables 1 and 5: an answer among the first k documents, by relation."""
    heads = [f"{label}, first {k}" for label, _ in questions for k in ks]
    heads += [f"{system}{MARK}, first 20" for system in shown]
    rows: Rows = []
    for relation in dict.fromkeys(relation for _, found in questions for relation in found["relations"]):
        told = [found["relations"].get(relation) for _, found in questions]
        cells = [_printed(100 * one["accuracy"][k]) if one is not None else NOTHING for one in told for k in ks]
        theirs = papers.ENTITY_QUESTIONS.get(relation, (None,) * len(shown)) if shown else ()
        known, first = relations().get(relation), next(one for one in told if one is not None)
        label = f"{known.label} ({relation})" if known is not None else relation
        rows.append((label, [first["question"] or "", str(first["n"]), *cells, *map(_printed, theirs)]))
    macro = [_printed(100 * found["macro"][k]) for _, found in questions for k in ks]
    rows.append(("macro", ["mean over the relations", "", *macro, *map(_printed, papers.MACRO if shown else ())]))
    micro = [
        _short(found["micro"]["accuracy"][k], found["micro"]["accuracy_ci95"][k]) for _, found in questions for k in ks
    ]
    count = str(questions[0][1]["micro"]["n"])
    rows.append(("micro", ["over all questions", count, *micro, *map(_printed, papers.MICRO if shown else ())]))
    if shown:
        theirs = papers.NATURAL_QUESTIONS
        rows.append((f"Natural Questions{MARK}", ["", "", *(NOTHING for _ in macro), *map(_printed, theirs)]))
    caption = "EntityQuestions: how often do the first documents hold an answer? %, micro with 95% interval."
    return table("questions", (caption, ["question", "n", *heads], rows), first="relation", mark=MARK)


def _buckets(questions: Found, ks: Sequence[str]) -> str:
    rows: Rows = []
    for label, found in questions:
        for row in found["buckets"] or ():
            bounds = [row["lowest_frequency"], row["highest_frequency"]]
            known = " to ".join(f"{bound:,}" for bound in bounds) if None not in bounds else NOTHING
            cells = [_short(row["accuracy"][k], row["accuracy_ci95"][k]) for k in ks]
            rows.append((label, [str(row["bucket"] + 1), known, str(row["n"]), *cells]))
    caption = "EntityQuestions by how frequent the subject is, the rarest first; %, with 95% intervals."
    return table("buckets", (caption, ["bucket", "frequency", "n", *(f"first {k}" for k in ks)], rows))
