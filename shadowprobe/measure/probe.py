"""The base classes that a probe derives from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from shadowprobe.base.model import Snippet
    from shadowprobe.dataset.dataset import Dataset
    from shadowprobe.measure.answers import Answers
    from shadowprobe.measure.variants import Varied

Findings = dict[str, Any]


class Probe:
    """A question asked of the answers of one run: it reads them and asks no linker."""

    name: ClassVar[str] = ""
    # True puts the findings at the top of results.json under the probe's name, and not under `probes`.
    top_level: ClassVar[bool] = False

    def measure(self, answers: Answers) -> Findings:
        """The findings, as they stand in results.json; rates are fractions of 1."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")

    def rows(self, answers: Answers) -> Iterator[dict[str, Any]]:
        """What the mention browser of a report shows of snippets: an `id`, and a value for each column of the probe."""
        yield from ()


class VariantProbe(Probe):
    """A question that the dataset's own texts do not answer: it makes variants of them, and the run has them linked.

    That costs new predictions, so that a run asks it only where its user says so, by `--also NAME`.
    """

    def variants(self, dataset: Dataset) -> Iterator[tuple[str, Snippet]]:
        """The name of a variant with a snippet as it varies it, under that snippet's own id; in any order.

        One that comes out as it was is answered already, and is not linked again.
        """
        raise NotImplementedError(f"{type(self).__name__} must define variants()")

    def compare(self, answers: Answers, varied: Mapping[str, Varied]) -> Findings:
        """The findings, from the answers of the run and those to each variant."""
        raise NotImplementedError(f"{type(self).__name__} must define compare()")

    def measure(self, answers: Answers) -> Findings:
        """Nothing, as long as the variants have not been linked."""
        return not_measured(f"it needs new predictions: `shadowprobe run --also {self.name}` makes them")


def not_measured(reason: str) -> Findings:
    """The findings of a probe that the dataset or the linker gives nothing to measure."""
    return {"not_measured": reason}
