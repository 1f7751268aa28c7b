"""Finished runs, as tables, figures, comparisons and reports read them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shadowprobe.errors import InputError, UsageError
from shadowprobe.running.directory import PREDICTIONS, RESULTS, RUN, Kind, Results, dataset_location, read_card
from shadowprobe.running.kinds import DATA_KEYS, NOUNS, SCORING_COMMANDS, kind_of
from shadowprobe.running.results_file import read_results

if TYPE_CHECKING:
    from pandas import DataFrame

    from shadowprobe.dataset.dataset import Dataset
    from shadowprobe.measure.answers import Answers

DATA_NOUNS: dict[Kind, str] = {
    "linker": "datasets",
    "retriever": "documents",
    "reader": "documents",
    "model": "questions",
}
PART_NOUNS: dict[Kind, str] = {"linker": "names", "retriever": "queries", "reader": "sets", "model": "sets"}


class FinishedRun:
    """A run directory: its label and its results; the dataset and the answers of a linker are read when first used."""

    def __init__(
        self,
        path: Path,
        label: str,
        results: Results,
        location: str | None = None,
        opened: dict[str, Dataset] | None = None,
    ) -> None:
        self.path, self.results = path, results
        # The system's name, with the options that differ from those of the other runs that were read with it.
        self.label = label
        self._location = location
        # The datasets that this run and the others that were read with it have opened.
        self._opened = opened if opened is not None else {}

    @cached_property
    def kind(self) -> Kind:
        """What it is a run of."""
        return kind_of(self.path, self.results)

    @property
    def system(self) -> dict[str, Any]:
        """What results.json says of the system: its name, version and options."""
        system: dict[str, Any] = self.results[self.kind]
        return system

    @property
    def data(self) -> dict[str, Any]:
        """What results.json says of the data: the name and the digest of a dataset, a collection or questions."""
        data: dict[str, Any] = self.results[DATA_KEYS[self.kind]]
        return data

    @cached_property
    def dataset(self) -> Dataset:
        """The dataset of a linker's run, or the part of it that the run was limited to."""
        from shadowprobe.catalogue.datasets import open_dataset

        location = self._location or dataset_location(self.path)
        if location not in self._opened:
            self._opened[location] = open_dataset(location)
        dataset = self._opened[location]
        if self.data["digest"] != dataset.digest:
            raise InputError(
                self.path / RESULTS,
                f"is over `{self.data['name']}` ({self.data['digest'][:12]}...), and {location} is"
                f" `{dataset.name}` ({dataset.digest[:12]}...); --dataset names the one that it is over",
                field="dataset",
            )
        limit = self.data["limit"]
        return dataset.first(limit) if limit is not None else dataset

    @property
    def counts_nil(self) -> bool:
        """True if the answers of a linker are counted with --gerbil-nil; earlier results do not have this setting."""
        return bool(self.results["settings"].get("gerbil_nil", False))

    @property
    def reads_text_only(self) -> bool:
        """True if a retriever's answers are counted with --text-only; earlier results do not have this setting."""
        return bool(self.results["settings"].get("text_only", False))

    @cached_property
    def answers(self) -> Answers:
        """The predictions of a linker's run beside the gold."""
        from shadowprobe.measure.answers import Answers

        answers = Answers(self.dataset, gerbil_nil=self.counts_nil)
        return answers.read(self.path / PREDICTIONS, partial=self.data["limit"] is not None)

    def forget_data(self) -> None:
        """Frees the memory of the dataset and the answers; they are read again if they are used again."""
        for name in ("answers", "dataset"):
            self.__dict__.pop(name, None)
        self._opened.clear()
        # They are in a circle of references, and would stay for a while.
        gc.collect()

    def to_frame(self, what: Literal["items", "summary"] = "items") -> DataFrame:
        """The run as a pandas DataFrame: a row for each mention, query or question, or one row of headline figures."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise UsageError("to_frame needs pandas: pip install pandas") from None
        from shadowprobe.running.records import list_records, make_summary

        if what not in {"items", "summary"}:
            raise UsageError(f"to_frame: no {what!r}; choose from items, summary")
        return DataFrame(list_records(self) if what == "items" else [make_summary(self)])


def read_runs(
    paths: Sequence[Path],
    dataset: str | None = None,
    names: Sequence[str] = (),
    *,
    warn: Callable[[str], None] | None = None,
    is_mixed: bool = False,
) -> list[FinishedRun]:
    """Reads run directories; each linker's is over the dataset it was made with, or the one given.

    `warn` is called for each of several directories that is no finished run and is left out; without it, the first one
    raises. `is_mixed` allows runs of several kinds and over several datasets, and labels them within each dataset.
    """
    if names and len(names) != len(paths):
        raise UsageError(f"{len(names)} names for {len(paths)} runs: give one for each, or none")
    # Runs over one dataset share it.
    opened: dict[str, Dataset] = {}
    runs: list[FinishedRun] = []
    for path, name in zip(paths, names or [""] * len(paths), strict=True):
        if warn is not None and len(paths) > 1 and not (path / RESULTS).exists():
            warn(f"{path} {_explain_unfinished(path)} and is left out")
            continue
        runs.append(FinishedRun(path, name, read_results(path), dataset, opened))
    if paths and not runs:
        raise UsageError(f"none of the {len(paths)} directories is a finished run")
    for run in runs:
        if run.kind != runs[0].kind and not is_mixed:
            raise UsageError(
                f"{runs[0].path} is a run of a {NOUNS[runs[0].kind]} and {run.path} one of a {NOUNS[run.kind]}: give"
                " runs of one kind"
            )
        if dataset is not None and run.kind == "linker":
            # What a user names must be right, even where nothing else is read from it.
            _ = run.dataset
    if not names:
        for group in group_by_data(runs).values() if is_mixed else [runs]:
            names = [_read_name(run.path) for run in group]
            labels = make_labels([run.system for run in group], [run.data["name"] for run in group], names)
            for run, label in zip(group, labels, strict=True):
                run.label = label
    return runs


def _explain_unfinished(path: Path) -> str:
    if not path.is_dir():
        return "is no directory" if path.exists() else "does not exist"
    return "is not finished (the command that began it goes on)" if (path / RUN).exists() else "is no run"


def group_by_data(runs: Sequence[FinishedRun]) -> dict[str, list[FinishedRun]]:
    """The runs that can be compared with each other, by the name of their data."""
    groups: dict[tuple[Any, ...], list[FinishedRun]] = {}
    for run in runs:
        counted = run.kind, run.data["digest"], run.data.get("limit"), run.data.get("documents"), *_list_counting(run)
        groups.setdefault(counted, []).append(run)
    named: dict[str, list[FinishedRun]] = {}
    for members in groups.values():
        name = _describe_data(members[0])
        # Two datasets of one name differ in their digest.
        named[name if name not in named else f"{name} ({members[0].data['digest'][:8]})"] = members
    return named


def _list_counting(run: FinishedRun) -> list[str]:
    """The options with which a run was counted that change its figures."""
    if run.kind == "linker" and run.counts_nil:
        return ["--gerbil-nil"]
    return ["--text-only"] if run.kind == "retriever" and run.reads_text_only else []


def _describe_data(run: FinishedRun) -> str:
    """The name of the data, with the part of it and the way of counting that change its figures."""
    parts = [_part(run, key) for key in ("limit", "documents") if run.data.get(key) is not None]
    extra = [*parts, *_list_counting(run)]
    return f"{run.data['name']}, {', '.join(extra)}" if extra else str(run.data["name"])


def _read_name(path: Path) -> str:
    """What the user called a run; empty where it has no name, or no card that can be read."""
    with suppress(InputError):
        return read_card(path / RUN).name
    return ""


def make_labels(
    systems: Sequence[dict[str, Any]],
    datasets: Sequence[str] = (),
    names: Sequence[str] = (),
    *,
    is_unique: bool = True,
) -> list[str]:
    """The names of runs, or else of their systems; where two share one, the options and datasets that differ follow it.

    With `is_unique`, a number tells labels apart that are still equal.
    """
    labels = []
    for number, system in enumerate(systems):
        if names and names[number]:
            labels.append(names[number])
            continue
        rivals = [other["options"] for other in systems if other["name"] == system["name"]]
        places = {one for other, one in zip(systems, datasets, strict=False) if other["name"] == system["name"]}
        differing = {
            option: value
            for option, value in system["options"].items()
            if any(other.get(option) != value for other in rivals)
        }
        words = " ".join(f"{option}={value}" for option, value in differing.items())
        place = f" on {datasets[number]}" if len(places) > 1 else ""
        labels.append(f"{system['name']} ({words}){place}" if words else f"{system['name']}{place}")
    if not is_unique:
        return labels
    counts = [labels[: place + 1].count(label) for place, label in enumerate(labels)]
    return [f"{label} #{count}" if count > 1 else label for label, count in zip(labels, counts, strict=True)]


def check_labels(runs: Sequence[FinishedRun], option: str = "--name") -> None:
    """Refuses runs of which two have one label."""
    labels = [run.label for run in runs]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise UsageError(f"two runs are called {twice!r}: give each a {option} of its own")


def check_comparable(runs: Sequence[FinishedRun]) -> None:
    """Refuses runs that cannot be shown side by side: over other data, or under one label."""
    for other in runs[1:]:
        first = runs[0]
        if first.data["digest"] != other.data["digest"]:
            raise UsageError(
                f"the runs are over different {DATA_NOUNS[other.kind]}: {first.path} over `{first.data['name']}` with"
                f" the digest {first.data['digest'][:12]}..., {other.path} over `{other.data['name']}` with"
                f" {other.data['digest'][:12]}...; only runs over the same data can be compared"
            )
        for key in ("limit", "documents", "held_out"):
            if first.data.get(key) != other.data.get(key):
                raise UsageError(
                    f"the runs are over different parts of `{first.data['name']}`: {first.path} over"
                    f" {_part(first, key)}, {other.path} over {_part(other, key)};"
                    f" run both with the same --{key.replace('_', '-')}"
                )
        if (counting := _list_counting(first)) != (other_counting := _list_counting(other)):
            (option,) = counting or other_counting
            raise UsageError(
                f"{other.path if counting else first.path} is counted without {option} and the other run with it:"
                f" `shadowprobe {SCORING_COMMANDS[first.kind]} --predictions RUN` with or without {option} counts one"
                " of them again"
            )
        for probe in _queries(first).keys() & _queries(other).keys():
            if _queries(first)[probe] != _queries(other)[probe]:
                raise UsageError(f"{other.path} has other queries for `{probe}` than {first.path}")
    check_labels(runs)


def _part(run: FinishedRun, key: str) -> str:
    """The part of the data that a run was limited to."""
    if run.data.get(key) is None:
        return "all of it"
    if key == "held_out":
        held_out = run.data[key]
        return f"all but {held_out['names']} names that are held out (seed {held_out['seed']})"
    return f"the first {run.data[key]} {PART_NOUNS[run.kind] if key == 'limit' else 'documents of a set'}"


def _queries(run: FinishedRun) -> dict[str, str]:
    """The digests of the queries of a run of a retriever or reader by probe."""
    return run.results["queries"] if run.kind in {"retriever", "reader"} else {}
