"""Whether a language model favours a document for its position among those that it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shadowprobe.measure.statistics import count_pairs, describe_share, mcnemar, paired_difference

# Later positions are rare; they count only where they are the last one of their set.
POSITIONS = 10
# A difference with a smaller p is certain.
LEVEL = 0.05
# For the documents of each set, in the order in which they were shown, whether something holds.
Shown = Sequence[Sequence[bool]]


def count_positions(sets: Shown) -> dict[str, Any]:
    """The share of the documents at each position for which it holds; a set has at most one document there."""
    shares = {}
    for position in range(min(POSITIONS, max(map(len, sets)))):
        shares[str(position + 1)] = describe_share([one[position] for one in sets if len(one) > position])
    return shares


def compare_ends(sets: Shown, rounds: int, seed: int) -> dict[str, Any]:
    """The first document of each set against its last one: a paired test, so that sets of all sizes count."""
    first, last = (np.array([one[place] for one in sets], dtype=np.bool_) for place in (0, -1))
    pairs = count_pairs(first, last)
    p = mcnemar(pairs.first_only, pairs.second_only)
    favoured = "first" if pairs.first_only > pairs.second_only else "last"
    return {
        "sets": len(sets),
        "both": pairs.both,
        "first_only": pairs.first_only,
        "last_only": pairs.second_only,
        "neither": pairs.neither,
        "difference": (pairs.first_only - pairs.second_only) / len(sets),
        "ci95": list(paired_difference(*pairs, rounds=rounds, seed=seed)),
        "mcnemar_p": p,
        "verdict": favoured if p < LEVEL else "undecided",
    }
