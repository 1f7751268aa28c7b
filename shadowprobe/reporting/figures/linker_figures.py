"""The figures of linkers that are bars or lines; those that draw in a way of their own have a module each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.dataset.dataset import GOLD_SUBSETS
from shadowprobe.errors import UsageError
from shadowprobe.reporting.figures.bars import draw_bars
from shadowprobe.reporting.figures.findings import read_all_findings, read_findings, refusal
from shadowprobe.reporting.figures.lines import Panel, Point, draw_lines, draw_rates, read_point, show_differences
from shadowprobe.reporting.figures.stacks import Stack, draw_stacks
from shadowprobe.reporting.figures.style import Width, make_panels, shorten_number, system_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

OF_NAMES = "share of the names, %,\nwith 95% interval"
SHORT_OF_NAMES = "% of names"
RATES: dict[Width, dict[str, str]] = {
    "one": {
        "overshadowed": "Overshadowed:\none entity in\nboth contexts",
        "prior_bias": "Prior bias:\nand it is\nthe prior",
        "consistent": "Both right:\neach context\nits own entity",
    },
    "two": {
        "overshadowed": "Overshadowed:\nTop and Shadow context\nget the same entity",
        "prior_bias": "Prior bias:\nthe same entity,\nand it is the prior",
        "consistent": "Both right:\neach context\ngets its own entity",
    },
}
PRIOR_RATES = {
    "stability": ("Stability: neutral\ncontexts that agree\nwith the prior", "mean over the names, %"),
    "prior_is_top": ("Names whose prior\nis their Top entity", OF_NAMES),
}
# How much of the text around the mention the linker gets.
LENGTHS = {
    "cut": "{words_cut} words on\neach side",
    "sentence": "its sentence",
    "snippet": "the snippet",
    "page": "{words_page} words\nmore of\nthe page",
}
# Right answers stand together at the left, so that they can be added up by eye.
SHARES = {
    "prior_correct": "right, the prior",
    "context_correct": "right, not the prior",
    "context_wrong": "wrong, not the prior",
    "prior_wrong": "wrong, the prior",
    "nil": "NIL or skipped",
}


def overshadowing(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How often the name alone decides, how often by the prior, and how often both contexts are right (Fig. 4).

    Without neutral contexts there is no prior bias.
    """
    findings = read_findings(runs, "overshadowing")
    about = OF_NAMES if width == "two" else SHORT_OF_NAMES
    titles = {key: (title, about) for key, title in RATES[width].items()}
    return draw_bars([run.label for run in runs], findings, titles, width)


def stability(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How far the neutral contexts agree on a prior, and how often it is the Top entity.

    The agreement is a mean of shares.
    """
    return draw_bars([run.label for run in runs], read_findings(runs, "prior"), PRIOR_RATES, width)


def outcomes(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Right and wrong answers that repeat the prior or differ from it, on Top and on Shadow (Table 4 of the paper)."""
    findings = read_findings(runs, "prior")
    stacks = [
        Stack(
            subset.capitalize(),
            f"share of {subset.capitalize()}, %",
            [one[subset] if one else None for one in findings],
        )
        for subset in ("top", "shadow")
        if all(subset in one for one in findings if one)
    ]
    if not stacks:
        raise UsageError("no such figure: the runs share neither Top nor Shadow snippets")
    return draw_stacks([run.label for run in runs], stacks, SHARES, width)


def buckets(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Accuracy by how common the gold entity is, on each subset.

    Tail entities are rare too, but their names have no other to be mistaken for.
    """

    def list_rows(found: Findings, subset: str) -> dict[int, Any]:
        return {row["at_least"]: row for row in found["buckets"].get(subset, ())}

    findings = read_all_findings(runs, "popularity")
    panels = _make_panels(runs, findings, list_rows, shorten_number)
    height = 0.88 if width == "one" else 1.6
    figure, lowest = draw_rates(panels, "right answers, %, with 95% interval", width, height)
    # Once, below the panel in the middle.
    lowest[len(lowest) // 2].set_xlabel("commonness of the gold entity, at least")
    return figure


def context_length(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How much context does it take? Accuracy with less of the snippet, and with more of its page.

    A system that gains nothing from a longer context does not read it.
    """

    def list_rows(found: Findings, subset: str) -> dict[int, Any]:
        lengths = found["lengths"] if found else {}
        rows = (lengths.get(length, {}).get(subset) for length in LENGTHS)
        return {place: row for place, row in enumerate(rows) if row is not None}

    findings = read_findings(runs, "context_length")
    known = next(filter(None, findings))
    words = [name.format_map(known) for name in LENGTHS.values()]
    panels = _make_panels(runs, findings, list_rows, words.__getitem__)
    figure, _ = draw_rates(panels, "right answers, %, with 95% interval", width, 1.25 if width == "one" else 1.7)
    return figure


def popularity_gap(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Accuracy on Top minus accuracy on Shadow, by how many times as common the Top entity is.

    A linker that reads stays near 0 however wide the gap; one that repeats its prior rises with it.
    """
    series: dict[str, dict[int, Point]] = {}
    below: dict[int, int | None] = {}
    for run, findings in zip(runs, read_all_findings(runs, "popularity"), strict=True):
        gaps = findings["gaps"]
        if not gaps:
            raise refusal(run, "no name has both snippets and commonness")
        series[run.label] = {row["at_least"]: read_point(row, "top_minus_shadow") for row in gaps}
        below |= {row["at_least"]: row["below"] for row in gaps}
    legend = system_legend(series, width)
    figure, (axes,) = make_panels(width, 2.3 + legend.height)
    axes.axhline(0, color="black", linewidth=0.6)
    draw_lines(axes, series, lambda low: _name_range(low, below[low]))
    show_differences(axes)
    axes.set_ylabel("right on Top minus on Shadow,\npoints, with 95% interval")
    axes.set_xlabel("how many times as common the Top entity is")
    legend.draw(figure)
    return figure


def _make_panels(
    runs: Sequence[FinishedRun],
    findings: Sequence[Findings],
    list_rows: Callable[[Findings, str], Mapping[int, Any]],
    name: Callable[[int], str],
) -> list[Panel]:
    """A panel for each subset that a run has rows of; `list_rows` gives them by category."""
    panels = []
    for subset in GOLD_SUBSETS:
        rows = {run.label: list_rows(found, subset) for run, found in zip(runs, findings, strict=True)}
        if any(rows.values()):
            series = {label: {one: read_point(row) for one, row in own.items()} for label, own in rows.items()}
            panels.append(Panel(subset.capitalize(), series, name))
    return panels


def _name_range(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return f"{low} to {high}" if low else f"under {high}"
