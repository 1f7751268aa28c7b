"""What a screen and a page say of a linker: does it read the context, or does it repeat its prior?"""

from __future__ import annotations

from collections.abc import Iterator

from shadowprobe.report.tables.linking_tables import SHOWN
from shadowprobe.report.tables.linking_tables import linking_tables as make_tables
from shadowprobe.report.tables.table import Results, percent

__all__ = ["SHOWN", "describe_size", "describe_verdict", "list_warnings", "make_tables"]
VERDICTS = {
    "reads": "reads the context more often than it repeats its prior",
    "repeats": "repeats its prior more often than it reads the context",
    "undecided": "reads the context about as often as it repeats its prior",
    "at_chance": "does not read, no usable prior",
    "silent": "names an entity in both contexts of too few names to tell whether it reads or repeats",
    "unknown": "names an entity in the neutral contexts of too few names: its prior is not known, and so neither"
    " whether it is repeated",
}
CONFLICTS = "page_id_conflicts"


def describe_size(results: Results) -> str:
    """How many names and snippets a run is over."""
    dataset = results["dataset"]
    limited = f", limited to the first {dataset['spaces']} names" if dataset["limit"] is not None else ""
    return f"{dataset['spaces']} names, {dataset['snippets']} snippets{limited}"


def describe_verdict(results: Results) -> str | None:
    """Reads or repeats, with both rates and their 95% intervals; None where the probe could not tell."""
    found = results["probes"].get("overshadowing", {})
    if found.get("verdict") is None:
        return None
    words = VERDICTS["at_chance" if found.get("at_chance") else found["verdict"]]
    if found["verdict"] in {"silent", "unknown"}:
        return f"{words}."
    return (
        f"{words}: of {found['spaces']} names, {percent(found['prior_bias'], found['prior_bias_ci95'])} get its prior"
        f" in both contexts, and {percent(found['consistent'], found['consistent_ci95'])} get both right"
        " (95% intervals)."
    )


def list_warnings(results: Results) -> Iterator[str]:
    """What changes the meaning of a figure."""
    identity = results["identity"]
    resolved = sum(count for rule, count in identity.items() if rule != CONFLICTS)
    if identity["unresolved"]:
        yield (
            f"{identity['unresolved']} of {resolved} answers name an entity that the dataset does not know; they count"
            " as wrong (--redirects FILE gives a table of old and new titles)"
        )
    if identity[CONFLICTS]:
        yield f"{identity[CONFLICTS]} answers match by title although their page id is another"
    prior, over = (results["probes"].get(name, {}) for name in ("prior", "overshadowing"))
    if prior.get("without_prior"):
        yield (
            f"{prior['without_prior']} of {prior['spaces']} names have no prior: no entity is named in their neutral"
            " contexts; every answer to them counts as not the prior"
        )
    if over.get("snippets_left_out"):
        yield (
            "same answer, both right and the difference are paired by the first Top and Shadow snippet of each name;"
            f" {over['snippets_left_out']} further snippets are in Table 3 only"
        )
    if results["missing"]:
        yield f"{results['missing']} snippets have no answer (failed or not in the file); they count as skipped"
