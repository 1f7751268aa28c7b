"""NIF in Turtle: what GERBIL takes as a dataset, and what its annotators answer with."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from shadowprobe import nif
from shadowprobe.errors import InputError
from shadowprobe.formats.documents import Document, Mention, named
from shadowprobe.identity import dbpedia_uri, wikidata_uri
from shadowprobe.jsonl import open_for_reading

SUFFIX = ".ttl"
TITLE = "NIF"
SOURCE = "https://persistence.uni-leipzig.org/nlp2rdf/"
# Documents need URIs; ours say nothing but their ids, and lead nowhere.
BASE = "http://shadowprobe.example/"
_URI = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def documents(path: Path) -> Iterator[Document]:
    """The documents of a Turtle file, in the order of their URIs."""
    with open_for_reading(path) as file:
        content = file.read()
    try:
        found = nif.parse(content)
    except nif.NifError as error:
        raise InputError(path, str(error)) from None
    for document in found:
        own = document.uri.startswith(BASE)
        name = unquote(document.uri.removeprefix(BASE)) if own else document.uri
        yield Document(name, document.text, tuple(_mention(phrase) for phrase in document.phrases))


def lines(found: Iterable[Document]) -> Iterator[str]:
    """Documents as Turtle; entities are DBpedia's, and Wikidata's beside them where the QID is known."""
    return nif.turtle_lines(as_nif(document) for document in found)


def as_nif(document: Document) -> nif.Document:
    """A document with URIs for all that has a name."""
    phrases: dict[tuple[int, int], nif.Phrase] = {}
    for mention in document.mentions:
        span = mention.start, mention.end
        # A place has one phrase; two gold entities for it stand beside each other, and either is right.
        before = phrases[span].uris if span in phrases else ()
        uris = tuple(dict.fromkeys([*before, *_uris(document, mention)]))
        phrases[span] = nif.Phrase(*span, uris, _finite(mention.score))
    return nif.Document(BASE + quote(document.id, safe=""), document.text, tuple(phrases.values()))


def _uris(document: Document, mention: Mention) -> tuple[str, ...]:
    if mention.nil:
        return (nif.NIL + quote(document.text[mention.start : mention.end], safe=""),)
    uris = []
    if mention.title is not None:
        is_uri = _URI.match(mention.title)
        uris.append(mention.title if is_uri else dbpedia_uri(mention.title, document.language))
    if mention.qid is not None:
        uris.append(wikidata_uri(mention.qid))
    return tuple(uris)


def _mention(phrase: nif.Phrase) -> Mention:
    """A mention from a phrase; each of its URIs is another name of one entity, and may tell another key of it."""
    fields: dict[str, Any] = {}
    # A URI of a knowledge base that we do not know is the last choice for a title.
    for said in sorted((named(uri) for uri in phrase.uris), key=lambda said: bool(_URI.match(said.get("title") or ""))):
        for key, value in said.items():
            fields.setdefault(key, value)
    if len(fields) > 1:
        fields.pop("nil", None)
    return Mention(phrase.start, phrase.end, score=phrase.confidence, **fields)


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None
