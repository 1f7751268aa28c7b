"""What a screen and a page say of a run beside its tables."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from msgspec import Struct

from shadowprobe.reporting.tables.table import Results, Runs, Table
from shadowprobe.running.directory import KINDS, Kind
from shadowprobe.running.kinds import DATA_KEYS


class RunSummary(Struct, frozen=True):
    """The sentences on one run."""

    # The system alone and with its options, and the data that it was run on.
    name: str
    system: str
    data: str
    # How much data that is.
    size: str
    # What follows the name of the system; None where the probe could not tell.
    verdict: str | None
    # What changes the meaning of a figure.
    warnings: list[str]
    # The probes that could not measure anything, each with its reason.
    not_measured: list[str]
    # What the run itself noted.
    notes: list[str]
    # Answers of a language model that are not complete, below their questions.
    examples: list[tuple[str, str]] = []

    @property
    def sentence(self) -> str | None:
        """The verdict on the system by its name."""
        return f"{self.name} {self.verdict}" if self.verdict is not None else None


def _import_summary(kind: Kind) -> Any:
    """The module that knows what to say of runs of a kind; the others are not imported."""
    return import_module(f"shadowprobe.reporting.{kind}_summary")


def _kind_of(results: Results) -> Kind:
    return next(kind for kind in KINDS if kind in results)


def summarize(results: Results) -> RunSummary:
    """The sentences on a run of any kind."""
    kind = _kind_of(results)
    about = _import_summary(kind)
    system, probes = results[kind], results["probes"]
    options = " ".join(f"{key}={value}" for key, value in system["options"].items()) if kind != "model" else ""
    return RunSummary(
        name=str(system["name"]),
        system=f"{system['name']} ({options})" if options else str(system["name"]),
        data=results[DATA_KEYS[kind]]["name"],
        size=about.describe_size(results),
        verdict=about.describe_verdict(results),
        warnings=list(about.list_warnings(results)),
        not_measured=[
            f"{name} not measured: {findings['not_measured']}"
            for name, findings in probes.items()
            if "not_measured" in findings
        ],
        notes=results["notes"],
        examples=list(about.list_examples(results)) if kind == "model" else [],
    )


def tables_of(runs: Runs, *, published: bool = False) -> list[Table]:
    """The tables of runs of one kind; `published` adds the rows of the papers, marked, if there are some.

    A probe that has no table of its own, as a user's probe has none, gets one of all its findings.
    """
    kind = _kind_of(next(iter(runs.values())))
    about = _import_summary(kind)
    tables = list(about.make_tables(runs))
    if published and kind in {"retriever", "reader"}:
        from shadowprobe.reporting.tables.published_rows import add_published

        tables = add_published(tables)
    if any(name not in about.SHOWN for results in runs.values() for name in results["probes"]):
        from shadowprobe.reporting.tables.other_findings import other_tables

        tables += other_tables(runs, about.SHOWN)
    return tables
