"""What there is and what was found, as terminal tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

# For their names alone: what they bring along would take longer than the listing.
if TYPE_CHECKING:
    from shadowprobe.catalogue import Listed
    from shadowprobe.check import Finding
    from shadowprobe.dataset import Dataset
    from shadowprobe.formats.imported import Remark
    from shadowprobe.plugins import Listing

# Every remark is in the card; the screen shows this many of each kind.
SHOWN = 5


# Cells are `Text`: a bare string is markup to rich, and `shadowprobe[dense]` would lose its brackets.


def _table(*columns: str, title: str | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def linkers_table(found: Iterable[Listing], noun: str = "linker") -> Table:
    """The linkers, or retrievers, with what each needs."""
    table = _table(noun, "what it does", "needs", "from")
    for item in found:
        table.add_row(Text(item.name, style="bold"), *map(Text, (item.about, item.needs, item.package)))
    return table


def probes_table(found: Iterable[Listing]) -> Table:
    """The probes with the question that each asks."""
    table = _table("probe", "what it asks", "needs", "from")
    for item in found:
        table.add_row(Text(item.name, style="bold"), *map(Text, (item.about, item.needs, item.package)))
    return table


def datasets_table(found: Iterable[Listed]) -> Table:
    """The datasets that go by a name."""
    table = _table("dataset", "what it is", "names", "snippets", "needs")
    for item in found:
        counts = [str(count) if count is not None else "" for count in (item.spaces, item.snippets)]
        table.add_row(Text(item.name, style="bold"), *map(Text, (item.about, *counts, item.needs)))
    return table


def findings_table(name: str, findings: Iterable[Finding]) -> Table:
    """What a check found."""
    table = _table("", "what", "detail", title=f"check of {name}")
    for finding in findings:
        mark = Text("holds", style="green") if finding.holds else Text("BROKEN", style="bold red")
        table.add_row(mark, finding.what, Text(finding.detail))
    return table


def import_lines(dataset: Dataset, remarks: Iterable[Remark]) -> Iterator[Text]:
    """The counts of an imported dataset, then its remarks by kind."""
    counts = ", ".join(f"{count} {name}" for name, count in dataset.card.counts.items())
    yield Text(f"{dataset.path}: {counts}", style="bold")
    kinds: dict[tuple[str, str], list[Remark]] = defaultdict(list)
    for remark in remarks:
        kinds[remark.action, remark.why].append(remark)
    for (action, why), found in kinds.items():
        yield Text(f"{action}: {why} ({len(found)})")
        for remark in found[:SHOWN]:
            yield Text(f"    {remark.where}  {remark.detail}", style="dim")
        if len(found) > SHOWN:
            yield Text(f"    ... {len(found) - SHOWN} more in {dataset.path}/dataset.json, `repairs`", style="dim")
