"""What went into each stage of a long work, what came out, and why the rest did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.status import CAPTURES
from shadowprobe.reporting.tables.table import Column, Row, Table, text_column

# What is counted in each stage of a build.
COUNTED = {
    "spaces": "disambiguation pages",
    "commonness": "entities",
    "references": "links",
    CAPTURES: "pages cited",
    "crawl": "pages",
    "snippets": "mentions",
    "tail": "articles drawn",
    "assemble": "names",
}


def funnel_table(
    funnels: Sequence[Funnel], counted: Mapping[str, str] = COUNTED, title: str = "the build, stage by stage"
) -> Table:
    """A row for each stage, with what is `counted` there; its reasons start with the most frequent one."""
    done = {funnel.stage: funnel for funnel in funnels}
    rows = []
    for stage, what in counted.items():
        funnel = done.get(stage)
        if funnel is None and stage == CAPTURES:
            # Only a build that uses an existing crawl has these counts.
            continue
        if funnel is None:
            rows.append(Row((stage, what, "", "", "not done yet"), tone="quiet"))
            continue
        reasons = sorted(funnel.dropped.items(), key=lambda item: (-item[1], item[0]))
        why = "\n".join(f"{count} {reason}" for reason, count in reasons)
        rows.append(Row((stage, what, funnel.seen, funnel.kept, why)))
    columns = (
        text_column("stage", is_bold=True),
        text_column("counted", "what"),
        Column("seen", "seen"),
        Column("kept", "kept"),
        text_column("dropped", "left out, and why"),
    )
    return Table("funnel", title, columns, tuple(rows))
