"""Chooses the best documents so that the order of the documents has no influence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shadowprobe.queries.query import Hit, Query
from shadowprobe.systems.retriever import random_order


def choose_best(
    query: Query, numbers: npt.NDArray[np.int_], scores: npt.NDArray[np.floating], ids: list[str], k: int
) -> list[Hit]:
    """Returns the k documents with the highest scores; equal scores are in a random order for the query."""
    # Rounded before scores are compared, so that the last bits of a sum do not matter.
    rounded = np.round(np.asarray(scores, dtype=np.float64), 6)
    if len(rounded) > k:
        # All documents with the same score as the last one take part in the random order.
        last = np.partition(rounded, len(rounded) - k)[len(rounded) - k]
        inside = rounded >= last
        numbers, rounded = np.asarray(numbers)[inside], rounded[inside]
    hits = [Hit(ids[int(number)], float(score)) for number, score in zip(numbers, rounded, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, random_order(query, hit.document)))[:k]
