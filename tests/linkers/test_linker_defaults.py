"""What every linker does where no option is given: other defaults give other answers."""

from __future__ import annotations

import inspect
from importlib.metadata import entry_points
from typing import Any

import pytest

from shadowprobe import plugins

WEB = {"url": "", "concurrency": 8, "rate": 0.0, "timeout": 30.0, "retries": 4}
WORKER = {"python": "", "start_timeout": 1800.0, "timeout": 600.0}
NEEDED = inspect.Parameter.empty
DEFAULTS: dict[str, dict[str, Any]] = {
    "agdistis": WEB,
    "aida": {**WEB, "tech": "GRAPH"},
    "ambiverse": {**WEB, "language": "en", "coherent": True},
    "blend": {"weight": 0.5},
    "blink": {**WORKER, "models": "models", "fast": False, "top_k": 10},
    "bm25": {},
    "bootleg": {**WORKER, "cache": "", "device": None, "threshold": 0.0, "embeddings": ""},
    "debiased": {"of": NEEDED, "weight": None, "priors": None, "scale": None},
    "decisions": {"model": NEEDED, "protocol": "systemone", "orders": 2},
    "dense": {"model": "sentence-transformers/all-MiniLM-L6-v2", "device": "cpu", "precision": "double"},
    "fox": {**WEB, "lang": "en"},
    # GENRE's own evaluation has 10 beams, and writes at most 15 tokens.
    "genre": {"titles": None, "beams": 10, "max_words": 384, "max_tokens": 15, "score": "exp-mean"},
    "llm": {
        **WEB,
        "timeout": 120.0,
        "model": NEEDED,
        "mode": "closed",
        "choices": 20,
        "descriptions": True,
        "language": "English",
        "json": "object",
        "logprobs": True,
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": "auto",
    },
    "lm": {"model": "smollm2", "score": "forward", "per_token": False, "context": 240, "beams": 10},
    "nif": WEB,
    "nil": {},
    "oracle": {},
    "prior": {},
    "random": {"seed": 7},
    "refined": {**WORKER, "model": "wikipedia_model", "entity_set": "wikipedia", "data": "", "device": ""},
    "rel": {**WEB, "tagger": None},
    "replay": {"file": NEEDED},
    "spacy": {"model": "", "component": None, "label": "ENTITY", "id_attribute": None, "score_attribute": None},
    "spotlight": WEB,
    "tagme": {**WEB, "lang": "en", "epsilon": None, "long_text": None},
    "tfidf": {},
    "wat": WEB,
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_linker_has_these_defaults(name: str) -> None:
    point = next(iter(entry_points(group=plugins.LINKERS, name=name)))
    options = plugins.list_options(point.load())
    assert {option: options[option].default for option in DEFAULTS[name]} == DEFAULTS[name]


def test_no_linker_is_left_out() -> None:
    ours = [listing.name for listing in plugins.listings(plugins.LINKERS) if listing.package == "shadowprobe"]
    assert sorted(ours) == sorted(DEFAULTS)
