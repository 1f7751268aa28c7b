"""What a probe found of a run, for a figure that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.probe import Findings

if TYPE_CHECKING:
    from shadowprobe.runs import FinishedRun


# What stands in the place of a system of which there is nothing to show. It keeps its place, and so its colour.
NOT_KNOWN = "not known"


def findings(run: FinishedRun, probe: str) -> Findings:
    """The findings from results.json; where it lacks them the probe is asked now."""
    found = _told(run, probe)
    if "not_measured" in found:
        raise _refusal(run, found["not_measured"])
    return found


def findings_of(runs: Sequence[FinishedRun], probe: str) -> list[Findings | None]:
    """The findings of every run, None where it has none; refuses runs none of which has any."""
    told = [_told(run, probe) for run in runs]
    reasons = [one.get("not_measured") for one in told]
    if all(reason is not None for reason in reasons):
        raise _refusal(runs[0], reasons[0])
    return [one if reason is None else None for one, reason in zip(told, reasons, strict=True)]


def _told(run: FinishedRun, probe: str) -> Findings:
    found: Findings | None = run.results["probes"].get(probe)
    return _asked_now(run, probe) if found is None else found


def _refusal(run: FinishedRun, reason: str | None) -> UsageError:
    return UsageError(f"no such figure of `{run.label}` ({run.path}): {reason}")


def _asked_now(run: FinishedRun, probe: str) -> Findings:
    from shadowprobe.plugins import make_probe

    if run.results["settings"]["redirects"] is not None:
        # The table of redirects is not kept, and other answers count as right without it.
        raise UsageError(
            f"{run.path} was scored with --redirects, and its results.json has no `{probe}`: score it again with them"
        )
    return make_probe(probe).measure(run.answers)
