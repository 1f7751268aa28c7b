"""Variants of snippets that a probe needs linked, in a run directory inside the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from shadowprobe.base.jsonl import read_lines
from shadowprobe.base.model import Prediction, Snippet, Subset
from shadowprobe.dataset.dataset import Card, Dataset, write_dataset
from shadowprobe.errors import PluginError
from shadowprobe.measure.answers import Answers
from shadowprobe.measure.probe import VariantProbe
from shadowprobe.measure.variants import Varied
from shadowprobe.running.directory import EXTRA, PREDICTIONS
from shadowprobe.systems.calling import name_errors

# Between the id of a snippet and the name of its variant.
MARK = "~"


class Variants:
    """The variants that a probe makes of a dataset, as a dataset of their own."""

    def __init__(self, probe: VariantProbe, dataset: Dataset, run: Path) -> None:
        self.probe, self.dataset = probe, dataset
        # A limited run is another set of variants, and leaves those of the whole as they are.
        limited = f"-first-{dataset.limit}" if dataset.limit is not None else ""
        self.out = run / EXTRA / f"{probe.name}{limited}"

    @cached_property
    def names(self) -> list[str]:
        """The variants, in the order in which the probe made them."""
        return list(self._by_name)

    @cached_property
    def cost(self) -> dict[str, int]:
        """How many snippets each variant needs linked."""
        return self._count(snippet.id for snippet in self._to_link)

    def left(self) -> dict[str, int]:
        """How many of them have no answer yet."""
        if not self.are_linked():
            return self.cost
        answered = {p.id for _, p in read_lines(self.out / PREDICTIONS, Prediction, torn=True)}
        return self._count(snippet.id for snippet in self._to_link if snippet.id not in answered)

    def _count(self, ids: Iterable[str]) -> dict[str, int]:
        counts = Counter(snippet_id.rpartition(MARK)[2] for snippet_id in ids)
        return {name: counts[name] for name in self.names}

    @cached_property
    def _originals(self) -> dict[str, Snippet]:
        return {snippet.id: snippet for snippet in self.dataset.snippets()}

    @cached_property
    def _by_name(self) -> dict[str, dict[str, Snippet]]:
        """The snippets of each variant, by name and id."""
        variants: dict[str, dict[str, Snippet]] = {}
        with name_errors(f"probe `{self.probe.name}` failed to make its variants", PluginError):
            for name, snippet in self.probe.variants(self.dataset):
                variants.setdefault(name, {})[snippet.id] = snippet
        return variants

    @cached_property
    def _to_link(self) -> list[Snippet]:
        """The variants that differ from their snippet, under ids of their own, in the order of the dataset."""
        return [
            replace(variant, id=f"{variant.id}{MARK}{name}")
            for original in self._originals.values()
            for name, variants in self._by_name.items()
            if (variant := variants.get(original.id)) is not None and not _is_same_question(variant, original)
        ]

    def write(self) -> Dataset | None:
        """The variants as a dataset in the run's directory; None where nothing needs linking."""
        if not self._to_link:
            return None
        by_subset: dict[Subset, list[Snippet]] = {}
        for snippet in self._to_link:
            by_subset.setdefault(snippet.subset, []).append(snippet)
        card = Card(
            name=f"{self.dataset.name}{MARK}{self.probe.name}",
            language=self.dataset.card.language,
            title=f"Variants of `{self.dataset.name}` for the probe `{self.probe.name}`",
            license=self.dataset.card.license,
        )
        own, spaces = self.dataset.entities.values(), self.dataset.spaces.values()
        return write_dataset(self.out / "dataset", card, own, spaces, by_subset, force=True)

    def are_linked(self) -> bool:
        """True where an earlier run has answers to them."""
        return (self.out / PREDICTIONS).exists()

    def read(self, answers: Answers, predictions: Path) -> dict[str, Varied]:
        """The answers to each variant; a variant that equals its snippet has the answer of the run."""
        given = {p.id: p for _, p in read_lines(predictions, Prediction)}
        linked = {p.id: p for _, p in read_lines(self.out / PREDICTIONS, Prediction)} if self.are_linked() else {}
        return {name: self._fill(answers, name, given, linked) for name in self.names}

    def _fill(self, answers: Answers, name: str, given: dict[str, Prediction], linked: dict[str, Prediction]) -> Varied:
        def predictions() -> Iterator[Prediction]:
            for snippet_id, variant in self._by_name[name].items():
                same = _is_same_question(variant, self._originals[snippet_id])
                prediction = given.get(snippet_id) if same else linked.get(f"{snippet_id}{MARK}{name}")
                if prediction is not None:
                    yield replace(prediction, id=snippet_id)

        varied = answers.make_empty().fill(predictions())
        rows = np.zeros(len(answers), dtype=bool)
        rows[[answers.row[snippet_id] for snippet_id in self._by_name[name]]] = True
        return Varied(varied, rows)


def _is_same_question(one: Snippet, other: Snippet) -> bool:
    return (one.text, one.start, one.end) == (other.text, other.start, other.end)
