"""Accuracy and overshadowing by the kinds of the entities: person, place, work and so on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from shadowprobe.measure.answer_columns import Ints
from shadowprobe.measure.answers import Answers
from shadowprobe.measure.pairs import both_right, overshadowed, prior_biased
from shadowprobe.measure.probe import Findings, Probe, not_measured
from shadowprobe.measure.statistics import describe_rate

UNKNOWN = -1


class KindsProbe(Probe):
    """Which kinds of entities are overshadowed, and by which? For datasets that know the kinds of their entities.

    `accuracy`: for each subset the share of right answers by the kind of the gold entity. `pairs`: the names by the
    kind of their Shadow entity and the kind of the Top entity that overshadows it; in each, how often both contexts get
    the same entity (`overshadowed`), the prior (`prior_bias`), and each its own (`consistent`). NIL, skipped and failed
    mentions are not right. Entities without a kind are left out, and counted in `without_kind`.
    """

    name = "kinds"

    def measure(self, answers: Answers) -> Findings:
        """The accuracy by kind, and overshadowing by pairs of kinds."""
        of_entity = [entity.kind for entity in answers.dataset.entities.values()]
        kinds = sorted({kind for kind in of_entity if kind})
        if not kinds:
            return not_measured(f"the dataset `{answers.dataset.name}` does not say of what kind its entities are")
        code = {kind: number for number, kind in enumerate(kinds)}
        codes = np.array([code.get(kind or "", UNKNOWN) for kind in of_entity], dtype=np.int32)
        # Of the gold of each row.
        gold = np.where(answers.gold >= 0, codes[answers.gold], UNKNOWN).astype(np.int32)
        rows = answers.scored("top", "shadow", "tail", "all")
        return {
            "accuracy": {
                subset: list(self._accuracies(gold[inside], answers.correct[inside], kinds))
                for subset, inside in answers.gold_subsets()
            },
            "pairs": list(self._pairs(answers, gold, kinds)),
            "without_kind": int(np.count_nonzero(rows & (gold == UNKNOWN))),
        }

    def _accuracies(self, gold: Ints, correct: npt.NDArray[np.bool_], kinds: list[str]) -> Iterator[dict[str, Any]]:
        for number, kind in enumerate(kinds):
            inside = gold == number
            if n := int(np.count_nonzero(inside)):
                yield {"kind": kind, "n": n, **describe_rate("accuracy", int(np.count_nonzero(correct & inside)), n)}

    def _pairs(self, answers: Answers, gold: Ints, kinds: list[str]) -> Iterator[dict[str, Any]]:
        pairs = answers.pairs
        rates = {
            "overshadowed": overshadowed(answers),
            "prior_bias": prior_biased(answers),
            "consistent": both_right(answers),
        }
        for shadow, shadow_kind in enumerate(kinds):
            for top, top_kind in enumerate(kinds):
                inside = (gold[pairs.shadow] == shadow) & (gold[pairs.top] == top)
                if n := int(np.count_nonzero(inside)):
                    row: dict[str, Any] = {"shadow": shadow_kind, "top": top_kind, "n": n}
                    for name, values in rates.items():
                        row |= describe_rate(name, int(np.count_nonzero(values & inside)), n)
                    yield row
