"""What went into each stage of a build, what came out, and why the rest did not, as a terminal table."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.status import STAGES

# What is counted in each stage.
COUNTED = {
    "spaces": "disambiguation pages",
    "commonness": "entities",
    "references": "links",
    "crawl": "pages",
    "snippets": "mentions",
    "tail": "articles drawn",
    "assemble": "names",
}


def funnel_table(funnels: Sequence[Funnel]) -> Table:
    """The funnel: one block a stage, its reasons from the most frequent down."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="the build, stage by stage", title_justify="left")
    for column in ("stage", "what", "seen", "kept", "left out, and why"):
        table.add_column(column, justify="right" if column in {"seen", "kept"} else "left", overflow="fold")
    done = {funnel.stage: funnel for funnel in funnels}
    for stage in STAGES:
        funnel = done.get(stage)
        if funnel is None:
            table.add_row(Text(stage, style="dim"), COUNTED[stage], "", "", Text("not done yet", style="dim"))
            continue
        reasons = sorted(funnel.dropped.items(), key=lambda item: (-item[1], item[0]))
        why = "\n".join(f"{count} {reason}" for reason, count in reasons)
        table.add_row(Text(stage, style="bold"), COUNTED[stage], str(funnel.seen), str(funnel.kept), Text(why))
    return table
