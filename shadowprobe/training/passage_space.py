"""How near passages are to each other before and after training, as numbers and as a map (Fig. 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shadowprobe.queries.query import Document
from shadowprobe.training.trainable import TrainableEncoder, encode_fixed

Vectors = npt.NDArray[np.float64]
# The most passages of a relation on the map.
MOST = 40
# Neighbours that t-SNE looks at, where there are as many.
PERPLEXITY = 30


def choose_passages(passages: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Pairs of a relation and the id of a passage that answers one of its questions; each passage has one relation."""
    chosen: dict[str, str] = {}
    for relation, ids in passages.items():
        new = [one for one in dict.fromkeys(ids) if one not in chosen]
        chosen |= dict.fromkeys(new[:MOST], relation)
    return [(relation, passage) for passage, relation in chosen.items()]


def describe_space(
    encoder: TrainableEncoder, chosen: Sequence[tuple[str, str]], documents: Mapping[str, Document], seed: int
) -> dict[str, Any]:
    """The mean similarities of passages, and the place of each on the map."""
    vectors = encode_fixed(encoder, [documents[passage] for _, passage in chosen], of_questions=False)
    unit = normalise(vectors.double().cpu().numpy())
    relations = [relation for relation, _ in chosen]
    return {**measure_similarity(unit, relations), "places": place_passages(unit, seed)}


def normalise(vectors: Vectors) -> Vectors:
    """The vectors with the length one, so that inner products are cosines."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def measure_similarity(unit: Vectors, relations: Sequence[str]) -> dict[str, Any]:
    """The mean cosine between two passages of one relation, by relation and over all, and of two relations."""
    cosines = unit @ unit.T
    codes = np.unique(relations, return_inverse=True)[1]
    pairs = np.triu(np.ones_like(cosines, dtype=np.bool_), 1)
    same = (codes[:, None] == codes[None, :]) & pairs
    by_relation = {
        relation: _mean(cosines[same & np.equal(relations, relation)[:, None]]) for relation in dict.fromkeys(relations)
    }
    return {
        "same_relation": _mean(cosines[same]),
        "other_relation": _mean(cosines[pairs & ~same]),
        "by_relation": by_relation,
    }


def _mean(values: Vectors) -> float | None:
    return float(values.mean()) if len(values) else None


def place_passages(unit: Vectors, seed: int) -> list[list[float]] | None:
    """The places of passages on a map by t-SNE; None where there are too few to draw one."""
    if len(unit) < 4:
        return None
    from sklearn.manifold import TSNE

    perplexity = min(PERPLEXITY, (len(unit) - 1) / 3)
    places = TSNE(random_state=seed, init="pca", perplexity=perplexity).fit_transform(unit)
    # One decimal is enough to draw, and last digits may differ between machines.
    return [[round(float(one), 1) for one in place] for place in places]
