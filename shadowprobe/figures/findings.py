"""What a probe found of a run, for a figure that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.probe import Findings

if TYPE_CHECKING:
    from shadowprobe.runs import FinishedRun


def findings(run: FinishedRun, probe: str) -> Findings:
    """The findings from results.json; where it lacks them the probe is asked now."""
    found: Findings | None = run.results["probes"].get(probe)
    if found is None:
        found = _asked_now(run, probe)
    if "not_measured" in found:
        raise UsageError(f"no such figure of `{run.label}` ({run.path}): {found['not_measured']}")
    return found


def _asked_now(run: FinishedRun, probe: str) -> Findings:
    from shadowprobe.plugins import make_probe

    if run.results["settings"]["redirects"] is not None:
        # The table of redirects is not kept, and other answers count as right without it.
        raise UsageError(
            f"{run.path} was scored with --redirects, and its results.json has no `{probe}`: score it again with them"
        )
    return make_probe(probe).measure(run.answers)
