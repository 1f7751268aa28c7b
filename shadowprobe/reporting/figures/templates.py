"""The prior in each neutral template, a row of points a template."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.reporting.figures.dots import Dot, DotPanel, draw_dots
from shadowprobe.reporting.figures.findings import read_findings
from shadowprobe.reporting.figures.style import Width, wrap_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

# Characters of a template on one line, and of all that is shown of it.
LINE: dict[Width, int] = {"one": 26, "two": 52}
LONGEST: dict[Width, int] = {"one": 46, "two": 98}


def templates(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Are the neutral contexts neutral? How often each template gets the prior of its name.

    A row a template. Where one lies apart from the others, it is not neutral for that system.
    """
    findings = read_findings(runs, "templates")
    texts: dict[str, str] = {}
    for found in filter(None, findings):
        own = {number: row["text"] or f"template {number}" for number, row in found["templates"].items()}
        if any(texts.get(number, text) != text for number, text in own.items()):
            raise UsageError("the runs have other neutral templates: draw a figure of each dataset")
        texts |= own
    order = sorted(texts, key=int)
    words = [
        wrap_label(textwrap.shorten(texts[number], LONGEST[width], placeholder=" ..."), LINE[width]) for number in order
    ]
    dots = [_read_dots(found, order) for found in findings]
    figure, _, _ = draw_dots(
        [run.label for run in runs],
        words,
        [DotPanel("", dots)],
        "names that get their prior, %,\nwith 95% interval",
        width,
    )
    return figure


def _read_dots(found: Findings | None, order: Sequence[str]) -> list[Dot | None]:
    """The share that gets the prior in each template, where any name has one."""
    rows = [found["templates"].get(number) if found is not None else None for number in order]
    return [(row["prior"], row["prior_ci95"]) if row and row["prior"] is not None else None for row in rows]
