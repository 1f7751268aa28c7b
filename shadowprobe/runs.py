"""Finished runs, as figures, comparisons and reports read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from shadowprobe.answers import Answers
from shadowprobe.catalogue import open_dataset
from shadowprobe.dataset import Dataset
from shadowprobe.errors import InputError
from shadowprobe.results_file import read_results_file
from shadowprobe.run_directory import PREDICTIONS, RESULTS
from shadowprobe.run_kinds import check_names, expect, labels, read_results
from shadowprobe.session import dataset_of


class FinishedRun(Struct):
    """A run directory: what it was called, what it found, and every answer."""

    path: Path
    # The linker's name, with the options that tell it from the other runs that were read with it.
    label: str
    results: dict[str, Any]
    dataset: Dataset
    answers: Answers


def read_runs(paths: Sequence[Path], dataset: str | None = None, names: Sequence[str] = ()) -> list[FinishedRun]:
    """Reads run directories; each is over the dataset it was made with, or all over the one that is given."""
    check_names(paths, names)
    opened: dict[str, Dataset] = {}
    found = []
    for path in paths:
        expect(path, read_results(path), "linker", "this command")
        results = read_results_file(path / RESULTS)
        place = dataset or dataset_of(path)
        if place not in opened:
            opened[place] = open_dataset(place)
        known = opened[place]
        if results["dataset"]["digest"] != known.digest:
            raise InputError(
                path / RESULTS,
                f"is over `{results['dataset']['name']}` ({results['dataset']['digest'][:12]}...), and {place} is"
                f" `{known.name}` ({known.digest[:12]}...); --dataset names the one that it is over",
                field="dataset",
            )
        limit = results["dataset"]["limit"]
        part = known.first(limit) if limit is not None else known
        answers = Answers(part).read(path / PREDICTIONS, partial=limit is not None)
        found.append(FinishedRun(path, "", results, part, answers))
    told = labels([run.results["linker"] for run in found], [run.dataset.name for run in found])
    for run, label in zip(found, names or told, strict=True):
        run.label = label
    return found
