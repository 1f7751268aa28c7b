"""The report of language models: does every namesake get its own answer? The tables, the figure and the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from shadowprobe.errors import ShadowprobeError, UsageError
from shadowprobe.report.answers_table import CATEGORIES, PROBE, RECALLS
from shadowprobe.report.html.answers_data import open_sets, packed
from shadowprobe.report.html.parts import (
    Rows,
    assembled,
    browser,
    figures,
    isolated,
    no_browser,
    skip_to,
    system,
    table,
)
from shadowprobe.report.verdict import percent
from shadowprobe.retrieval.measured import MeasuredRun
from shadowprobe.run_kinds import refuse_one_name

FIGURES = {"answer-categories": "What kind of answers are they? (AmbigDocs)"}


def page(runs: Sequence[MeasuredRun], queries: Path | None = None) -> str:
    """The whole file; where the questions are not at hand, without the browser of the answers."""
    refuse_unlike(runs)
    data, section = _browser(runs, queries)
    asked = runs[0].results["queries"]
    parts = {
        "title": escape(f"{', '.join(run.label for run in runs)} on {asked['name']}"),
        "skip": skip_to("answers"),
        "heading": f"{', '.join(isolated(run.label) for run in runs)} on {isolated(asked['name'])}",
        "verdicts": "".join(f'<p class="verdict">{isolated(run.label)} {escape(verdict(run))}</p>' for run in runs),
        "about": _about(asked),
        "systems": "".join(system(run.label, _words(run)) for run in runs),
        "tables": "".join(_tables(runs)),
        "figures": "".join(figures(FIGURES, runs)),
        "browser": section,
    }
    scripts = ("browser.js", "answers.js") if data is not None else ()
    return assembled(parts, data, scripts, ("report.css", "measured.css"))


def refuse_unlike(runs: Sequence[MeasuredRun]) -> None:
    """Refuses runs that cannot stand side by side: over other questions or documents, or under one name."""
    first = runs[0].results["queries"]
    for run in runs[1:]:
        for what in ("digest", "documents", "limit"):
            if (other := run.results["queries"][what]) != first[what]:
                raise UsageError(
                    f"{run.path} was not asked the same as {runs[0].path}: the {what} of its questions is {other}, not"
                    f" {first[what]}; write a report for each"
                )
    refuse_one_name(runs, "--name")


def _browser(runs: Sequence[MeasuredRun], queries: Path | None) -> tuple[Any, str]:
    """What the browser of answers shows and its section; nothing, and the reason, where they are not at hand."""
    try:
        data = packed(runs, open_sets(runs[0], queries))
    except ShadowprobeError as error:
        # What a user names must be right; what is only looked for may have gone.
        if queries is not None:
            raise
        return None, no_browser("answers", "Answers", str(error))
    return data, browser("answers", "Answers", {"category": "Category"}, "name, text, answer")


def _found(run: MeasuredRun) -> dict[str, Any] | None:
    found: dict[str, Any] = run.results["probes"].get(PROBE, {})
    return found if "categories" in found else None


def verdict(run: MeasuredRun) -> str:
    """How often every namesake gets its own answer, and how much of the answers is there."""
    found = _found(run)
    if found is None:
        return "was not asked whether every namesake gets its own answer."
    shares = {kind: percent(row["share"], row["share_ci95"]) for kind, row in found["categories"].items()}
    recall = percent(found["entity_answer_recall"], found["entity_answer_recall_ci95"])
    return (
        f"gives every namesake its own answer to {shares['complete']} of {found['n']} questions, one answer without"
        f" saying whose it is to {shares['ambiguous']}, and several mixed up to {shares['merged']}; entity-answer"
        f" recall is {recall}, with 95% intervals."
    )


def _about(asked: dict[str, Any]) -> str:
    limited = ", only the first of them" if asked["limit"] is not None else ""
    shown = f" Only the first {asked['documents']} documents of each count." if asked["documents"] is not None else ""
    rest = f" ({asked['digest'][:12]}): {asked['sets']} sets{limited}.{shown}"
    return f"Questions {isolated(asked['name'])}{escape(rest)}"


def _words(run: MeasuredRun) -> list[str]:
    """What was run, and what a careful reader must know besides."""
    options = " ".join(f"{key}={value}" for key, value in run.system["options"].items())
    words = [" ".join(word for word in (run.system["name"], options) if word)]
    if run.results["missing"]:
        words.append(f"{run.results['missing']} sets have no answer (failed or not in the file); they count as such")
    found = _found(run)
    if found is not None and found.get("wordless"):
        words.append(f"{found['wordless']} documents have an answer of stop words alone, which no output can give")
    return words + list(run.results["notes"])


def _tables(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    found = [(run.label, told) for run in runs if (told := _found(run)) is not None]
    recalls: Rows = []
    for label, told in found:
        parts = told["by_documents"].items() if len(told["by_documents"]) > 1 else ()
        for size, row in (("all", told), *parts):
            shares = [percent(row[name], row[f"{name}_ci95"]) for name in RECALLS]
            recalls.append((label, [size, str(row["n"]), *shares]))
    if not recalls:
        return
    caption = "How much of the answers, and of their entities, is there? By the number of documents of a set."
    yield table("recall", (caption, ["documents", "sets", *(f"{name} recall" for name in RECALLS.values())], recalls))
    kinds: Rows = [
        (label, [percent(row["share"], row["share_ci95"]) for row in (told["categories"][kind] for kind in CATEGORIES)])
        for label, told in found
    ]
    heads = [f"{kind.replace('_', ' ')}: {meaning}" for kind, meaning in CATEGORIES.items()]
    yield table("categories", ("What kind of answers are they? Shares of the sets.", heads, kinds))
