"""Finished runs of retrievers and of language models, as figures and reports read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from shadowprobe.jsonl import read_json
from shadowprobe.results_file import told
from shadowprobe.run_directory import RESULTS
from shadowprobe.run_kinds import COMMANDS, Kind, check_names, expect, kind_of, labels, read_results


class System(Struct):
    """Who was asked."""

    name: str
    options: dict[str, Any]


class _Collection(Struct):
    name: str
    digest: str


class _Counting(Struct):
    depth: int
    k: list[int]


class RetrieverHead(Struct):
    """What results.json of a retriever begins with, whatever was measured."""

    schema: Literal[1]
    retriever: System
    collection: _Collection
    queries: dict[str, str]
    settings: _Counting
    missing: int
    notes: list[str]
    probes: dict[str, dict[str, Any]]


class _Queries(Struct):
    name: str
    digest: str
    documents: int | None
    sets: int
    limit: int | None


class ModelHead(Struct):
    """What results.json of a language model begins with, whatever was measured."""

    schema: Literal[1]
    model: System
    queries: _Queries
    missing: int
    notes: list[str]
    probes: dict[str, dict[str, Any]]


HEADS: dict[Kind, type[Struct]] = {"retriever": RetrieverHead, "model": ModelHead}


class MeasuredRun(Struct):
    """A run directory of a retriever or a language model: what it was called, and what it found."""

    path: Path
    # The system's name, with the options that tell it from the other runs that were read with it.
    label: str
    results: dict[str, Any]

    @property
    def kind(self) -> Kind:
        """What it is a run of."""
        return kind_of(self.path, self.results)

    @property
    def system(self) -> dict[str, Any]:
        """What results.json says of the system: its name, version and options."""
        found: dict[str, Any] = self.results[self.kind]
        return found


def read_measured(paths: Sequence[Path], wanted: Kind, what: str, names: Sequence[str] = ()) -> list[MeasuredRun]:
    """Reads what runs of retrievers or of language models found."""
    check_names(paths, names)
    runs = [MeasuredRun(path, "", read_results(path)) for path in paths]
    for run in runs:
        expect(run.path, run.results, wanted, what)
        # For its complaints alone: they name the field.
        read_json(run.path / RESULTS, HEADS[wanted])
        run.results = told(run.results, run.path / RESULTS, COMMANDS[wanted])
    called = labels([run.system for run in runs], [_over(run) for run in runs])
    for run, label in zip(runs, names or called, strict=True):
        run.label = label
    return runs


def _over(run: MeasuredRun) -> str:
    """The name of what a run was asked."""
    return str(run.results["collection" if run.kind == "retriever" else "queries"]["name"])
