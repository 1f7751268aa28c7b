"""BM25 and TF-IDF between a context and the texts of the candidates, on entities with texts of a few words."""

from __future__ import annotations

import math
from typing import Any

import pytest

from shadowprobe import Entity, EntitySpace, Knowledge, Snippet
from shadowprobe.plugins import make_linker

# Three texts of three words each, and so of the mean length.
ENTITIES = {
    "Avon": Entity("Avon", description="deep water"),
    "Berg": Entity("Berg", description="tall masts"),
    "Como": Entity("Como", description="water water"),
}


def open_linker(name: str) -> Any:
    linker = make_linker(name, {})
    linker.open(Knowledge(ENTITIES, [EntitySpace("Name", tuple(ENTITIES))]))
    return linker


def scores_of(linker: Any, text: str) -> dict[str, float]:
    start = text.index("Name")
    (prediction,) = linker.link([Snippet("s", "all", text, start, start + 4)])
    return {candidate.answer: candidate.score for candidate in prediction.candidates}


def test_bm25_weighs_rare_words_and_leaves_out_unknown_ones() -> None:
    # Lucene's formula with k1 = 1.5: a word that is in n of 3 texts counts ln(1 + (3 - n + 0.5) / (n + 0.5)), times
    # f / (f + 1.5) if it is f times in a text of the mean length.
    water, masts = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    linker = open_linker("bm25")
    found = scores_of(linker, "Name has masts, water and zzzz.")
    assert found == pytest.approx({"Avon": water / 2.5, "Berg": masts / 2.5, "Como": water * 2 / 3.5}, abs=1e-6)
    assert set(scores_of(linker, "Name is zzzz.").values()) == {0.0}


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
def test_a_context_linker_prints_nothing(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    scores_of(open_linker(name), "Name has masts.")
    assert capfd.readouterr() == ("", "")
