"""Does an entity linker read the context, or does it repeat its prior?"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shadowprobe.base.model import Candidate, Entity, EntitySpace, Failure, Prediction, Snippet
from shadowprobe.dataset.knowledge import Knowledge
from shadowprobe.errors import (
    DownloadError,
    InputError,
    ItemError,
    LinkerError,
    PluginError,
    ShadowprobeError,
    UsageError,
)
from shadowprobe.measure.probe import Findings, Probe, VariantProbe, not_measured
from shadowprobe.systems.linker import Linker, context_of

if TYPE_CHECKING:
    from shadowprobe.api import Comparison as Comparison
    from shadowprobe.api import DumpNames as DumpNames
    from shadowprobe.api import Run as Run
    from shadowprobe.api import check as check
    from shadowprobe.api import compare as compare
    from shadowprobe.api import debias as debias
    from shadowprobe.api import load_run as load_run
    from shadowprobe.api import names_from_dumps as names_from_dumps
    from shadowprobe.api import plot as plot
    from shadowprobe.api import report as report
    from shadowprobe.api import runs as runs
    from shadowprobe.api import summarize as summarize
    from shadowprobe.api import table as table
    from shadowprobe.base.identity import Resolver as Resolver
    from shadowprobe.base.identity import normalise_title as normalise_title
    from shadowprobe.catalogue.datasets import open_dataset as open_dataset
    from shadowprobe.dataset.dataset import Card as Card
    from shadowprobe.dataset.dataset import Dataset as Dataset
    from shadowprobe.dataset.dataset import write_dataset as write_dataset
    from shadowprobe.measure.answers import Answers as Answers
    from shadowprobe.running.api import run as run
    from shadowprobe.running.api import score as score
    from shadowprobe.running.linking import Settings as Settings
    from shadowprobe.systems.service_client import Request as Request
    from shadowprobe.systems.web_linker import WebLinker as WebLinker
    from shadowprobe.systems.worker_linker import WorkerLinker as WorkerLinker

# Fetched when first asked for: they bring NumPy or asyncio, and a linker's file should load without them.
_LATER = {
    "Answers": "measure.answers",
    "Card": "dataset.dataset",
    "Comparison": "api",
    "Dataset": "dataset.dataset",
    "DumpNames": "api",
    "Request": "systems.service_client",
    "Resolver": "base.identity",
    "Run": "api",
    "Settings": "running.linking",
    "WebLinker": "systems.web_linker",
    "WorkerLinker": "systems.worker_linker",
    "check": "api",
    "compare": "api",
    "debias": "api",
    "load_run": "api",
    "names_from_dumps": "api",
    "normalise_title": "base.identity",
    "open_dataset": "catalogue.datasets",
    "plot": "api",
    "report": "api",
    "run": "running.api",
    "runs": "api",
    "score": "running.api",
    "summarize": "api",
    "table": "api",
    "write_dataset": "dataset.dataset",
}

__version__ = "0.2.0"

__all__ = [
    "Answers",
    "Candidate",
    "Card",
    "Comparison",
    "Dataset",
    "DownloadError",
    "DumpNames",
    "Entity",
    "EntitySpace",
    "Failure",
    "Findings",
    "InputError",
    "ItemError",
    "Knowledge",
    "Linker",
    "LinkerError",
    "PluginError",
    "Prediction",
    "Probe",
    "Request",
    "Resolver",
    "Run",
    "Settings",
    "ShadowprobeError",
    "Snippet",
    "UsageError",
    "VariantProbe",
    "WebLinker",
    "WorkerLinker",
    "__version__",
    "check",
    "compare",
    "context_of",
    "debias",
    "load_run",
    "names_from_dumps",
    "normalise_title",
    "not_measured",
    "open_dataset",
    "plot",
    "report",
    "run",
    "runs",
    "score",
    "summarize",
    "table",
    "write_dataset",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(f"shadowprobe.{_LATER[name]}"), name)
    raise AttributeError(f"module 'shadowprobe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
