"""The card of a run of retrieval: what it is a run of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.errors import InputError
from shadowprobe.jsonl import read_json

SCHEMA = 1


class RetrievalCard(Struct, omit_defaults=True):
    """What `run.json` says of a run of retrieval: enough to know what was measured, and to go on with it."""

    retriever: dict[str, Any]
    collection: dict[str, Any]
    queries: dict[str, str]
    depth: int
    shadowprobe: str
    schema: int = SCHEMA
    started: str = ""
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    # Where `collection` and `queries` were, as the user named them, so that a report finds them again.
    locations: dict[str, str] = field(default_factory=dict)


def read_card(path: Path) -> RetrievalCard:
    """What a `run.json` of retrieval says."""
    card = read_json(path, RetrievalCard)
    if card.schema != SCHEMA:
        raise InputError(path, f"is {card.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    return card


def difference(what: str, old: Any, new: Any) -> str:
    """In what two entries of a card differ, for somebody who has to mend it."""
    if isinstance(old, dict) and isinstance(new, dict):
        key = next(key for key in (*new, *old) if old.get(key) != new.get(key))
        return difference(f"{what} {key}".strip(), old.get(key), new.get(key))
    return f"{what} is {old!r}, not {new!r}"
