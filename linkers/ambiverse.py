"""AmbiverseNLU, the successor of AIDA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from shadowprobe import Prediction, Request, Snippet, WebLinker
from shadowprobe.base import identity
from shadowprobe.base.offsets import locate_in_utf16

if TYPE_CHECKING:
    import httpx


class AmbiverseLinker(WebLinker):
    """AmbiverseNLU, the successor of AIDA, on a server of your own.

    System: AmbiverseNLU (AIDA: Hoffart et al., 2011; its recogniser KnowNER: Seyler et al., 2018).
    Sends the text and the mention's span as JSON, with no threshold on the confidence; `coherent=false` selects the
    local model.
    Returns the Wikipedia article and the Wikidata id of an entity, with a confidence from 0 to 1; no candidates.
    Always recognises further mentions, which influence a coherent document; only the answer to the given mention is
    read.
    """

    name = "ambiverse"
    needs = "a server of your own: -o url=http://HOST:8080/entitylinking/analyze"
    endpoint = ""
    option_help: ClassVar[dict[str, str]] = {
        "language": "the language of the texts",
        "coherent": "whether the entities of a text must fit together",
    }

    def __init__(self, language: str = "en", coherent: bool = True, **web: Any) -> None:
        super().__init__(**web)
        self.language, self.coherent = language, coherent

    def request(self, snippet: Snippet) -> Request:
        """Sends one document with one annotated mention, its span in UTF-16 units."""
        start, length = locate_in_utf16(snippet.text, snippet.start, snippet.end)
        document = {
            "docId": snippet.id,
            "language": self.language,
            "text": snippet.text,
            "coherentDocument": self.coherent,
            "confidenceThreshold": 0.0,
            "annotatedMentions": [{"charOffset": start, "charLength": length}],
        }
        return Request("POST", self.url, json=document)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the entity of the match on the mention's span; other matches are mentions that it recognised itself."""
        reply = response.json()
        matches = reply["matches"]
        span = locate_in_utf16(snippet.text, snippet.start, snippet.end)
        match = next((match for match in matches if (match["charOffset"], match["charLength"]) == span), None)
        if match is None:
            return self.skip(snippet)
        entities = {entity["id"]: entity for entity in reply.get("entities") or ()}
        identifier = _read_id(match)
        if not identifier:
            # {} is NIL, or an entity without a Wikidata id, which `entities` lists with an id that ends in null.
            identifier = next((known for known in entities if known.endswith("null")), "")
            if identifier and sum(not _read_id(other) for other in matches) > 1:
                self.note(
                    "Some answers counted as NIL may be entities without a Wikidata id: Ambiverse does not tell which."
                )
                identifier = ""
        if not identifier:
            return self.nil(snippet)
        entity = entities.get(identifier, {})
        # The name may lack the "(river)" that makes a title unique; the address has it.
        named = entity.get("url") or entity.get("name") or identifier
        qid = identity.parse(identifier).qid
        known = self.knowledge.entities.get(identity.parse(named).title or "")
        if known is not None and known.qid not in {None, qid}:
            # Ambiverse's ids often do not belong to the article. The article is more reliable, but our resolver
            # prefers ids.
            qid = None
        return self.answer(snippet, named, (match.get("entity") or {}).get("confidence"), qid=qid)


def _read_id(match: Mapping[str, Any]) -> str:
    """Returns the Wikidata URI of a match; empty if there is none or if it ends in null."""
    identifier: str = (match.get("entity") or {}).get("id") or ""
    return "" if identifier.endswith("null") else identifier
