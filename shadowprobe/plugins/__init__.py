"""Linkers, retrievers, readers and probes by name."""

from typing import TYPE_CHECKING, Any

from shadowprobe.plugins.loading import (
    BY_LINKER,
    LINKERS,
    PROBES,
    READERS,
    RETRIEVAL_PROBES,
    RETRIEVERS,
    Group,
    add_version,
    linker_options,
    load_class,
    make_linker,
    make_probe,
    make_reader,
    make_retrieval_probe,
    make_retrieval_probes,
    make_retriever,
    names,
    run_probe,
)
from shadowprobe.systems.options import find_types, list_options

if TYPE_CHECKING:
    from shadowprobe.plugins.listing import Listing as Listing
    from shadowprobe.plugins.listing import listings as listings

__all__ = [
    "BY_LINKER",
    "LINKERS",
    "PROBES",
    "READERS",
    "RETRIEVAL_PROBES",
    "RETRIEVERS",
    "Group",
    "Listing",
    "add_version",
    "find_types",
    "linker_options",
    "list_options",
    "listings",
    "load_class",
    "make_linker",
    "make_probe",
    "make_reader",
    "make_retrieval_probe",
    "make_retrieval_probes",
    "make_retriever",
    "names",
    "run_probe",
]


def __getattr__(name: str) -> Any:
    if name in {"Listing", "listings"}:
        # A run lists nothing.
        from shadowprobe.plugins import listing

        return getattr(listing, name)
    raise AttributeError(f"module 'shadowprobe.plugins' has no attribute {name!r}")
