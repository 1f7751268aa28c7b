"""The reply of the service as JSON, for programs that do not read Turtle."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from shadowprobe.formats.nif_documents import NIL, NifDocument, Phrase


class _Answer(Struct, frozen=True, omit_defaults=True):
    """A mention: its span in code points, and the URI of its entity; without a URI it is NIL or skipped."""

    start: int
    end: int
    mention: str
    uri: str | None = None
    nil: bool = False
    score: float | None = None
    suspicion: float | None = None


def encode_reply(documents: Iterable[NifDocument]) -> bytes:
    """Encodes the answers of documents."""
    answered = [
        {"uri": document.uri, "mentions": [_make_answer(document, phrase) for phrase in document.phrases]}
        for document in documents
    ]
    return msgspec.json.encode({"documents": answered}) + b"\n"


def _make_answer(document: NifDocument, phrase: Phrase) -> _Answer:
    uri = next(iter(phrase.uris), None)
    is_nil = uri is not None and uri.startswith(NIL)
    return _Answer(
        phrase.start,
        phrase.end,
        document.text[phrase.start : phrase.end],
        None if is_nil else uri,
        is_nil,
        phrase.confidence,
        phrase.suspicion,
    )
