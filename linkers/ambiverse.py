"""AmbiverseNLU, the successor of AIDA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shadowprobe import Prediction, Request, Snippet, WebLinker, identity
from shadowprobe.offsets import to_utf16

if TYPE_CHECKING:
    import httpx


class AmbiverseLinker(WebLinker):
    """AmbiverseNLU, the successor of AIDA, on a server of your own.

    System: AmbiverseNLU (AIDA: Hoffart et al., 2011; its recogniser KnowNER: Seyler et al., 2018).
    Sends the text and the mention's span as JSON, with no threshold on the confidence; `coherent=false` asks for the
    local model.
    Returns the Wikipedia article and the Wikidata id of an entity, with a confidence from 0 to 1; no candidates.
    Cannot be kept from recognising further mentions, which a coherent document takes into account; only the answer
    to the mention asked for is read.
    """

    name = "ambiverse"
    needs = "a server of your own: -o url=http://HOST:8080/entitylinking/analyze"
    endpoint = ""

    def __init__(self, language: str = "en", coherent: bool = True, **web: Any) -> None:
        super().__init__(**web)
        self.language, self.coherent = language, coherent

    def request(self, snippet: Snippet) -> Request:
        """One document with one annotated mention, its span in UTF-16 units."""
        start, length = _span(snippet)
        asked = {
            "docId": snippet.id,
            "language": self.language,
            "text": snippet.text,
            "coherentDocument": self.coherent,
            "confidenceThreshold": 0.0,
            "annotatedMentions": [{"charOffset": start, "charLength": length}],
        }
        return Request("POST", self.url, json=asked)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """The entity of the match on the mention's span; other matches are mentions that it recognised itself."""
        answer = response.json()
        matches = answer["matches"]
        match = next((m for m in matches if (m["charOffset"], m["charLength"]) == _span(snippet)), None)
        if match is None:
            return self.skip(snippet)
        entities = {entity["id"]: entity for entity in answer.get("entities") or ()}
        identifier = _identifier(match)
        if not identifier:
            # {} is NIL, but also an entity without a Wikidata id, which `entities` lists under an id that ends in null.
            identifier = next((known for known in entities if known.endswith("null")), "")
            if identifier and sum(not _identifier(other) for other in matches) > 1:
                self.note(
                    "Some answers counted as NIL may be entities without a Wikidata id: Ambiverse did not say which."
                )
                identifier = ""
        if not identifier:
            return self.nil(snippet)
        entity = entities.get(identifier, {})
        # The name may lack what tells titles apart, "(river)"; the address has it.
        named = entity.get("url") or entity.get("name") or identifier
        qid = identity.parse(identifier).qid
        known = self.knowledge.entities.get(identity.parse(named).title or "")
        if known is not None and known.qid not in {None, qid}:
            # Its ids often do not fit the article, which is to be trusted more, and our resolver believes ids first.
            qid = None
        return self.answer(snippet, named, (match.get("entity") or {}).get("confidence"), qid=qid)


def _span(snippet: Snippet) -> tuple[int, int]:
    """Offset and length of the mention as Java counts."""
    start = to_utf16(snippet.text, snippet.start)
    return start, to_utf16(snippet.text, snippet.end) - start


def _identifier(match: Mapping[str, Any]) -> str:
    """The Wikidata URI of a match; empty for none and for one that ends in null."""
    identifier: str = (match.get("entity") or {}).get("id") or ""
    return "" if identifier.endswith("null") else identifier
