"""A directory of trained encoders: which of them encodes which question, and which encodes the passages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from shadowprobe.base.files import write_atomically
from shadowprobe.base.jsonl import encode_json, read_json
from shadowprobe.errors import InputError
from shadowprobe.queries.question_patterns import find_first_subject

ENCODERS = "encoders.json"
SCHEMA = 1
EncoderKind = Literal["sentence", "dpr"]


class EncoderPair(Struct, frozen=True, omit_defaults=True):
    """An encoder of questions and one of passages, by name or path; `patterns` are those of its questions."""

    questions: str
    passages: str
    # Without patterns, a pair takes every question that no other one takes.
    patterns: tuple[str, ...] = ()


class EncoderCard(Struct, frozen=True):
    """The content of `encoders.json`: pairs whose folders are inside the directory, the one for the rest last."""

    kind: EncoderKind
    pairs: tuple[EncoderPair, ...]
    schema: int = SCHEMA


def write_encoder_card(directory: Path, card: EncoderCard) -> None:
    """Makes a directory one of trained encoders."""
    write_atomically(directory / ENCODERS, encode_json(card))


def read_encoder_card(directory: Path) -> EncoderCard | None:
    """The encoders of a directory by their full paths; None for a directory that holds another kind of model."""
    path = directory / ENCODERS
    if not path.exists():
        return None
    card = read_json(path, EncoderCard, schema=SCHEMA)
    if not card.pairs or card.pairs[-1].patterns:
        raise InputError(
            path, "has no pair without patterns at its end, for questions of other patterns", field="pairs"
        )
    return EncoderCard(
        card.kind,
        tuple(
            EncoderPair(_locate(directory, pair.questions), _locate(directory, pair.passages), pair.patterns)
            for pair in card.pairs
        ),
    )


def choose_pair(pairs: Sequence[EncoderPair], question: str) -> int:
    """The number of the pair for a question: the first that has its pattern, else the last."""
    for number, pair in enumerate(pairs[:-1]):
        if find_first_subject(pair.patterns, question) is not None:
            return number
    return len(pairs) - 1


def _locate(directory: Path, name: str) -> str:
    folder = directory / name
    if ".." in Path(name).parts or not folder.is_dir():
        raise InputError(directory / ENCODERS, f"names the folder {name!r}, which is not in the directory")
    return str(folder)
