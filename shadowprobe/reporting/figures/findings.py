"""What probes found in runs, as results.json has it, for the figures that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.errors import UsageError
from shadowprobe.running.kinds import COMMANDS

if TYPE_CHECKING:
    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

# What stands in the place of a system that has nothing to show. It keeps its place, and so its colour.
NOT_KNOWN = "not known"
# These probes ask the linker again: no stored answer gives what they find.
WITH_NEW_ANSWERS = ("context_length", "masked_mention")


class Rate(NamedTuple):
    """A rate with its 95% interval; both are None where they are not known."""

    value: float | None = None
    interval: Sequence[float] | None = None


def read_rate(found: Mapping[str, Any], key: str) -> Rate:
    """The rate of some findings under a key, with its interval where it has one; not known without findings."""
    return Rate(found[key], found.get(f"{key}_ci95")) if found else Rate()


def read_findings(runs: Sequence[FinishedRun], probe: str) -> list[Findings]:
    """The findings of every run, empty where it has none; refuses runs none of which has any."""
    reasons = [_why_none(run, probe) for run in runs]
    if None not in reasons:
        raise refusal(runs[0], reasons[0])
    measured = [run for run, reason in zip(runs, reasons, strict=True) if reason is None]
    for run in measured[1:]:
        # Side by side, systems with different queries would be compared.
        if _queries(run, probe) != _queries(measured[0], probe):
            raise UsageError(f"{run.path} is over other queries than {measured[0].path}: draw a figure of each")
    return [run.results["probes"][probe] if run in measured else {} for run in runs]


def read_all_findings(runs: Sequence[FinishedRun], probe: str) -> list[Findings]:
    """The findings of every run; refuses a run that has none."""
    for run in runs:
        if (reason := _why_none(run, probe)) is not None:
            raise refusal(run, reason)
    return [run.results["probes"][probe] for run in runs]


def refusal(run: FinishedRun, reason: str | None) -> UsageError:
    """The error that says why there is no such figure of a run."""
    return UsageError(f"no such figure of `{run.label}` ({run.path}): {reason}")


def _why_none(run: FinishedRun, probe: str) -> str | None:
    """Why a run has no findings of a probe, and what adds them; None where it has some."""
    if found := run.results["probes"].get(probe):
        reason: str | None = found.get("not_measured")
        return reason
    if run.kind != "linker":
        return f"it was not asked `{probe}`; `shadowprobe {COMMANDS[run.kind]} --probe {probe}` asks it"
    if probe in WITH_NEW_ANSWERS:
        return f"it was not asked `{probe}`; the same `shadowprobe run` with `--also {probe}` asks it"
    # Other answers are right without the table of redirects, and a run does not keep it.
    redirects = " --redirects FILE" if run.results["settings"]["redirects"] is not None else ""
    nil = " --gerbil-nil" if run.counts_nil else ""
    command = f"shadowprobe score --predictions {run.path} --out {run.path}{redirects}{nil}"
    return f"its results.json has no `{probe}`; `{command}` adds it"


def _queries(run: FinishedRun, probe: str) -> object:
    """What tells the queries of a run from others; runs of linkers may be over several datasets."""
    if run.kind == "linker":
        return None
    queries = run.results["queries"]
    return queries.get(probe) if run.kind == "retriever" else queries
