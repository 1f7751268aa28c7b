"""Does an entity linker read the context, or does it repeat its prior?"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import (
    DownloadError,
    InputError,
    ItemError,
    LinkerError,
    PluginError,
    ShadowprobeError,
    UsageError,
)
from shadowprobe.knowledge import Knowledge
from shadowprobe.linker import Linker, context_of
from shadowprobe.model import Candidate, Entity, EntitySpace, Failure, Prediction, Snippet
from shadowprobe.probe import Findings, Probe, VariantProbe, not_measured

if TYPE_CHECKING:
    from shadowprobe.answers import Answers as Answers
    from shadowprobe.catalogue import open_dataset as open_dataset
    from shadowprobe.dataset import Card as Card
    from shadowprobe.dataset import Dataset as Dataset
    from shadowprobe.dataset import write_dataset as write_dataset
    from shadowprobe.identity import Resolver as Resolver
    from shadowprobe.identity import normalise_title as normalise_title
    from shadowprobe.session import Settings as Settings
    from shadowprobe.session import run as run
    from shadowprobe.session import score as score
    from shadowprobe.web import Request as Request
    from shadowprobe.web import WebLinker as WebLinker
    from shadowprobe.worker import WorkerLinker as WorkerLinker

# Fetched when first asked for: they bring NumPy or asyncio, and a linker's file should load without them.
_LATER = {
    "Answers": "answers",
    "Card": "dataset",
    "Dataset": "dataset",
    "Request": "web",
    "Resolver": "identity",
    "Settings": "session",
    "WebLinker": "web",
    "WorkerLinker": "worker",
    "normalise_title": "identity",
    "open_dataset": "catalogue",
    "run": "session",
    "score": "session",
    "write_dataset": "dataset",
}

__version__ = "0.1.0"

__all__ = [
    "Answers",
    "Candidate",
    "Card",
    "Dataset",
    "DownloadError",
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
    "Settings",
    "ShadowprobeError",
    "Snippet",
    "UsageError",
    "VariantProbe",
    "WebLinker",
    "WorkerLinker",
    "__version__",
    "context_of",
    "normalise_title",
    "not_measured",
    "open_dataset",
    "run",
    "score",
    "write_dataset",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(f"shadowprobe.{_LATER[name]}"), name)
    raise AttributeError(f"module 'shadowprobe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
