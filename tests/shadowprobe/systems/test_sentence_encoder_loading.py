"""A sentence encoder as `dense` loads it."""

from __future__ import annotations

import numpy as np
import pytest
from weights import require_sentence_encoder

from shadowprobe import LinkerError
from shadowprobe.systems.sentence_encoder import load_sentence_encoder


@pytest.mark.parametrize(("precision", "kind"), [("single", np.float32), ("double", np.float64)])
def test_vectors_have_length_one_and_the_precision_that_is_asked_for(precision: str, kind: type) -> None:
    encode = load_sentence_encoder("dense", require_sentence_encoder(), "cpu", precision)
    vectors = encode(["A river in England.", "A lake in Italy."])
    assert vectors.dtype == kind
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1])
    # Two texts about a river have more in common than one about a river and one about a lake.
    (river,) = encode(["A river that flows through England."])
    assert river @ vectors[0] > vectors[1] @ vectors[0]


def test_a_folder_without_a_model_is_refused() -> None:
    require_sentence_encoder()
    with pytest.raises(LinkerError, match="`dense`"):
        load_sentence_encoder("dense", "no/such/folder", "cpu", "single")
