"""The distribution of commonness, a line a subset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.dataset.dataset import GOLD_SUBSETS, Dataset
from shadowprobe.errors import UsageError
from shadowprobe.reporting.figures.style import PERCENT, TICKS, Width, shorten_number, stack_panels, wrap_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.base.model import Subset
    from shadowprobe.running.finished import FinishedRun

LOOKS: dict[Subset, dict[str, Any]] = {
    "top": {"color": "#0072B2", "linestyle": "-"},
    "shadow": {"color": "#D55E00", "linestyle": "--"},
    "tail": {"color": "#009E73", "linestyle": ":"},
    "all": {"color": "#000000", "linestyle": "-."},
}


def commonness(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How common the gold entities of each subset are (Fig. 3 of the paper).

    For each commonness the share of the mentions whose entity is at most as common; one panel a dataset.
    """
    datasets = {(run.dataset.digest, run.dataset.limit): run.dataset for run in runs}
    figure, panels, _ = stack_panels(width, len(datasets), panel=2.4, room=0)
    for axes, dataset in zip(panels, datasets.values(), strict=True):
        lowest = 1
        for subset, known, mentions in _known_commonness(dataset):
            of = "" if len(known) == mentions else f" of {mentions:,}"
            axes.ecdf(known, label=f"{subset.capitalize()} (n = {len(known):,}{of})", **LOOKS[subset])
            lowest = min(lowest, *known)
        if lowest > 0:
            axes.set_xscale("log")
        else:
            axes.set_xscale("symlog", linthresh=1)
        axes.xaxis.set_major_formatter(lambda value, _: shorten_number(value))
        axes.xaxis.set_minor_formatter("")
        axes.set_yticks(TICKS, PERCENT)
        axes.set_title(wrap_label(dataset.name, 40))
        counted = f" ({dataset.card.commonness})" if dataset.card.commonness else ""
        axes.set_xlabel(wrap_label(f"commonness of the gold entity{counted}", 45))
        axes.set_ylabel("mentions at most as common, %")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2)
    return figure


def _known_commonness(dataset: Dataset) -> list[tuple[Subset, list[int], int]]:
    """Each subset with the commonness of its gold entities, where known, and the number of its mentions."""
    found = []
    for subset in GOLD_SUBSETS:
        gold = [snippet.gold for snippet in dataset.snippets(subset) if snippet.gold is not None]
        every = [dataset.entities[title].commonness for title in gold]
        if known := [commonness for commonness in every if commonness is not None]:
            found.append((subset, known, len(gold)))
    if not found:
        raise UsageError(f"no such figure: the dataset `{dataset.name}` does not say how common its entities are")
    return found
