"""The figures of linkers that are bars or lines; those that draw in a way of their own have a module each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.dataset.dataset import GOLD_SUBSETS
from shadowprobe.errors import UsageError
from shadowprobe.reporting.figures.bars import draw_bars, make_column
from shadowprobe.reporting.figures.findings import read_all_findings, read_findings, refusal
from shadowprobe.reporting.figures.lines import Panel, Point, draw_lines, draw_rates, show_differences
from shadowprobe.reporting.figures.stacks import Stack, draw_stacks
from shadowprobe.reporting.figures.style import Width, make_panels, shorten_number, system_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

OF_NAMES = "share of the names, %,\nwith 95% interval"
RATES = {
    "overshadowed": "Overshadowed:\nTop and Shadow context\nget the same entity",
    "prior_bias": "Prior bias:\nthe same entity,\nand it is the prior",
}
PRIOR_RATES = {
    "stability": ("Stability: neutral\ncontexts that agree\nwith the prior", "mean over the names, %"),
    "prior_is_top": ("Names whose prior\nis their Top entity", OF_NAMES),
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
    """How often the name alone decides, and how often by the prior (Fig. 4 of the paper).

    Without neutral contexts there is no prior bias.
    """
    findings = read_findings(runs, "overshadowing")
    columns = [
        make_column(title, OF_NAMES, findings, key)
        for key, title in RATES.items()
        if any(one is not None and one[key] is not None for one in findings)
    ]
    return draw_bars([run.label for run in runs], columns, width)


def stability(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How far the neutral contexts agree on a prior, and how often it is the Top entity.

    The agreement is a mean of shares.
    """
    findings = read_findings(runs, "prior")
    columns = [make_column(title, about, findings, key) for key, (title, about) in PRIOR_RATES.items()]
    return draw_bars([run.label for run in runs], columns, width)


def outcomes(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Right and wrong answers that repeat the prior or differ from it, on Top and on Shadow (Table 4 of the paper)."""
    findings = read_findings(runs, "prior")
    stacks = [
        Stack(
            subset.capitalize(),
            f"share of {subset.capitalize()}, %",
            [one[subset] if one is not None else None for one in findings],
        )
        for subset in ("top", "shadow")
        if all(subset in one for one in findings if one is not None)
    ]
    if not stacks:
        raise UsageError("no such figure: the runs share neither Top nor Shadow snippets")
    return draw_stacks([run.label for run in runs], stacks, SHARES, width)


def buckets(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Accuracy by how common the gold entity is, on each subset.

    Tail entities are rare too, but their names have no other to be mistaken for.
    """
    by_run = [findings["buckets"] for findings in read_all_findings(runs, "popularity")]
    panels = []
    for subset in GOLD_SUBSETS:
        series = {
            run.label: {
                row["at_least"]: Point(row["accuracy"], row["accuracy_ci95"], row["n"])
                for row in by_subset.get(subset, ())
            }
            for run, by_subset in zip(runs, by_run, strict=True)
        }
        if any(series.values()):
            panels.append(Panel(subset.capitalize(), series, shorten_number))
    height = 0.2 + 1.3 * len(panels) if width == "one" else 1.9
    figure, drawn = draw_rates(panels, "right answers, %, with 95% interval", width, height)
    # Below the lowest panel, or the one in the middle.
    below = drawn[-1] if width == "one" else drawn[len(drawn) // 2]
    below.set_xlabel("commonness of the gold entity, at least")
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
        series[run.label] = {
            row["at_least"]: Point(row["top_minus_shadow"], row["top_minus_shadow_ci95"], row["n"]) for row in gaps
        }
        below |= {row["at_least"]: row["below"] for row in gaps}
    legend = system_legend(series, width)
    figure, (axes,) = make_panels(width, 2.3 + legend.height)
    axes.axhline(0, color="black", linewidth=0.6)
    handles = draw_lines(axes, series, lambda low: _name_range(low, below[low]))
    show_differences(axes)
    axes.set_ylabel("right on Top minus on Shadow,\npoints, with 95% interval")
    axes.set_xlabel("how many times as common the Top entity is")
    legend.draw(figure, handles)
    return figure


def _name_range(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return f"{low} to {high}" if low else f"under {high}"
