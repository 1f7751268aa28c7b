"""A linker that remembers what it was asked, and the runs of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from shadowprobe import Dataset, Linker, Prediction, Snippet
from shadowprobe.base.jsonl import read_lines
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.directory import PREDICTIONS
from shadowprobe.running.job import Job
from shadowprobe.running.linking import LinkingTask


class Recording(Linker):
    """Answers with the top entity and remembers what it was asked."""

    name = "recording"
    # Given, so that the variants of this class can go on with each other's runs.
    version = "1"
    broken: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.seen: list[Snippet] = []

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.batches.append([snippet.id for snippet in snippets])
        self.seen += snippets
        if any(snippet.id in self.broken for snippet in snippets):
            raise RuntimeError("the server\nsaid no")
        return [self.answer(snippet, self.knowledge.candidates(snippet.mention)[0], 0.5) for snippet in snippets]

    @property
    def asked(self) -> list[str]:
        return [snippet.id for snippet in self.seen]


class Failing(Recording):
    """Breaks on two of the snippets."""

    broken = frozenset({"tBerg", "nComo2"})


def run(linker: Linker, dataset: Dataset, out: Path, **options: object) -> Job[LinkingTask]:
    """A finished job."""
    job = make_linking_job(linker, dataset, out=out, **options)  # type: ignore[arg-type]
    job.run()
    return job


def ids(out: Path) -> list[str]:
    """The snippets that have a stored prediction, in the order of the file."""
    return [prediction.id for _, prediction in read_lines(out / PREDICTIONS, Prediction)]


def all_ids(dataset: Dataset) -> list[str]:
    """All snippets, in the order of the dataset."""
    return [snippet.id for snippet in dataset.snippets()]
