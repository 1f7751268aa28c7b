"""AIDA, the classic service of the Max Planck Institute for Informatics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from shadowprobe import Candidate, ItemError, Prediction, Request, Snippet, WebLinker
from shadowprobe.offsets import to_utf16

if TYPE_CHECKING:
    import httpx

# The service answers any other with an error of status 200.
Tech = Literal["PRIOR", "LOCAL", "LOCAL-IDF", "LM", "GRAPH", "GRAPH-IDF", "GRAPH-KORE", "GRAPH-JACCARD"]


class AidaLinker(WebLinker):
    """AIDA's classic web service: prior, keyphrases and coherence over YAGO.

    System: AIDA (Hoffart et al., 2011, "Robust Disambiguation of Named Entities in Text").
    Sends the text as a form, the mention between `[[` and `]]`, with the technique `tech`.
    Returns a YAGO id with a score whose scale depends on the technique, and up to 15 candidates.
    Cannot take a text with brackets of its own where they would be read as marks. It applies a threshold below which
    it answers NIL, and leaves out mentions that do not fall on the borders of its tokens.
    """

    name = "aida"
    needs = "nothing: the public service, which may be gone, or -o url=..."
    endpoint = "https://gate.d5.mpi-inf.mpg.de/aida/service/disambiguate"

    def __init__(self, tech: Tech = "GRAPH", **web: Any) -> None:
        super().__init__(**web)
        self.tech = tech

    def request(self, snippet: Snippet) -> Request:
        """The text with its mention in double brackets; without `tag_mode` a recogniser would add its own."""
        text, start, end = snippet.text, snippet.start, snippet.end
        marked = f"{text[:start]}[[{text[start:end]}]]{text[end:]}"
        # It searches for the first `[[` and then for the first `]]`: a bracket that touches ours moves the mention.
        if "[[" in text or marked.find("[[") != start or marked.find("]]", start) != end + 2:
            raise ItemError("AIDA marks mentions with [[ and ]] and cannot tell the brackets of this text from them")
        return Request("POST", self.url, data={"text": marked, "tag_mode": "manual", "tech": self.tech})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """The best entity of the mention; offsets are of the text without the brackets, in UTF-16 units."""
        answer = response.json()
        start, end = to_utf16(snippet.text, snippet.start), to_utf16(snippet.text, snippet.end)
        for mention in answer["mentions"]:
            if (mention["offset"], mention["length"]) == (start, end - start):
                break
        else:
            return self.skip(snippet)
        best = mention.get("bestEntity")
        if best is None:
            # Explicit: the mention was weighed and none of its entities was good enough. (GERBIL's adapter drops it.)
            return self.nil(snippet)
        metadata = answer.get("entityMetadata") or {}
        candidates = [
            Candidate(answer=_entity(found, metadata), score=_score(found))
            for found in mention.get("allEntities") or ()
        ]
        candidates.sort(key=lambda candidate: -math.inf if candidate.score is None else candidate.score, reverse=True)
        return self.answer(snippet, _entity(best, metadata), _score(best), candidates)


def _entity(found: Mapping[str, str], metadata: Mapping[str, Any]) -> str:
    """The YAGO id, whose `\\uXXXX` our resolver undoes; an id of another knowledge base only if it has no article."""
    identifier = found["kbIdentifier"]
    if identifier.startswith("YAGO:"):
        return identifier
    return (metadata.get(identifier) or {}).get("url") or identifier


def _score(found: Mapping[str, str]) -> float | None:
    """The score, which is a string that Java formatted for an English reader: `1,234.5`, and words for no number."""
    text = found["disambiguationScore"]
    return None if text in {"NaN", "\ufffd", "∞", "-∞"} else float(text.replace(",", ""))
