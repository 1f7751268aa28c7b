"""NIF 2.0 in Turtle: documents with phrases, as GERBIL and its annotators exchange them.

Offsets count code points, by GERBIL's convention. A phrase without a URI is a mention that nothing was said of.
A document that counts UTF-16 units, as Java does, is known by its anchors or by the length that it says it has.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from shadowprobe.offsets import from_utf16, to_utf16

if TYPE_CHECKING:
    from rdflib import Graph, URIRef
    from rdflib.term import Node

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITSRDF = "http://www.w3.org/2005/11/its/rdf#"
XSD = "http://www.w3.org/2001/XMLSchema#"
# What GERBIL sends and asks for; it reads nothing but Turtle.
CONTENT_TYPE = "application/x-turtle"
# An entity outside every knowledge base that GERBIL knows: the way to say NIL.
NIL = "http://aksw.org/notInWiki/"
# Where a document's own addresses are relative, they are relative to this.
BASE = "http://shadowprobe.example/"
# Parts of a text that other tools mark in the way of phrases, and that are no mentions.
PARTS = ("Sentence", "Paragraph", "Title")
PREFIXES = f"@prefix nif: <{NIF}> .\n@prefix itsrdf: <{ITSRDF}> .\n@prefix xsd: <{XSD}> .\n"

_ESCAPES = {
    **{number: f"\\u{number:04X}" for number in (*range(0x20), 0x7F)},
    **str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}),
}
_UNFIT = re.compile('[\x00-\x20<>"{}|^`\\\\\ud800-\udfff]')
# The ways to write a place in a text as a fragment: RFC 5147's, its forms in older tools, and NIF's by offsets.
_PLACE = re.compile(r"char(?:=[0-9]*|[0-9]+)(?:,[0-9]*)?(?:;(?:length|md5)=.*)?|offset_[0-9]+_[0-9]+(?:_.*)?")
# Longer than any text, and short enough for Python to read.
_NUMBER = re.compile("[0-9]{1,18}")


class NifError(ValueError):
    """What is wrong with a NIF document, in one line."""


class Phrase(NamedTuple):
    """A mention, and the entities that it is said to mean: all of them names of one entity."""

    start: int
    end: int
    uris: tuple[str, ...] = ()
    confidence: float | None = None


class Document(NamedTuple):
    """A text with its phrases."""

    uri: str
    text: str
    phrases: tuple[Phrase, ...] = ()


def parse(turtle: str | bytes) -> list[Document]:
    """The documents of a Turtle text, in the order of their URIs."""
    graph = _graph(turtle)
    found = [_read(graph, context) for context in sorted(set(graph.subjects(_nif("isString"))), key=str)]
    cut = Counter(_without_place(document.uri) for document in found)
    # Two contexts may be parts of one address, and without their places they would be one document.
    return [
        document._replace(uri=uri) if cut[uri := _without_place(document.uri)] == 1 else document for document in found
    ]


def parse_one(turtle: str | bytes) -> Document:
    """The one document that a request or an answer holds."""
    found = parse(turtle)
    if len(found) != 1:
        raise NifError(f"there must be one nif:Context with its nif:isString, not {len(found)}")
    return found[0]


def to_turtle(documents: Iterable[Document]) -> str:
    """Documents as Turtle."""
    return "".join(turtle_lines(documents))


def turtle_lines(documents: Iterable[Document]) -> Iterator[str]:
    """Documents as Turtle, piece by piece: first the prefixes, then each document."""
    yield PREFIXES
    for document in documents:
        yield _document(document)


def place(uri: str, start: int, end: int) -> str:
    """The URI of a place in a document; a document whose own URI has a fragment is kept apart from its neighbours."""
    return f"{uri}{'&' if '#' in uri else '#'}char={start},{end}"


def _without_place(uri: str) -> str:
    """The URI of a document from that of its context, which as a rule is the place of the whole text."""
    base, mark, fragment = uri.partition("#")
    if _PLACE.fullmatch(fragment):
        return base
    own, separator, last = fragment.rpartition("&")
    return f"{base}{mark}{own}" if separator and _PLACE.fullmatch(last) else uri


def _document(document: Document) -> str:
    spans = [phrase[:2] for phrase in document.phrases]
    if len(set(spans)) < len(spans):
        # One span is one resource: what is said of both would be said of one.
        raise NifError(f"{document.uri}: two phrases stand on one span")
    context = _address(document.uri, 0, len(document.text))
    parts = [
        f"\n{context} a nif:Context, nif:String, nif:RFC5147String ;\n"
        f"  nif:isString {_string(document.text)} ;\n"
        f"  {_indices(0, len(document.text))} .\n"
    ]
    for phrase in document.phrases:
        parts.append(
            f"{_address(document.uri, phrase.start, phrase.end)} a nif:Phrase, nif:String, nif:RFC5147String ;\n"
            f"  nif:anchorOf {_string(document.text[phrase.start : phrase.end])} ;\n"
            f"  {_indices(phrase.start, phrase.end)} ;\n"
            f"  nif:referenceContext {context}{_said(phrase)} .\n"
        )
    return "".join(parts)


def _said(phrase: Phrase) -> str:
    """What is said of a phrase's entity."""
    said = "".join(f" ;\n  itsrdf:taIdentRef {_uri(uri)}" for uri in phrase.uris)
    if phrase.confidence is not None:
        said += f' ;\n  itsrdf:taConfidence "{float(phrase.confidence)!r}"^^xsd:double'
    return said


def _address(uri: str, start: int, end: int) -> str:
    return _uri(place(uri, start, end))


def _uri(uri: str) -> str:
    if unfit := _UNFIT.search(uri):
        raise NifError(f"{uri!r} is no URI: it holds {unfit[0]!r}")
    return f"<{uri}>"


def _string(text: str) -> str:
    # On one line and with every control character escaped, since readers differ in what they do with those.
    return f'"{text.translate(_ESCAPES)}"^^xsd:string'


def _indices(start: int, end: int) -> str:
    return f'nif:beginIndex "{start}"^^xsd:nonNegativeInteger ; nif:endIndex "{end}"^^xsd:nonNegativeInteger'


def _graph(turtle: str | bytes) -> Graph:
    from rdflib import Graph

    # rdflib warns, with a traceback, of every number that is none; what matters here is checked below.
    logging.getLogger("rdflib.term").setLevel(logging.ERROR)
    graph = Graph()
    try:
        text = turtle.decode("utf-8") if isinstance(turtle, bytes) else turtle
        graph.parse(data=text.removeprefix("\ufeff"), format="turtle", publicID=BASE)
    except UnicodeDecodeError as error:
        raise NifError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except Exception as error:
        # rdflib's parser lets through what its own depths raise; all of it says that this is no Turtle.
        reason = " ".join((getattr(error, "message", "") or str(error)).split())[:200]
        raise NifError(f"not Turtle: {reason or type(error).__name__}") from None
    return graph


def _nif(name: str) -> URIRef:
    from rdflib import URIRef

    return URIRef(f"{NIF}{name}")


def _its(name: str) -> URIRef:
    from rdflib import URIRef

    return URIRef(f"{ITSRDF}{name}")


def _text(node: Node) -> str:
    """The text of a node, in which Java may have written a character beyond the BMP as two escapes."""
    try:
        return str(node).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise NifError(f"{str(node)[:40]!a} holds half a character, a surrogate without its other") from None


def _read(graph: Graph, context: Node) -> Document:
    """The document of a context."""
    from rdflib import URIRef

    if not isinstance(context, URIRef):
        raise NifError("a nif:Context must have a URI")
    texts = sorted({_text(text) for text in graph.objects(context, _nif("isString"))})
    if len(texts) > 1:
        raise NifError(f"{context}: there are {len(texts)} different nif:isString")
    marked = [_Marked(graph, node) for node in graph.subjects(_nif("referenceContext"), context)]
    marked = [one for one in marked if one.is_mention()]
    utf16 = _counts_utf16(graph, context, texts[0], marked)
    phrases = (_phrase(one, one.span(texts[0], utf16=utf16), texts[0]) for one in marked)
    return Document(_text(context), texts[0], tuple(sorted(phrases, key=lambda phrase: phrase[:3])))


class _Marked:
    """A resource that marks a piece of a text, with the offsets and the anchor as they stand there."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph, self.node = graph, node

    def is_mention(self) -> bool:
        """True for a phrase, and for all else but a part such as a sentence or a text that refers to itself."""
        from rdflib import RDF

        kinds = set(self.graph.objects(self.node, RDF.type))
        # First, since a mention that is all of its text has the text's URI.
        if _nif("Phrase") in kinds:
            return True
        is_text = (self.node, _nif("isString"), None) in self.graph
        return not is_text and not any(_nif(name) in kinds for name in PARTS)

    def span(self, text: str, *, utf16: bool) -> tuple[int, int] | None:
        """Where it stands in a text, in code points; None where that is nowhere."""
        start, end = (_index(self.graph, self.node, name) for name in ("beginIndex", "endIndex"))
        places = (from_utf16(text, start), from_utf16(text, end)) if utf16 else (start, end)
        if places[0] is None or places[1] is None or not places[0] < places[1] <= len(text):
            return None
        return places[0], places[1]

    def fits(self, text: str, *, utf16: bool) -> bool:
        """True where its anchor stands in its place, or where it has none."""
        anchor = self.graph.value(self.node, _nif("anchorOf"))
        span = self.span(text, utf16=utf16)
        return span is not None and (anchor is None or text[span[0] : span[1]] == _text(anchor))


def _counts_utf16(graph: Graph, context: Node, text: str, marked: list[_Marked]) -> bool:
    """True where a document counts UTF-16 units, which come to other numbers only after an emoji or its like."""
    units = to_utf16(text, len(text))
    if units == len(text):
        return False
    by_points, by_units = (all(one.fits(text, utf16=utf16) for one in marked) for utf16 in (False, True))
    if by_points != by_units:
        return by_units
    return (context, _nif("endIndex"), None) in graph and _index(graph, context, "endIndex") == units


def _phrase(marked: _Marked, span: tuple[int, int] | None, text: str) -> Phrase:
    from rdflib import BNode

    graph, node = marked.graph, marked.node
    if span is None:
        start, end = (_index(graph, node, name) for name in ("beginIndex", "endIndex"))
        raise NifError(f"{node}: {start} to {end} is no place in its text of {len(text)} characters")
    named = (uri for uri in graph.objects(node, _its("taIdentRef")) if not isinstance(uri, BNode))
    return Phrase(*span, tuple(sorted({_text(uri) for uri in named})), _confidence(graph, node))


def _index(graph: Graph, node: Node, name: str) -> int:
    values = sorted({str(value) for value in graph.objects(node, _nif(name))})
    if not values:
        raise NifError(f"{node}: nif:{name} is missing")
    if len(values) > 1 or not _NUMBER.fullmatch(values[0]):
        raise NifError(f"{node}: nif:{name} is {' and '.join(values)[:40]!r}, not a number")
    return int(values[0])


def _confidence(graph: Graph, node: Node) -> float | None:
    """The confidence of a phrase, the highest where there are several; what is not finite says nothing."""
    try:
        values = [float(str(value)) for value in graph.objects(node, _its("taConfidence"))]
    except ValueError as error:
        raise NifError(f"{node}: itsrdf:taConfidence: {str(error)[:80]}") from None
    return max((value for value in values if math.isfinite(value)), default=None)
