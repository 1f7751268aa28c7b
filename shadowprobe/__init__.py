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
    from shadowprobe.api import (
        DumpNames,
        Run,
        check,
        compare,
        debias,
        load_run,
        names_from_dumps,
        plot,
        report,
        runs,
        summarize,
        table,
    )
    from shadowprobe.base.identity import Resolver, normalise_title
    from shadowprobe.catalogue.datasets import open_dataset
    from shadowprobe.dataset.dataset import Card, Dataset, write_dataset
    from shadowprobe.measure.answers import Answers
    from shadowprobe.running.api import run, score
    from shadowprobe.running.comparison import Comparison
    from shadowprobe.running.linking import Settings
    from shadowprobe.systems.service_client import Request
    from shadowprobe.systems.web_linker import WebLinker
    from shadowprobe.systems.worker_linker import WorkerLinker

# Fetched when first asked for: they bring NumPy or asyncio, and a linker's file should load without them. All other
# names that are fetched later are in `api`.
_LATER = {
    "Answers": "measure.answers",
    "Card": "dataset.dataset",
    "Comparison": "running.comparison",
    "Dataset": "dataset.dataset",
    "Request": "systems.service_client",
    "Resolver": "base.identity",
    "Settings": "running.linking",
    "WebLinker": "systems.web_linker",
    "WorkerLinker": "systems.worker_linker",
    "normalise_title": "base.identity",
    "open_dataset": "catalogue.datasets",
    "run": "running.api",
    "score": "running.api",
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
    if name in __all__:
        return getattr(importlib.import_module(f"shadowprobe.{_LATER.get(name, 'api')}"), name)
    raise AttributeError(f"module 'shadowprobe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
