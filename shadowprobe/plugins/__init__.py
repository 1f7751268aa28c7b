"""Linkers, retrievers, readers and probes by name."""

from shadowprobe.plugins.listing import Listing, listings
from shadowprobe.plugins.loading import (
    LINKERS,
    PROBES,
    READERS,
    RETRIEVAL_PROBES,
    RETRIEVERS,
    Group,
    add_version,
    make_linker,
    make_probe,
    make_reader,
    make_retrieval_probe,
    make_retrieval_probes,
    make_retriever,
    names,
    run_probe,
)
from shadowprobe.systems.options import describe_system, list_options, option_values

__all__ = [
    "LINKERS",
    "PROBES",
    "READERS",
    "RETRIEVAL_PROBES",
    "RETRIEVERS",
    "Group",
    "Listing",
    "add_version",
    "describe_system",
    "list_options",
    "listings",
    "make_linker",
    "make_probe",
    "make_reader",
    "make_retrieval_probe",
    "make_retrieval_probes",
    "make_retriever",
    "names",
    "option_values",
    "run_probe",
]
