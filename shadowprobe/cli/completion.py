"""What the shell offers for a name: linkers, datasets, probes, figures and runs; imports only when it is asked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shadowprobe.plugins import Group

# The largest number of directories that are looked at for runs.
MOST = 2000


def _complete_plugins(group: Group, incomplete: str) -> list[str]:
    from shadowprobe import plugins

    return _choose(plugins.names(group), incomplete)


complete_linkers = partial(_complete_plugins, "shadowprobe.linkers")
complete_retrievers = partial(_complete_plugins, "shadowprobe.retrievers")
complete_readers = partial(_complete_plugins, "shadowprobe.readers")
complete_retrieval_probes = partial(_complete_plugins, "shadowprobe.retrieval_probes")


def complete_probes(incomplete: str) -> list[str]:
    """The probes that begin so; `+` before a name is kept."""
    plus = "+" if incomplete.startswith("+") else ""
    return [f"{plus}{name}" for name in _complete_plugins("shadowprobe.probes", incomplete.removeprefix("+"))]


def complete_all_probes(incomplete: str) -> list[str]:
    """The probes of every kind that begin so."""
    return complete_probes(incomplete) + complete_retrieval_probes(incomplete)


def complete_datasets(incomplete: str) -> list[str]:
    """The datasets with a name, and the dataset directories, that begin so."""
    from shadowprobe.catalogue.datasets import KNOWN
    from shadowprobe.dataset.dataset import CARD

    return _choose((known.name for known in KNOWN), incomplete) + _find_directories(incomplete, CARD, "datasets")


def complete_figures(incomplete: str) -> list[str]:
    """The figures that begin so."""
    from shadowprobe.reporting.figures import FIGURES

    return _choose(FIGURES, incomplete)


def complete_runs(incomplete: str) -> list[str]:
    """The run directories that begin so."""
    from shadowprobe.running.directory import RUN

    return _find_directories(incomplete, RUN, "runs")


def complete_formats(incomplete: str) -> list[str]:
    """The foreign formats that begin so."""
    from shadowprobe.formats import FORMATS

    return _choose(FORMATS, incomplete)


def _choose(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _find_directories(incomplete: str, card: str, usual: str) -> list[str]:
    """The directories with a card that begin so: in the usual place, where the text points to, or one level below."""
    typed = Path(incomplete)
    parents = {typed if incomplete.endswith("/") else typed.parent, Path(usual)}
    found: set[str] = set()
    for parent in parents:
        children = sorted(parent.iterdir())[:MOST] if parent.is_dir() else []
        for child in children:
            if (child / card).is_file():
                found.add(str(child))
            elif child.is_dir() and not child.name.startswith("."):
                # On the way to one: the next key shows what is inside.
                found.add(f"{child}/")
    cut = "./" if incomplete.startswith("./") else ""
    return sorted(f"{cut}{name}" for name in found if f"{cut}{name}".startswith(incomplete))
