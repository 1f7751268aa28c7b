"""What a probe needs answered beyond the dataset: variants of its snippets, linked in a directory inside the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from shadowprobe.answers import MISSING, Answers, Booleans
from shadowprobe.dataset import Card, Dataset, write_dataset
from shadowprobe.errors import PluginError
from shadowprobe.jsonl import read_lines
from shadowprobe.model import Prediction, Snippet, Subset
from shadowprobe.probe import Findings, VariantProbe
from shadowprobe.run_directory import EXTRA, PREDICTIONS
from shadowprobe.statistics import paired_difference, wilson

# Stands between the id of a snippet and the name of its variant.
MARK = "~"


class Varied(NamedTuple):
    """The answers to one variant, row by row as those of the run, and the rows that have one."""

    answers: Answers
    rows: Booleans


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
        return list(self._made)

    @cached_property
    def cost(self) -> dict[str, int]:
        """How many snippets each variant needs linked."""
        return self._counted(snippet.id for snippet in self._asked)

    def left(self) -> dict[str, int]:
        """How many of them an earlier run has not answered."""
        if not self.are_linked():
            return self.cost
        answered = {p.id for _, p in read_lines(self.out / PREDICTIONS, Prediction, torn=True)}
        return self._counted(snippet.id for snippet in self._asked if snippet.id not in answered)

    def _counted(self, ids: Iterable[str]) -> dict[str, int]:
        asked = Counter(snippet_id.rpartition(MARK)[2] for snippet_id in ids)
        return {name: asked[name] for name in self.names}

    @cached_property
    def _originals(self) -> dict[str, Snippet]:
        return {snippet.id: snippet for snippet in self.dataset.snippets()}

    @cached_property
    def _made(self) -> dict[str, dict[str, Snippet]]:
        """The varied snippets by variant and id."""
        made: dict[str, dict[str, Snippet]] = {}
        try:
            for name, snippet in self.probe.variants(self.dataset):
                made.setdefault(name, {})[snippet.id] = snippet
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise PluginError(f"probe `{self.probe.name}` failed to make its variants: {what}") from error
        return made

    @cached_property
    def _asked(self) -> list[Snippet]:
        """The variants that differ from their snippet, under ids of their own, in the order of the dataset."""
        return [
            replace(variant, id=f"{variant.id}{MARK}{name}")
            for original in self._originals.values()
            for name, made in self._made.items()
            if (variant := made.get(original.id)) is not None and not _same_question(variant, original)
        ]

    def write(self) -> Dataset | None:
        """The variants as a dataset in the run's directory; None where nothing needs linking."""
        if not self._asked:
            return None
        by_subset: dict[Subset, list[Snippet]] = {}
        for snippet in self._asked:
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
        """The answers to each variant; what came out as it was has that of the run, from its predictions."""
        given = {p.id: p for _, p in read_lines(predictions, Prediction)}
        linked = {p.id: p for _, p in read_lines(self.out / PREDICTIONS, Prediction)} if self.are_linked() else {}
        return {name: self._varied(answers, name, given, linked) for name in self.names}

    def _varied(
        self, answers: Answers, name: str, given: dict[str, Prediction], linked: dict[str, Prediction]
    ) -> Varied:
        def found() -> Iterator[Prediction]:
            for snippet_id, variant in self._made[name].items():
                same = _same_question(variant, self._originals[snippet_id])
                prediction = given.get(snippet_id) if same else linked.get(f"{snippet_id}{MARK}{name}")
                if prediction is not None:
                    yield replace(prediction, id=snippet_id)

        varied = answers.emptied().fill(found())
        rows = np.zeros(len(answers), dtype=bool)
        rows[[answers.row[snippet_id] for snippet_id in self._made[name]]] = True
        return Varied(varied, rows)


def _same_question(one: Snippet, other: Snippet) -> bool:
    return (one.text, one.start, one.end) == (other.text, other.start, other.end)


def against_the_run(answers: Answers, varied: Varied, subset: Subset) -> Findings | None:
    """How a variant fares on a subset against the run itself on the same snippets; None where it has none of them.

    A snippet without an answer, NIL, skipped and failed ones are not right.
    """
    rows = varied.rows & answers.scored(subset)
    n = int(np.count_nonzero(rows))
    if not n:
        return None
    new, old = varied.answers.correct[rows], answers.correct[rows]
    cells = [int(np.count_nonzero(cell)) for cell in (new & old, new & ~old, ~new & old, ~new & ~old)]
    right = cells[0] + cells[1]
    found: dict[str, Any] = {
        "n": n,
        "accuracy": right / n,
        "accuracy_ci95": list(wilson(right, n)),
        "nil": float(np.mean(~varied.answers.linked[rows])),
        "failed": int(np.count_nonzero(varied.answers.entity[rows] == MISSING)),
        "change": (cells[1] - cells[2]) / n,
        "change_ci95": list(paired_difference(*cells, rounds=answers.rounds, seed=answers.seed)),
    }
    return found
