"""NIF 2.0 in Turtle: documents with phrases, as GERBIL and its annotators exchange them.

Offsets count code points, by GERBIL's convention. A phrase without a URI is a mention without an entity.
Some documents count UTF-16 units, as Java does. Their anchors or their stated length show this.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from shadowprobe.base.offsets import from_utf16, to_utf16

if TYPE_CHECKING:
    from rdflib import Graph, URIRef
    from rdflib.term import Node

# Documents need URIs. Ours contain the id behind this, and no server answers there. Relative addresses belong here too.
BASE = "http://shadowprobe.example/"
NAMESPACES = {
    "nif": "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#",
    "itsrdf": "http://www.w3.org/2005/11/its/rdf#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "shadowprobe": f"{BASE}ns#",
}
SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
# An entity has fewer URIs, even with one for each language of Wikipedia. The limit bounds the work for each phrase.
MOST_SAME = 500
# GERBIL sends and accepts only this.
CONTENT_TYPE = "application/x-turtle"
# An entity outside every knowledge base that GERBIL knows means NIL.
NIL = "http://aksw.org/notInWiki/"
# How much an answer looks like a mere repetition of the prior. No common vocabulary has a word for it.
SUSPICION = "shadowprobe:suspicion"
# Parts of a text that other tools mark like phrases, but that are not mentions.
PARTS = ("nif:Sentence", "nif:Paragraph", "nif:Title")
PREFIXES = "".join(f"@prefix {prefix}: <{uri}> .\n" for prefix, uri in NAMESPACES.items())

_ESCAPES = {
    **{number: f"\\u{number:04X}" for number in (*range(0x20), 0x7F)},
    **str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}),
}
_NOT_IN_URI = re.compile('[\x00-\x20<>"{}|^`\\\\\ud800-\udfff]')
# Spans of a text as URI fragments: as in RFC 5147, its forms in older tools, and NIF's offsets.
_SPAN_FRAGMENT = re.compile(r"char(?:=[0-9]*|[0-9]+)(?:,[0-9]*)?(?:;(?:length|md5)=.*)?|offset_[0-9]+_[0-9]+(?:_.*)?")
# Longer than any text, and short enough for Python to read.
_NUMBER = re.compile("[0-9]{1,18}")


class NifError(ValueError):
    """An error in a NIF document, described in one line."""


class Phrase(NamedTuple):
    """A mention, and the URIs of its entity: all of them name the same entity."""

    start: int
    end: int
    uris: tuple[str, ...] = ()
    confidence: float | None = None
    # The other URIs that the document declares to be the same by `owl:sameAs`.
    same_as: tuple[str, ...] = ()
    suspicion: float | None = None


class NifDocument(NamedTuple):
    """A text with its phrases."""

    uri: str
    text: str
    phrases: tuple[Phrase, ...] = ()


def parse(turtle: str | bytes) -> list[NifDocument]:
    """Parses the documents of a Turtle text, in the order of their URIs."""
    graph = _parse_graph(turtle)
    contexts = sorted(set(graph.subjects(_term("nif:isString"))), key=str)
    same_as = _group_same_uris(graph)
    documents = [_read_document(graph, context, same_as) for context in contexts]
    counts = Counter(_drop_span(document.uri) for document in documents)
    # Two contexts may be parts of one address. Without their spans they would have the same URI.
    return [
        document._replace(uri=uri) if counts[uri := _drop_span(document.uri)] == 1 else document
        for document in documents
    ]


def to_turtle(documents: Iterable[NifDocument]) -> str:
    """Writes documents as one Turtle text."""
    return "".join([PREFIXES, *map(_encode_document, documents)])


def make_span_uri(uri: str, start: int, end: int) -> str:
    """Makes the URI of a span of a document; a fragment in the document's own URI is kept."""
    return f"{uri}{'&' if '#' in uri else '#'}char={start},{end}"


def _drop_span(uri: str) -> str:
    """Returns the URI of a document from that of its context, which is usually the span of the whole text."""
    base, mark, fragment = uri.partition("#")
    if _SPAN_FRAGMENT.fullmatch(fragment):
        return base
    own, separator, last = fragment.rpartition("&")
    return f"{base}{mark}{own}" if separator and _SPAN_FRAGMENT.fullmatch(last) else uri


def _encode_document(document: NifDocument) -> str:
    spans = [phrase[:2] for phrase in document.phrases]
    if len(set(spans)) < len(spans):
        # A span is one resource: two phrases would be merged.
        raise NifError(f"{document.uri}: two phrases have the same span")
    context = _encode_uri(make_span_uri(document.uri, 0, len(document.text)))
    parts = [
        f"\n{context} a nif:Context, nif:String, nif:RFC5147String ;\n"
        f"  nif:isString {_encode_string(document.text)} ;\n"
        f"  {_encode_offsets(0, len(document.text))} .\n"
    ]
    for phrase in document.phrases:
        address = _encode_uri(make_span_uri(document.uri, phrase.start, phrase.end))
        parts.append(
            f"{address} a nif:Phrase, nif:String, nif:RFC5147String ;\n"
            f"  nif:anchorOf {_encode_string(document.text[phrase.start : phrase.end])} ;\n"
            f"  {_encode_offsets(phrase.start, phrase.end)} ;\n"
            f"  nif:referenceContext {context}{_encode_entity(phrase)} .\n"
        )
    return "".join(parts)


def _encode_entity(phrase: Phrase) -> str:
    parts = [f" ;\n  itsrdf:taIdentRef {_encode_uri(uri)}" for uri in phrase.uris]
    if phrase.confidence is not None:
        parts.append(f' ;\n  itsrdf:taConfidence "{float(phrase.confidence)!r}"^^xsd:double')
    if phrase.suspicion is not None:
        parts.append(f' ;\n  {SUSPICION} "{float(phrase.suspicion)!r}"^^xsd:double')
    return "".join(parts)


def _encode_uri(uri: str) -> str:
    if bad := _NOT_IN_URI.search(uri):
        raise NifError(f"{uri!r} is not a URI: it contains {bad[0]!r}")
    return f"<{uri}>"


def _encode_string(text: str) -> str:
    # Every control character is escaped, because readers treat them differently.
    return f'"{text.translate(_ESCAPES)}"^^xsd:string'


def _encode_offsets(start: int, end: int) -> str:
    return f'nif:beginIndex "{start}"^^xsd:nonNegativeInteger ; nif:endIndex "{end}"^^xsd:nonNegativeInteger'


def _parse_graph(turtle: str | bytes) -> Graph:
    from rdflib import Graph

    # rdflib logs a traceback for every invalid number. The numbers that are used are checked below.
    logging.getLogger("rdflib.term").setLevel(logging.ERROR)
    graph = Graph()
    try:
        text = turtle.decode("utf-8") if isinstance(turtle, bytes) else turtle
        graph.parse(data=text.removeprefix("\ufeff"), format="turtle", publicID=BASE)
    except UnicodeDecodeError as error:
        raise NifError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except Exception as error:
        # rdflib's parser raises many kinds of exceptions; each of them means that this is not Turtle.
        reason = " ".join((getattr(error, "message", "") or str(error)).split())[:200]
        raise NifError(f"not Turtle: {reason or type(error).__name__}") from None
    return graph


def _term(name: str) -> URIRef:
    """Returns the URI of a term such as `nif:isString`."""
    from rdflib import URIRef

    prefix, _, local = name.partition(":")
    return URIRef(f"{NAMESPACES[prefix]}{local}")


def _read_text(node: Node) -> str:
    """Returns the text of a node; Java may write a character beyond the BMP as two escapes, which are joined."""
    try:
        return str(node).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise NifError(f"{str(node)[:40]!a} contains half a character (a single surrogate)") from None


def _group_same_uris(graph: Graph) -> dict[str, frozenset[str]]:
    """Returns for each URI all that are the same by `owl:sameAs`, in both directions and over several steps."""
    from rdflib import URIRef

    neighbours: dict[str, list[str]] = {}
    for first, second in graph.subject_objects(URIRef(SAME_AS)):
        if isinstance(first, URIRef) and isinstance(second, URIRef):
            one, other = _read_text(first), _read_text(second)
            neighbours.setdefault(one, []).append(other)
            neighbours.setdefault(other, []).append(one)
    groups: dict[str, frozenset[str]] = {}
    for uri in neighbours:
        if uri not in groups:
            reached, waiting = {uri}, [uri]
            while waiting:
                new = set(neighbours[waiting.pop()]) - reached
                reached |= new
                waiting += new
                if len(reached) > MOST_SAME:
                    raise NifError(f"{uri}: owl:sameAs declares more than {MOST_SAME} URIs to be the same")
            groups |= dict.fromkeys(reached, frozenset(reached))
    return groups


def _read_document(graph: Graph, context: Node, same_as: dict[str, frozenset[str]]) -> NifDocument:
    """Reads the document of a context."""
    from rdflib import URIRef

    if not isinstance(context, URIRef):
        raise NifError("a nif:Context must have a URI")
    texts = sorted({_read_text(text) for text in graph.objects(context, _term("nif:isString"))})
    if len(texts) > 1:
        raise NifError(f"{context}: there are {len(texts)} different nif:isString")
    annotations = [_Annotation(graph, node) for node in graph.subjects(_term("nif:referenceContext"), context)]
    mentions = [annotation for annotation in annotations if annotation.is_mention()]
    utf16 = _counts_utf16(graph, context, texts[0], mentions)
    phrases = (_read_phrase(mention, mention.span(texts[0], utf16=utf16), texts[0], same_as) for mention in mentions)
    return NifDocument(_read_text(context), texts[0], tuple(sorted(phrases, key=lambda phrase: phrase[:3])))


class _Annotation:
    """A resource that marks a part of a text by offsets and perhaps an anchor."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph, self.node = graph, node

    def is_mention(self) -> bool:
        """True for everything except parts such as sentences, and a text that refers to itself."""
        from rdflib import RDF

        kinds = set(self.graph.objects(self.node, RDF.type))
        # This is checked first, because a mention of the whole text has the text's URI.
        if _term("nif:Phrase") in kinds:
            return True
        is_text = (self.node, _term("nif:isString"), None) in self.graph
        return not is_text and not any(_term(name) in kinds for name in PARTS)

    def span(self, text: str, *, utf16: bool) -> tuple[int, int] | None:
        """Its span in code points; None if it is outside of the text."""
        start: int | None
        end: int | None
        start, end = self.offsets()
        if utf16:
            start, end = from_utf16(text, start), from_utf16(text, end)
        if start is None or end is None or not start < end <= len(text):
            return None
        return start, end

    def offsets(self) -> tuple[int, int]:
        """Its offsets as they are written."""
        return _read_index(self.graph, self.node, "beginIndex"), _read_index(self.graph, self.node, "endIndex")

    def is_consistent(self, text: str, *, utf16: bool) -> bool:
        """True if the span is inside the text and holds the anchor, if there is one."""
        anchor = self.graph.value(self.node, _term("nif:anchorOf"))
        span = self.span(text, utf16=utf16)
        return span is not None and (anchor is None or text[span[0] : span[1]] == _read_text(anchor))


def _counts_utf16(graph: Graph, context: Node, text: str, mentions: list[_Annotation]) -> bool:
    """True if a document counts UTF-16 units, which differ from code points after an emoji, for example."""
    units = to_utf16(text, len(text))
    if units == len(text):
        return False
    fits_points = all(mention.is_consistent(text, utf16=False) for mention in mentions)
    fits_units = all(mention.is_consistent(text, utf16=True) for mention in mentions)
    if fits_points != fits_units:
        return fits_units
    return (context, _term("nif:endIndex"), None) in graph and _read_index(graph, context, "endIndex") == units


def _read_phrase(
    mention: _Annotation, span: tuple[int, int] | None, text: str, same_as: dict[str, frozenset[str]]
) -> Phrase:
    from rdflib import BNode

    graph, node = mention.graph, mention.node
    if span is None:
        start, end = mention.offsets()
        raise NifError(f"{node}: {start} to {end} is outside its text of {len(text)} characters")
    nodes = (uri for uri in graph.objects(node, _term("itsrdf:taIdentRef")) if not isinstance(uri, BNode))
    uris = {_read_text(uri) for uri in nodes}
    others = {other for uri in uris for other in same_as.get(uri, ())} - uris
    confidence, suspicion = (_read_number(graph, node, name) for name in ("itsrdf:taConfidence", SUSPICION))
    return Phrase(*span, tuple(sorted(uris)), confidence, tuple(sorted(others)), suspicion)


def _read_index(graph: Graph, node: Node, name: str) -> int:
    values = sorted({str(value) for value in graph.objects(node, _term(f"nif:{name}"))})
    if not values:
        raise NifError(f"{node}: nif:{name} is missing")
    if len(values) > 1 or not _NUMBER.fullmatch(values[0]):
        raise NifError(f"{node}: nif:{name} is {' and '.join(values)[:40]!r}, not a number")
    return int(values[0])


def _read_number(graph: Graph, node: Node, name: str) -> float | None:
    """Returns the highest value of a property of a phrase; values that are not finite are ignored."""
    try:
        values = [float(str(value)) for value in graph.objects(node, _term(name))]
    except ValueError as error:
        raise NifError(f"{node}: {name}: {str(error)[:80]}") from None
    return max((value for value in values if math.isfinite(value)), default=None)
