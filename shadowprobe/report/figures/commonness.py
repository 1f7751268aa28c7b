"""How common the gold entities of each subset are (Fig. 3 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.dataset import GOLD_SUBSETS, Dataset
from shadowprobe.errors import UsageError
from shadowprobe.figures.style import Width, blank, compact, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.model import Subset
    from shadowprobe.runs import FinishedRun

LOOKS: dict[Subset, dict[str, Any]] = {
    "top": {"color": "#0072B2", "linestyle": "-"},
    "shadow": {"color": "#D55E00", "linestyle": "--"},
    "tail": {"color": "#009E73", "linestyle": ":"},
    "all": {"color": "#000000", "linestyle": "-."},
}


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """For each commonness the share of the mentions whose entity is at most as common; one panel a dataset."""
    datasets = {(run.dataset.digest, run.dataset.limit): run.dataset for run in runs}
    columns = len(datasets) if width == "two" else 1
    rows = -(-len(datasets) // columns)
    figure, panels = blank(width, 2.4 * rows, nrows=rows, ncols=columns)
    for axes, dataset in zip(panels, datasets.values(), strict=True):
        lowest = 1
        for subset, known, mentions in _known(dataset):
            of = "" if len(known) == mentions else f" of {mentions:,}"
            axes.ecdf(known, label=f"{subset.capitalize()} (n = {len(known):,}{of})", **LOOKS[subset])
            lowest = min(lowest, *known)
        if lowest > 0:
            axes.set_xscale("log")
        else:
            axes.set_xscale("symlog", linthresh=1)
        axes.xaxis.set_major_formatter(lambda value, _: compact(value))
        axes.xaxis.set_minor_formatter("")
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
        axes.set_title(wrapped(dataset.name, 40))
        axes.set_xlabel("commonness of the gold entity")
        axes.set_ylabel("mentions at most as common, %")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2)
    return figure


def _known(dataset: Dataset) -> Iterator[tuple[Subset, list[int], int]]:
    """Each subset with the commonness of its gold entities, where known, and the number of its mentions."""
    found = False
    for subset in GOLD_SUBSETS:
        gold = [snippet.gold for snippet in dataset.snippets(subset) if snippet.gold is not None]
        told = [dataset.entities[title].commonness for title in gold]
        known = [commonness for commonness in told if commonness is not None]
        if known:
            found = True
            yield subset, known, len(gold)
    if not found:
        raise UsageError(f"no such figure: the dataset `{dataset.name}` does not say how common its entities are")
