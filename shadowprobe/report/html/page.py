"""The report of linkers: the verdicts, the tables, the figures and the mention browser in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from shadowprobe.report.contexts import TITLE, changed, context_rows
from shadowprobe.report.html.data import packed
from shadowprobe.report.html.parts import (
    Table,
    assembled,
    browser,
    figures,
    isolated,
    skip_to,
    system,
    table,
    write_page,
)
from shadowprobe.report.terminal import EXPLAINED, ORDER
from shadowprobe.report.verdict import percent, said
from shadowprobe.results import Results
from shadowprobe.runs import FinishedRun

FIGURES = {
    "overshadowing": "How often the name alone decides (Fig. 4)",
    "outcomes": "Is the answer the prior? (Table 4)",
    "confidence": "Scores in each subset (Fig. 5)",
}
SHARES = {
    "prior_correct": "prior, correct",
    "prior_wrong": "prior, wrong",
    "context_correct": "not prior, correct",
    "context_wrong": "not prior, wrong",
    "nil": "NIL or skipped",
}
COUNTS = {"n": "n", "answered": "answered", "nil": "NIL", "skipped": "skipped", "failed": "no answer"}
RATES = {"precision": "P", "recall": "R", "f1": "F"}
FACTS = {
    "overshadowed": "same answer in both contexts (overshadowed)",
    "prior_bias": "and it is the prior (prior bias)",
    "consistent": "both contexts right (consistent)",
    "answered_with_top": "Shadow answered with the Top entity",
}


def write_report(runs: Sequence[FinishedRun], out: Path | None = None, *, force: bool = False) -> Path:
    """Writes the report of runs over one dataset, and returns where: in the run, or here where there are several."""
    return write_page([run.path for run in runs], lambda: page(runs), out, force=force)


def page(runs: Sequence[FinishedRun]) -> str:
    """The whole file."""
    # First, as it refuses what cannot stand side by side.
    data = packed(runs)
    dataset = runs[0].dataset
    parts = {
        "title": escape(f"{', '.join(run.label for run in runs)} on {dataset.name}"),
        "skip": skip_to("mentions"),
        "verdicts": "".join(_verdict(run) for run in runs),
        "heading": f"{', '.join(isolated(run.label) for run in runs)} on {isolated(dataset.name)}",
        "about": _about(runs[0].results),
        "systems": "".join(_system(run) for run in runs),
        "tables": "".join(_tables(runs)),
        "figures": "".join(figures(FIGURES, runs)),
        "browser": browser("mentions", "Mentions", {"outcome": "Outcome", "subset": "Subset"}, "name, text, entity"),
    }
    return assembled(parts, data, ("browser.js", "mentions.js"))


def _verdict(run: FinishedRun) -> str:
    words = said(run.results)
    rest = f" {words}" if words else ": whether it reads the context or repeats its prior was not measured."
    # A label tells two runs of one linker apart, as its name does not.
    return f'<p class="verdict">{isolated(run.label)}{escape(rest)}</p>'


def _about(results: Results) -> str:
    dataset = results["dataset"]
    limited = ", only the first of them" if dataset["limit"] is not None else ""
    rest = (
        f" {dataset['version']} ({dataset['digest'][:12]}): {dataset['spaces']} names, "
        f"{dataset['snippets']} snippets{limited}."
    )
    return f"Dataset {isolated(dataset['name'])}{escape(rest)}"


def _system(run: FinishedRun) -> str:
    """What was run, and what a careful reader must know besides."""
    results = run.results
    linker, identity = results["linker"], results["identity"]
    options = " ".join(f"{key}={value}" for key, value in linker["options"].items())
    words = [" ".join(word for word in (linker["name"], linker["version"], options) if word)]
    if identity["unresolved"]:
        words.append(f"{identity['unresolved']} answers name an entity that the dataset does not know; they are wrong")
    if results["missing"]:
        words.append(f"{results['missing']} snippets have no answer (failed or not in the file)")
    if results["settings"]["redirects"] is not None:
        words.append("the results were scored with a table of redirects, which the mentions below do without")
    words += results["notes"]
    return system(run.label, words)


def _tables(runs: Sequence[FinishedRun]) -> Iterator[str]:
    parts = {"scores": _scores, "priors": _priors, "contexts": _contexts, "names": _names}
    for name, content in ((name, part(runs)) for name, part in parts.items()):
        if content[2]:
            yield table(name, content)


def _scores(runs: Sequence[FinishedRun]) -> Table:
    rows = [
        (run.label, subset, run.results["subsets"][subset])
        for run in runs
        for subset in ORDER
        if subset in run.results.get("subsets", {})
    ]
    # A column of zeros says nothing that its absence does not.
    counts = [key for key in COUNTS if key in {"n", "answered"} or any(row[key] for _, _, row in rows)]
    caption = "How often is it right? (Table 3 of the paper.) " + "".join(
        f"{EXPLAINED[subset]}. " for subset in ORDER if any(subset == row[1] for row in rows)
    )
    heads = ["subset", *(COUNTS[key] for key in counts), *RATES.values(), "95% interval of F"]
    return caption, heads, [(label, [subset.capitalize(), *_subset(row, counts)]) for label, subset, row in rows]


def _subset(row: dict[str, Any], counts: Sequence[str]) -> list[str]:
    low, high = row["f1_ci95"]
    return [*(str(row[key]) for key in counts), *(f"{row[key]:.3f}" for key in RATES), f"{low:.3f} to {high:.3f}"]


def _priors(runs: Sequence[FinishedRun]) -> Table:
    rows = [
        (run.label, [subset.capitalize(), *(f"{100 * found[subset][key]:.1f}" for key in SHARES)])
        for run in runs
        for found in [run.results["probes"].get("prior", {})]
        for subset in ("top", "shadow")
        if subset in found
    ]
    caption = "Is the answer the one that it gives without any context, its prior? (Table 4 of the paper, %.)"
    return caption, ["subset", *SHARES.values()], rows


def _contexts(runs: Sequence[FinishedRun]) -> Table:
    found = [(run.label, context_rows(run.results)) for run in runs]
    subsets = [subset for subset in ORDER if any(subset in row for _, rows in found for row in rows.values())]
    lines = [
        (label, [what, *(changed(rows, what, subset) for subset in subsets)]) for label, rows in found for what in rows
    ]
    return f"{TITLE}.", ["what it reads", *map(str.capitalize, subsets)], lines


def _names(runs: Sequence[FinishedRun]) -> Table:
    rows = [
        (run.label, [percent(found[key], found[f"{key}_ci95"]) for key in FACTS])
        for run in runs
        for found in [run.results["probes"].get("overshadowing", {})]
        if "overshadowed" in found
    ]
    caption = "Does the name alone decide? (Fig. 4 of the paper; shares of names, with 95% intervals.)"
    return caption, list(FACTS.values()), rows
