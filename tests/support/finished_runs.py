"""Finished runs of linkers whose answers are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shadowprobe import Answers
from shadowprobe.running.directory import Results
from shadowprobe.running.finished import FinishedRun


def finished_run(label: str, results: Results, answers: Answers, path: Path | None = None) -> FinishedRun:
    """A run as it would be read back, without a directory."""
    run = FinishedRun(path or Path(label), label, results)
    run.dataset, run.answers = answers.dataset, answers
    return run


def called(run: FinishedRun, labels: Sequence[str]) -> list[FinishedRun]:
    """The run under several names."""
    return [finished_run(label, run.results, run.answers, run.path) for label in labels]
