"""The agreement of annotators as one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shadowprobe.annotate.agreement import SUBSETS, Agreement, Kappa, Rate
from shadowprobe.report.verdict import percent


def show(found: Agreement, console: Console) -> None:
    """Prints Table 2, the kappas and the share of sufficient contexts."""
    console.print(Text(f"{found.name}: {found.items} snippets of {found.dataset}", style="bold"), soft_wrap=True)
    console.print()
    console.print(_table(found))
    for line in _lines(found):
        console.print(line, soft_wrap=True)


def _table(found: Agreement) -> Table:
    table = Table(
        title="How often are people right? P = R = F on the sufficient contexts (Table 2 of the paper)",
        title_justify="left",
        title_style="",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("annotator", overflow="fold")
    table.add_column("answered", justify="right")
    table.add_column("not sufficient", justify="right")
    for subset in SUBSETS:
        table.add_column(subset.capitalize(), justify="right", style="bold")
        table.add_column("95% interval", justify="right")
    for row in found.annotators:
        cells = [row.annotator, str(row.answered), str(row.not_sufficient)]
        for subset in SUBSETS:
            cells += [_decimal(row.subsets[subset].rate), _interval(row.subsets[subset])]
        table.add_row(*map(Text, cells))
    averages = [cell for subset in SUBSETS for cell in (_decimal(found.average[subset]), "")]
    table.add_row("Average", "", "", *averages)
    return table


def _lines(found: Agreement) -> Iterator[Text]:
    for kappa in found.kappa:
        yield Text(_agreement(kappa))
    share = percent(found.sufficient.rate, found.sufficient.ci95)
    yield Text(f"contexts that nobody calls not sufficient: {found.sufficient.hits} of {found.sufficient.n}, {share}")
    if found.complete < found.items:
        left = found.items - found.complete
        yield Text(
            f"{left} of {found.items} items lack somebody's answer; they are left out of the table and of the share",
            style="yellow",
        )


def _agreement(kappa: Kappa) -> str:
    names = " and ".join(kappa.annotators)
    if kappa.observed is None:
        return f"{names}: no item that both answered"
    same = f"same answer in {percent(kappa.observed)} of {kappa.n}"
    if kappa.kappa is None:
        return f"{names}: {same}; Cohen's kappa is not defined, since every answer is the same"
    return f"{names}: Cohen's kappa {kappa.kappa:.3f}, {same}"


def _decimal(rate: float | None) -> str:
    return f"{rate:.3f}" if rate is not None else "-"


def _interval(rate: Rate) -> str:
    return f"{rate.ci95[0]:.3f} to {rate.ci95[1]:.3f}" if rate.ci95 else ""
