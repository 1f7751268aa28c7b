"""NIF in Turtle: GERBIL's format for datasets and for the answers of annotators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from shadowprobe.base.files import open_for_reading
from shadowprobe.base.identity import dbpedia_uri, is_nil, is_unknown_uri, parse, wikidata_uri
from shadowprobe.errors import InputError
from shadowprobe.formats import nif_documents as nif
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.fields import parse_reference

SUFFIX = ".ttl"
TITLE = "NIF"
SOURCE = "https://persistence.uni-leipzig.org/nlp2rdf/"
LOST = frozenset({"space", "template", "page_id"})


def read_documents(path: Path, *, predicted: bool = False) -> Iterator[AnnotatedDocument]:
    """Reads the documents of a Turtle file, in the order of their URIs; predictions are written like gold.

    A gold URI of an unknown knowledge base names no entity, unless `owl:sameAs` leads to a known one.
    """
    with open_for_reading(path) as file:
        content = file.read()
    try:
        documents = nif.parse(content)
    except nif.NifError as error:
        raise InputError(path, str(error)) from None
    for document in documents:
        is_ours = document.uri.startswith(nif.BASE)
        name = unquote(document.uri.removeprefix(nif.BASE)) if is_ours else document.uri
        mentions = tuple(_read_mention(phrase, is_gold=not predicted) for phrase in document.phrases)
        yield AnnotatedDocument(name, document.text, mentions)


def encode_documents(documents: Iterable[AnnotatedDocument], *, predicted: bool = False) -> Iterator[str]:
    """Writes documents as Turtle; an entity has its DBpedia URI, and its Wikidata URI if the QID is known."""
    yield nif.to_turtle(make_nif_document(document) for document in documents)


def make_nif_document(document: AnnotatedDocument) -> nif.NifDocument:
    """Converts a document: its id and its entities become URIs."""
    phrases: dict[tuple[int, int], nif.Phrase] = {}
    for mention in document.mentions:
        span = mention.start, mention.end
        # A span has one phrase. If it has two gold entities, the phrase has both, and either is correct.
        known = phrases[span].uris if span in phrases else ()
        uris = tuple(dict.fromkeys([*known, *_list_uris(document, mention)]))
        score, suspicion = (keep_finite(value) for value in (mention.score, mention.suspicion))
        phrases[span] = nif.Phrase(*span, uris, score, suspicion=suspicion)
    return nif.NifDocument(nif.BASE + quote(document.id, safe=""), document.text, tuple(phrases.values()))


def keep_finite(value: float | None) -> float | None:
    """Returns a number that NIF can hold, or None."""
    return value if value is not None and math.isfinite(value) else None


def _list_uris(document: AnnotatedDocument, mention: Mention) -> tuple[str, ...]:
    if mention.nil:
        return (nif.NIL + quote(document.text[mention.start : mention.end], safe=""),)
    uris = []
    if mention.title is not None:
        is_uri = is_unknown_uri(mention.title)
        uris.append(mention.title if is_uri else dbpedia_uri(mention.title, document.language))
    if mention.qid is not None:
        uris.append(wikidata_uri(mention.qid))
    return tuple(uris)


def _read_mention(phrase: nif.Phrase, *, is_gold: bool) -> Mention:
    """Makes a mention from a phrase; its URIs name the same entity, and each may contain another key of it."""
    named = [uri for uri in (*phrase.uris, *phrase.same_as) if not is_nil(uri)]
    known = [uri for uri in named if not is_unknown_uri(uri)]
    # Of several language editions, the English title is the entity's.
    known.sort(key=lambda uri: parse(uri).language not in {None, "en"})
    uris = known if is_gold else known or named
    references = [parse_reference(uri) for uri in uris]
    fields: dict[str, Any] = {"nil": True} if phrase.uris and not named else {}
    titles = [(keys["title"], uri) for keys, uri in zip(references, uris, strict=True) if "title" in keys]
    # The language is that of the title.
    references.sort(key=lambda keys: "title" not in keys)
    for keys in references:
        fields = keys | fields
    if titles:
        fields["others"] = tuple(uri for title, uri in titles if title != titles[0][0])
    if is_gold and not any(uri in known for uri in phrase.uris):
        fields["unknown_uri"] = next((uri for uri in phrase.uris if uri in named), None)
    return Mention(phrase.start, phrase.end, score=phrase.confidence, suspicion=phrase.suspicion, **fields)
