"""The agreement of annotators: Table 2, the kappas and the share of sufficient contexts."""

from __future__ import annotations

from collections.abc import Iterator

from shadowprobe.human_study.agreement import Kappa
from shadowprobe.human_study.shadowlink_score import SUBSETS, Agreement
from shadowprobe.reporting.tables.table import Column, Row, Table, percent, text_column, write_bounds


def agreement_table(found: Agreement) -> Table:
    """Table 2, with what else is known of the annotators as notes."""
    columns = (
        text_column("annotator"),
        Column("answered", "answered"),
        Column("not_sufficient", "not\nsufficient"),
        *(
            column
            for subset in SUBSETS
            for column in (
                Column(subset, subset.capitalize(), "{:.3f}".format, is_bold=True),
                Column(f"{subset}_interval", "95% interval", write_bounds),
            )
        ),
    )
    rows = []
    for row in found.annotators:
        cells = (cell for rate in map(row.subsets.__getitem__, SUBSETS) for cell in (rate.rate, rate.ci95 or ""))
        rows.append(Row((row.annotator, row.answered, row.not_sufficient, *cells)))
    averages = (cell for subset in SUBSETS for cell in (found.average[subset], ""))
    rows.append(Row(("Average", "", "", *averages), section="average"))
    title = "How often are people right? P = R = F on the sufficient contexts (Table 2 of the paper)"
    return Table("table_2", title, columns, tuple(rows), tuple(_notes(found)))


def _notes(found: Agreement) -> Iterator[str]:
    yield from map(describe_kappa, found.kappa)
    share = percent(found.sufficient.rate, found.sufficient.ci95)
    yield f"contexts that nobody calls not sufficient: {found.sufficient.hits} of {found.sufficient.n}, {share}"
    if found.unanswered:
        lacking = f"{found.unanswered} of {found.items} items lack an answer"
        yield f"{lacking}; they are left out of the table and of the share"


def describe_kappa(kappa: Kappa) -> str:
    """How far two annotators agree."""
    names = " and ".join(kappa.annotators)
    if kappa.observed is None:
        return f"{names}: no item that both answered"
    same = f"same answer in {percent(kappa.observed)} of {kappa.n}"
    if kappa.kappa is None:
        return f"{names}: {same}; Cohen's kappa is not defined, since every answer is the same"
    return f"{names}: Cohen's kappa {kappa.kappa:.3f}, {same}"
