"""The prior in each neutral template, a row of points a template."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.reporting.figures.dots import DotPanel, draw_dots
from shadowprobe.reporting.figures.findings import read_findings, read_rate
from shadowprobe.reporting.figures.style import Width, wrap_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

# Characters of a template on one line, and of all that is shown of it.
LINE: dict[Width, int] = {"one": 26, "two": 52}
LONGEST: dict[Width, int] = {"one": 46, "two": 98}


def templates(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Are the neutral contexts neutral? How often each template gets the prior of its name.

    A row a template. Where one lies apart from the others, it is not neutral for that system.
    """
    found = [one["templates"] if one else {} for one in read_findings(runs, "templates")]
    texts: dict[str, str] = {}
    for rows in found:
        own = {number: row["text"] or f"template {number}" for number, row in rows.items()}
        if any(texts.get(number, text) != text for number, text in own.items()):
            raise UsageError("the runs have other neutral templates: draw a figure of each dataset")
        texts |= own
    order = sorted(texts, key=int)
    words = [
        wrap_label(textwrap.shorten(texts[number], LONGEST[width], placeholder=" ..."), LINE[width]) for number in order
    ]
    panel = DotPanel("", [[read_rate(rows.get(number, {}), "prior") for number in order] for rows in found])
    about = "names that get their prior, %,\nwith 95% interval"
    return draw_dots([run.label for run in runs], words, [panel], about, width)
