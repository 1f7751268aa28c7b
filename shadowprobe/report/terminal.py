"""The results of a run as one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shadowprobe.report.contexts import TITLE, WITHOUT_NAME, changed, context_rows
from shadowprobe.report.verdict import percent, verdict
from shadowprobe.results import Results

EXPLAINED = {
    "shadow": "Shadow: a less common entity of the name is meant",
    "top": "Top: the most common one",
    "tail": "Tail: a rare entity, alone with its name",
    "all": "All: every gold mention",
}
COLUMNS = {"nil": "NIL", "failed": "no answer"}
ORDER = ("shadow", "top", "tail", "all")
CONFLICTS = "page_id_conflicts"
SHOWN_ABOVE = {
    *("overshadowing", "prior", "candidates", "confidence", "calibration", "templates", "popularity"),
    *("context_length", "masked_mention"),
}
SHORT = 60


def show(results: Results, console: Console) -> None:
    """Prints the verdict, Table 3, Table 4 and what a careful reader must know besides."""
    linker, dataset = results["linker"], results["dataset"]
    options = " ".join(f"{key}={value}" for key, value in linker["options"].items())
    heading = Text(f"{linker['name']}{f' ({options})' if options else ''} on {dataset['name']}", style="bold")
    limited = f", limited to the first {dataset['spaces']} names" if dataset["limit"] is not None else ""
    heading.append(f"   {dataset['spaces']} names, {dataset['snippets']} snippets{limited}", style="not bold dim")
    console.print(heading)
    console.print()
    for table in (_subsets(results), _prior(results), _contexts(results)):
        if table is not None:
            console.print(table)
            console.print()
    for line in _lines(results):
        console.print(line, highlight=False)
    sentence = verdict(results)
    if sentence:
        console.print()
        console.print(Text(sentence, style="bold"))


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="",
        caption_justify="left",
        caption_style="dim",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )


def _subsets(results: Results) -> Table | None:
    found = results.get("subsets") or {}
    if not found:
        return None
    table = _table("How often is it right? (Table 3 of the paper)")
    table.add_column("subset")
    # A column of zeros says nothing that its absence does not.
    counted = [
        "n",
        "answered",
        *(key for key in ("nil", "skipped", "failed") if any(row[key] for row in found.values())),
    ]
    for column in counted:
        table.add_column(COLUMNS.get(column, column), justify="right")
    for column in ("P", "R", "F"):
        table.add_column(column, justify="right", style="bold")
    table.add_column("95% interval", justify="right")
    thresholded = any("gerbil_threshold" in row for row in found.values())
    if thresholded:
        table.add_column("at GERBIL's best cut", justify="right")
    for subset in ORDER:
        if subset in found:
            row = found[subset]
            counts = [str(row[key]) for key in counted]
            rates = [_decimal(row[key]) for key in ("precision", "recall", "f1")]
            interval = f"{_decimal(row['f1_ci95'][0])} to {_decimal(row['f1_ci95'][1])}"
            cells = [subset.capitalize(), *counts, *rates, interval]
            if thresholded:
                cells.append(_threshold(row["gerbil_threshold"]))
            table.add_row(*cells)
    table.caption = ". ".join(EXPLAINED[subset] for subset in ORDER if subset in found) + "."
    return table


def _threshold(best: dict[str, Any]) -> str:
    precision, recall, f1 = (_decimal(best[key]) for key in ("precision", "recall", "f1"))
    return f"P {precision} R {recall} F {f1} above {best['cut']:.3g}"


def _prior(results: Results) -> Table | None:
    found = results["probes"].get("prior", {})
    if "top" not in found and "shadow" not in found:
        return None
    table = _table("Is the answer the one it gives without any context, its prior? (Table 4, %)")
    table.add_column("subset")
    for column in (
        "prior,\ncorrect",
        "prior,\nwrong",
        "not prior,\ncorrect",
        "not prior,\nwrong",
        "NIL or\nskipped",
    ):
        table.add_column(column, justify="right")
    for subset in ("top", "shadow"):
        if subset in found:
            keys = ("prior_correct", "prior_wrong", "context_correct", "context_wrong", "nil")
            table.add_row(subset.capitalize(), *(f"{100 * found[subset][key]:.1f}" for key in keys))
    return table


def _contexts(results: Results) -> Table | None:
    """What becomes of the accuracy with less or more context, and without the name."""
    rows = context_rows(results)
    if not rows:
        return None
    subsets = [subset for subset in ORDER if any(subset in row for row in rows.values())]
    table = _table(TITLE)
    table.add_column("what it reads")
    for subset in subsets:
        table.add_column(subset.capitalize(), justify="right")
    for what in rows:
        table.add_row(what, *(changed(rows, what, subset) for subset in subsets))
    without = rows.get(WITHOUT_NAME, {})
    nameless = [
        f"{percent(without[subset]['nil'])} of {subset.capitalize()}"
        for subset in subsets
        if without.get(subset, {}).get("nil")
    ]
    if nameless:
        # A system that looks its candidates up by the name finds none, and then the context was not read at all.
        table.caption = f"Without the name no entity is named in {', '.join(nameless)}."
    return table


def _lines(results: Results) -> Iterator[Text]:
    probes = results["probes"]
    over, prior = probes.get("overshadowing", {}), probes.get("prior", {})
    if "overshadowed" in over:
        yield _fact("same answer in both contexts", over, "overshadowed", "overshadowed, Fig. 4 left")
        if over["prior_bias"] is not None:
            yield _fact("  and it is the prior", over, "prior_bias", "prior bias, Fig. 4 right")
        else:
            why = prior.get("not_measured", "no prior is known")
            yield _line("  and it is the prior", f"not measured: {why}")
        yield _fact("both contexts right", over, "consistent", "consistent")
        yield _fact("Shadow answered with the Top entity", over, "answered_with_top", "answered with top")
        difference = f"{100 * over['top_minus_shadow']:+.1f} points"
        low, high = (f"{100 * bound:+.1f}" for bound in over["top_minus_shadow_ci95"])
        value = f"{difference} ({low} to {high}), McNemar p {_p_value(over['mcnemar_p'])}"
        yield _line("right on Top minus right on Shadow", value)
    if prior.get("stability") is not None:
        yield _line("neutral contexts that agree on the prior", f"{percent(prior['stability'])}   stability")
    yield from _candidates(probes.get("candidates", {}))
    auroc = probes.get("confidence", {}).get("auroc_real_against_neutral")
    if auroc is not None:
        yield _line("score tells real from neutral contexts", f"AUROC {auroc:.3f}   0.5 is a coin")
    spread = probes.get("templates", {}).get("spread")
    if spread is not None:
        yield _line("neutral templates differ in the prior by", f"{100 * spread:.1f} points   most against least")
    for name, findings in probes.items():
        if "not_measured" in findings:
            yield Text(f"{name} not measured: {findings['not_measured']}", style="dim")
        elif name not in SHOWN_ABOVE:
            yield from _others(name, findings)
    yield from _warnings(results)


def _candidates(found: dict[str, Any]) -> Iterator[Text]:
    if "shadow" in found and found["shadow"]["recall"] > 0:
        row = found["shadow"]
        given = percent(row["accuracy_given_candidate"], row["accuracy_given_candidate_ci95"])
        yield _line("Shadow gold was a candidate", f"{percent(row['recall'])}, and then it is right in {given}")


def _others(name: str, findings: dict[str, Any]) -> Iterator[Text]:
    """The findings of a probe that this screen has no words of its own for."""
    for key, value in findings.items():
        shown = f"{value:.4g}" if isinstance(value, float) else f"{value}"
        yield _line(f"{name}: {key}", shown if len(shown) <= SHORT else f"{shown[:SHORT]}... (whole in results.json)")


def _warnings(results: Results) -> Iterator[Text]:
    identity = results["identity"]
    named = sum(count for rule, count in identity.items() if rule != CONFLICTS)
    if identity["unresolved"]:
        yield Text(
            f"{identity['unresolved']} of {named} answers name an entity that the dataset does not know; they count as"
            " wrong (--redirects FILE gives a table of old and new titles)",
            style="yellow",
        )
    if identity[CONFLICTS]:
        yield Text(f"{identity[CONFLICTS]} answers match by title although their page id is another", style="yellow")
    prior, over = (results["probes"].get(name, {}) for name in ("prior", "overshadowing"))
    if prior.get("without_prior"):
        yield Text(
            f"{prior['without_prior']} of {prior['spaces']} names have no prior: no entity is named in their neutral"
            " contexts; every answer to them counts as not the prior",
            style="yellow",
        )
    if over.get("snippets_left_out"):
        yield Text(
            f"same answer, both right and the difference are paired by the first Top and Shadow snippet of each name;"
            f" {over['snippets_left_out']} further snippets are in Table 3 only",
            style="yellow",
        )
    if results["missing"]:
        yield Text(
            f"{results['missing']} snippets have no answer (failed or not in the file); they count as skipped",
            style="yellow",
        )
    for note in results["notes"]:
        yield Text(f"note: {note}", style="dim")


def _fact(words: str, found: dict[str, Any], key: str, term: str) -> Text:
    return _line(words, f"{percent(found[key], found[f'{key}_ci95'])}   {term}")


def _line(words: str, value: str) -> Text:
    return Text(f"{words:<42}{value}")


def _decimal(value: float) -> str:
    return f"{value:.3f}"


def _p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
