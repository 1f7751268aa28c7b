"""The answer to the one question, in a sentence."""

from __future__ import annotations

from typing import Any

from shadowprobe.results import Results

WORDS = {
    "reads": "reads the context more often than it repeats its prior",
    "repeats": "repeats its prior more often than it reads the context",
    "undecided": "reads the context about as often as it repeats its prior",
    "silent": "names an entity in both contexts of too few names to tell whether it reads or repeats",
    "unknown": "names an entity in the neutral contexts of too few names: its prior is not known, and so neither"
    " whether it is repeated",
}


def percent(rate: float | None, interval: Any = None) -> str:
    """A rate as a person reads it, with its interval."""
    if rate is None:
        return "-"
    text = f"{100 * rate:.1f}%"
    return f"{text} ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})" if interval else text


def verdict(results: Results) -> str | None:
    """Reads or repeats, with both rates and their 95% intervals; None where the probe could not tell."""
    words = said(results)
    return f"{results['linker']['name']} {words}" if words is not None else None


def said(results: Results) -> str | None:
    """What the verdict says, without the name of the system before it."""
    found = results["probes"].get("overshadowing", {})
    if found.get("verdict") is None:
        return None
    if found["verdict"] in {"silent", "unknown"}:
        return f"{WORDS[found['verdict']]}."
    return (
        f"{WORDS[found['verdict']]}: of {found['spaces']} names, "
        f"{percent(found['prior_bias'], found['prior_bias_ci95'])} get its prior in both contexts, "
        f"and {percent(found['consistent'], found['consistent_ci95'])} get both right (95% intervals)."
    )
