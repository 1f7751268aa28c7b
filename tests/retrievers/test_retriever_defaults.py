"""What every retriever does where no option is given: other defaults give other rankings."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import pytest

from shadowprobe import plugins
from shadowprobe.retrieval import Retriever

# k1 and b as in bm25s, whose variant of BM25 is used.
DEFAULTS: dict[str, dict[str, Any]] = {
    "bm25": {"k1": 1.5, "b": 0.75},
    "dense": {"document_model": "", "kind": "sentence", "index": "flat", "device": "cpu", "precision": "single"},
    "tfidf": {"pairs": True},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_retriever_has_these_defaults(name: str) -> None:
    point = next(iter(entry_points(group=plugins.RETRIEVERS, name=name)))
    kind: type[Retriever] = point.load()
    options = plugins.list_options(kind)
    assert {option: options[option].default for option in DEFAULTS[name]} == DEFAULTS[name]
