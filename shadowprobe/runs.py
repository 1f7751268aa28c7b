"""Finished runs, as figures, comparisons and reports read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from shadowprobe.answers import Answers
from shadowprobe.catalogue import open_dataset
from shadowprobe.dataset import Dataset
from shadowprobe.errors import InputError, UsageError
from shadowprobe.jsonl import read_json
from shadowprobe.run_directory import PREDICTIONS, RESULTS
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
    if names and len(names) != len(paths):
        raise UsageError(f"{len(names)} names for {len(paths)} runs: give one for each, or none")
    opened: dict[str, Dataset] = {}
    found = []
    for path in paths:
        results = _results(path)
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
    for run, label in zip(found, names or _labels([run.results["linker"] for run in found]), strict=True):
        run.label = label
    return found


def _results(path: Path) -> dict[str, Any]:
    if not (path / RESULTS).exists():
        hint = "it is not finished: the command that began it goes on" if path.is_dir() else "no such run directory"
        raise InputError(path, f"has no {RESULTS}; {hint}" if path.is_dir() else hint)
    return read_json(path / RESULTS, dict[str, Any])


def _labels(linkers: Sequence[dict[str, Any]]) -> list[str]:
    """The names of linkers; where two share one, the options that differ stand behind it."""
    labels = []
    for linker in linkers:
        rivals = [other["options"] for other in linkers if other["name"] == linker["name"]]
        telling = {
            option: value
            for option, value in linker["options"].items()
            if any(other.get(option) != value for other in rivals)
        }
        words = " ".join(f"{option}={value}" for option, value in telling.items())
        labels.append(f"{linker['name']} ({words})" if words else linker["name"])
    for place, label in enumerate(labels):
        if (number := labels[:place].count(label)) > 0:
            labels[place] = f"{label} #{number + 1}"
    return labels
