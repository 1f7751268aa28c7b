"""What an import of a dataset repaired, dropped or kept in spite of a fault, as lines of a terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from shadowprobe.dataset.dataset import Dataset
    from shadowprobe.formats.imported import Remark

# Every remark is in the card; the screen shows this many of each kind.
SHOWN = 5


def import_lines(dataset: Dataset, remarks: Iterable[Remark]) -> Iterator[Text]:
    """The counts of an imported dataset, then its remarks by kind."""
    counts = ", ".join(f"{count} {name}" for name, count in dataset.card.counts.items())
    yield Text(f"{dataset.path}: {counts}", style="bold")
    kinds: dict[tuple[str, str], list[Remark]] = defaultdict(list)
    for remark in remarks:
        kinds[remark.action, remark.why].append(remark)
    for (action, why), same in kinds.items():
        yield Text(f"{action}: {why} ({len(same)})")
        for remark in same[:SHOWN]:
            yield Text(f"    {remark.where}  {remark.detail}", style="dim")
        if len(same) > SHOWN:
            yield Text(f"    ... {len(same) - SHOWN} more in {dataset.path}/dataset.json, `repairs`", style="dim")
