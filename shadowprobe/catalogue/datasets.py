"""The datasets that go by a name, and how each is had."""

from __future__ import annotations

import os
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.base.jsonl import read_json
from shadowprobe.errors import UsageError, nearest

if TYPE_CHECKING:
    from shadowprobe.catalogue.download import Watcher

    # Whoever looks for a directory only does not need it.
    from shadowprobe.dataset.dataset import Dataset


class Listed(Struct, frozen=True):
    """A dataset with a name, as a list shows it; its counts where it is on this machine."""

    name: str
    about: str
    needs: str
    spaces: int | None = None
    snippets: int | None = None


KNOWN = (
    Listed("mini", "hand-written snippets about real entities that share a name", "nothing"),
    Listed("mini-train", "the snippets of mini that its benchmark part leaves over", "nothing"),
    Listed("places", "places that share a name, popularity by population, templated contexts", "nothing"),
    Listed("shadowlink", "the released ShadowLink benchmark, 904 names from the web", "one download of 2 MB"),
)


def cache_directory() -> Path:
    """Where downloads and converted models are kept: `SHADOWPROBE_CACHE`, else the place for caches of the platform."""
    if configured := os.environ.get("SHADOWPROBE_CACHE"):
        return Path(configured)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "shadowprobe"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "shadowprobe"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shadowprobe"


def builtin_directory(name: str) -> Path:
    """The directory of a dataset that ships with the package."""
    return Path(str(resources.files("shadowprobe.data"))) / name


def listing() -> list[Listed]:
    """The known datasets, with the counts that the card of each gives."""
    return [_list_dataset(known) for known in KNOWN]


def find_directory(name: str) -> Path:
    """Where a known dataset is on this machine, if it is."""
    if name == "shadowlink":
        from shadowprobe.catalogue.download import dataset_directory

        return dataset_directory(cache_directory())
    return builtin_directory(name)


def _list_dataset(known: Listed) -> Listed:
    from shadowprobe.dataset.dataset import CARD, SUBSETS, Card

    path = find_directory(known.name)
    if not (path / CARD).exists():
        return known
    counts = read_json(path / CARD, Card).counts
    snippets = sum(counts.get(subset, 0) for subset in SUBSETS)
    return replace(known, spaces=counts.get("spaces", 0), snippets=snippets)


def open_dataset(name_or_path: str, watcher: Watcher | None = None) -> Dataset:
    """The dataset of a known name, downloaded once where it must be, or that of a directory."""
    from shadowprobe.dataset.dataset import Dataset

    names = [known.name for known in KNOWN]
    if not name_or_path:
        raise UsageError(f"the name of the dataset is empty: give a directory or one of {', '.join(names)}")
    if name_or_path == "shadowlink":
        from shadowprobe.catalogue.download import shadowlink_directory

        return Dataset.read(shadowlink_directory(cache_directory(), watcher))
    if name_or_path in names:
        return Dataset.read(builtin_directory(name_or_path))
    path = Path(name_or_path)
    if not path.exists() and path.name == name_or_path:
        raise UsageError(
            f"unknown dataset `{name_or_path}`{nearest(name_or_path, names)}:"
            f" give a directory or one of {', '.join(names)}"
        )
    return Dataset.read(path)
