"""The best documents of many, where no order of the documents can slip in as a prior."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shadowprobe.retrieval.model import Hit, Query
from shadowprobe.retrieval.retriever import lot


def best(
    query: Query, numbers: npt.NDArray[np.int_], scores: npt.NDArray[np.floating], ids: list[str], k: int
) -> list[Hit]:
    """The documents of the k highest scores; equal scores stand in an order drawn for the query."""
    # Rounded before anything is compared, so that the last bits of a sum decide nothing.
    rounded = np.round(np.asarray(scores, dtype=np.float64), 6)
    if len(rounded) > k:
        # Whatever equals the last that fits takes part in the draw.
        last = np.partition(rounded, len(rounded) - k)[len(rounded) - k]
        inside = rounded >= last
        numbers, rounded = np.asarray(numbers)[inside], rounded[inside]
    hits = [Hit(ids[int(number)], float(score)) for number, score in zip(numbers, rounded, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, lot(query, hit.document)))[:k]
