"""Figure 4 of the paper: how often the name alone decides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.statistics import bootstrap_counts, mcnemar, paired_difference, wilson

Ints = npt.NDArray[np.int32]
Booleans = npt.NDArray[np.bool_]


def overshadowed(top: Ints, shadow: Ints) -> Booleans:
    """True where both contexts get the same entity: the name decided, not the context."""
    same: Booleans = (top >= 0) & (top == shadow)
    return same


def prior_biased(top: Ints, shadow: Ints, prior: Ints) -> Booleans:
    """True where both contexts get the same entity, and it is the one that contexts without any clue get."""
    biased: Booleans = overshadowed(top, shadow) & (top == prior)
    return biased


def verdict(low: float, high: float) -> str:
    """What an interval of reads minus repeats says."""
    if low > 0:
        return "reads"
    return "repeats" if high < 0 else "undecided"


class OvershadowingProbe(Probe):
    """Does the name alone decide? Same answer for a name's Top and Shadow context, and is it the prior (Fig. 4)?

    `overshadowed`: share of the spaces whose Top and Shadow snippets get the same entity. `prior_bias`: the same, and
    it is the prior too. `answered_with_top`: share of the Shadow snippets answered with the Top entity.
    `consistent`: share of the spaces with both right. NIL and skipped are never the same entity. `reads_minus_repeats`
    is consistent - prior_bias, with a paired bootstrap interval. A linker that answers by lot among k candidates
    does either with probability 1/k², so that its difference is 0; `verdict` is `reads` where the interval lies above
    0, `repeats` below, else `undecided`. It is `silent` where fewer than half of the spaces get two entities, and
    `unknown` where fewer than half have a prior.
    A space with several Top or Shadow snippets is paired by the first of each; `snippets_left_out` counts the others.
    """

    name = "overshadowing"

    def measure(self, answers: Answers) -> Findings:
        """The rates over all spaces that have a Top and a Shadow snippet."""
        pairs = answers.pairs
        n = len(pairs)
        if n == 0:
            return not_measured("the dataset has no space with both a Top and a Shadow snippet")
        top, shadow = answers.entity[pairs.top], answers.entity[pairs.shadow]
        top_right, shadow_right = answers.correct[pairs.top], answers.correct[pairs.shadow]
        prior = answers.prior[pairs.space]
        # Without neutral contexts, or without answers to them, there is no prior that could be repeated.
        with_prior = bool((prior >= 0).any())
        same = overshadowed(top, shadow)
        biased = prior_biased(top, shadow, prior)
        rates = {
            "overshadowed": same,
            "prior_bias": biased if with_prior else None,
            "consistent": top_right & shadow_right,
        }
        findings: Findings = {"spaces": n}
        for name, hits in rates.items():
            total = int(np.count_nonzero(hits)) if hits is not None else None
            findings[name] = total / n if total is not None else None
            findings[f"{name}_ci95"] = list(wilson(total, n)) if total is not None else None
        findings |= self._answered_with_top(answers)
        findings |= self._top_against_shadow(answers, top_right, shadow_right)
        if with_prior:
            findings |= self._reads_against_repeats(answers, top_right & shadow_right, biased)
            findings["verdict"] = verdict(*findings["reads_minus_repeats_ci95"])
        if answers.rows("neutral").any():
            if 2 * int(np.count_nonzero(prior >= 0)) < n:
                findings["verdict"] = "unknown"
            elif 2 * int(np.count_nonzero((top >= 0) & (shadow >= 0))) < n:
                findings["verdict"] = "silent"
        findings["snippets_left_out"] = int(np.count_nonzero(answers.rows("top", "shadow"))) - 2 * n
        return findings

    def _answered_with_top(self, answers: Answers) -> Findings:
        rows = answers.rows("shadow")
        hits = int(np.count_nonzero(answers.entity[rows] == answers.top_of[answers.space[rows]]))
        total = int(np.count_nonzero(rows))
        return {"answered_with_top": hits / total, "answered_with_top_ci95": list(wilson(hits, total))}

    def _top_against_shadow(self, answers: Answers, top: Booleans, shadow: Booleans) -> Findings:
        table = [int(np.count_nonzero(cell)) for cell in (top & shadow, top & ~shadow, ~top & shadow, ~top & ~shadow)]
        interval = paired_difference(*table, rounds=answers.rounds, seed=answers.seed)
        return {
            "top_minus_shadow": (table[1] - table[2]) / len(top),
            "top_minus_shadow_ci95": list(interval),
            "mcnemar_p": mcnemar(table[1], table[2]),
        }

    def _reads_against_repeats(self, answers: Answers, reads: Booleans, repeats: Booleans) -> Findings:
        n = len(reads)
        # The two exclude each other: a space with both right has two different answers.
        table = [int(np.count_nonzero(reads)), int(np.count_nonzero(repeats))]
        drawn = bootstrap_counts([*table, n - sum(table)], answers.rounds, answers.seed)
        interval = np.quantile((drawn[:, 0] - drawn[:, 1]) / n, [0.025, 0.975])
        return {
            "reads_minus_repeats": (table[0] - table[1]) / n,
            "reads_minus_repeats_ci95": [float(bound) for bound in interval],
        }
