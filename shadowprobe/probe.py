"""The base class that a probe derives from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from shadowprobe.answers import Answers

Findings = dict[str, Any]


class Probe:
    """A question asked of the answers of one run: it reads them and asks no linker."""

    name: ClassVar[str] = ""
    # True puts the findings at the top of results.json under the probe's name, and not under `probes`.
    top_level: ClassVar[bool] = False

    def measure(self, answers: Answers) -> Findings:
        """The findings, as they stand in results.json; rates are fractions of 1."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")


def not_measured(reason: str) -> Findings:
    """The findings of a probe that the dataset or the linker gives nothing to measure."""
    return {"not_measured": reason}
