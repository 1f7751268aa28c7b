"""Figure 4 of the paper: how often the name alone decides."""

from __future__ import annotations

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.measure.pairs import both_right, has_prior, overshadowed, prior_biased
from shadowprobe.measure.statistics import count_pairs, decide, describe_difference, describe_rate, mcnemar

# With fewer spaces, an interval around 0 is no sign of a linker that answers by chance.
ENOUGH_SPACES = 30


class OvershadowingProbe(Probe):
    """Does the name alone decide? Same answer for a name's Top and Shadow context, and is it the prior (Fig. 4)?

    `overshadowed`: share of the spaces whose Top and Shadow snippets get the same entity. `prior_bias`: the same, and
    it is the prior too. `answered_with_top`: share of the Shadow snippets answered with the Top entity.
    `consistent`: share of the spaces with both right. NIL and skipped are never the same entity. `reads_minus_repeats`
    is consistent - prior_bias, with a paired bootstrap interval. A linker that chooses at random among k candidates
    does either with probability 1/k², so that its difference is 0. `verdict` is `reads` where the interval lies above
    0, `repeats` where it lies below, else `undecided`. It is `silent` where fewer than half of the spaces get two
    entities, and `unknown` where fewer than half have a prior. `context_effect`: how much more often the Top entity is
    named in Top than in Shadow contexts, with a paired bootstrap interval. `at_chance`: the verdict is `undecided` for
    at least 30 spaces, and that interval does not lie above 0: the linker does not read, and has no usable prior.
    A space with several Top or Shadow snippets is paired by the first of each; `snippets_left_out` counts the others.
    """

    name = "overshadowing"

    def measure(self, answers: Answers) -> Findings:
        """The rates over all spaces that have a Top and a Shadow snippet."""
        pairs = answers.pairs
        n = len(pairs)
        if n == 0:
            return not_measured("the dataset has no space with both a Top and a Shadow snippet")
        with_prior = has_prior(answers)
        biased, consistent = prior_biased(answers), both_right(answers)
        # Without neutral contexts, or without answers to them, there is no prior to repeat.
        is_prior_known = bool(with_prior.any())
        findings: Findings = {
            "spaces": n,
            **describe_rate("overshadowed", int(np.count_nonzero(overshadowed(answers))), n),
            **describe_rate("prior_bias", int(np.count_nonzero(biased)), n if is_prior_known else 0),
            **describe_rate("consistent", int(np.count_nonzero(consistent)), n),
        }
        findings |= self._answered_with_top(answers)
        right = answers.correct[pairs.top], answers.correct[pairs.shadow]
        draw = answers.rounds, answers.seed
        findings |= describe_difference("top_minus_shadow", *right, pairs.space, *draw)
        counts = count_pairs(*right)
        findings["mcnemar_p"] = mcnemar(counts.first_only, counts.second_only)
        if is_prior_known:
            # The two exclude each other: a space with both right has two different answers.
            findings |= describe_difference("reads_minus_repeats", consistent, biased, pairs.space, *draw)
            findings["verdict"] = decide(findings["reads_minus_repeats_ci95"], above="reads", below="repeats")
        top_entity = answers.top_of[pairs.space]
        named_top = answers.entity[pairs.top] == top_entity, answers.entity[pairs.shadow] == top_entity
        findings |= describe_difference("context_effect", *named_top, pairs.space, *draw)
        if answers.rows("neutral").any():
            both_linked = answers.linked[pairs.top] & answers.linked[pairs.shadow]
            if 2 * int(np.count_nonzero(with_prior)) < n:
                findings["verdict"] = "unknown"
            elif 2 * int(np.count_nonzero(both_linked)) < n:
                findings["verdict"] = "silent"
        is_moved = findings["context_effect_ci95"][0] > 0
        findings["at_chance"] = findings.get("verdict") == "undecided" and n >= ENOUGH_SPACES and not is_moved
        findings["snippets_left_out"] = int(np.count_nonzero(answers.rows("top", "shadow"))) - 2 * n
        return findings

    def _answered_with_top(self, answers: Answers) -> Findings:
        rows = answers.rows("shadow")
        hits = int(np.count_nonzero(answers.entity[rows] == answers.top_of[answers.space[rows]]))
        return describe_rate("answered_with_top", hits, int(np.count_nonzero(rows)))
