"""AIDA, the classic service of the Max Planck Institute for Informatics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shadowprobe import Candidate, ItemError, Prediction, Request, Snippet, WebLinker
from shadowprobe.base.offsets import locate_in_utf16

if TYPE_CHECKING:
    import httpx

# For any other technique the service returns an error with status 200.
Tech = Literal["PRIOR", "LOCAL", "LOCAL-IDF", "LM", "GRAPH", "GRAPH-IDF", "GRAPH-KORE", "GRAPH-JACCARD"]


class AidaLinker(WebLinker):
    """AIDA's classic web service: prior, keyphrases and coherence over YAGO.

    System: AIDA (Hoffart et al., 2011, "Robust Disambiguation of Named Entities in Text").
    Sends the text as a form, the mention between `[[` and `]]`, with the technique `tech`.
    Returns a YAGO id with a score whose scale depends on the technique, and up to 15 candidates.
    Cannot take a text whose own brackets would be read as marks. It answers NIL below a threshold, and leaves out
    mentions that do not begin and end with its tokens.
    """

    name = "aida"
    needs = "nothing: the public service, which may be gone, or -o url=..."
    endpoint = "https://gate.d5.mpi-inf.mpg.de/aida/service/disambiguate"
    option_help: ClassVar[dict[str, str]] = {
        "tech": "the method of the service",
    }

    def __init__(self, tech: Tech = "GRAPH", **web: Any) -> None:
        super().__init__(**web)
        self.tech = tech

    def request(self, snippet: Snippet) -> Request:
        """Sends the text with its mention in double brackets; without `tag_mode` a recogniser would add mentions."""
        text, start, end = snippet.text, snippet.start, snippet.end
        marked = f"{text[:start]}[[{text[start:end]}]]{text[end:]}"
        # It searches for the first `[[` and then for the first `]]`: a bracket that touches ours moves the mention.
        if "[[" in text or marked.find("[[") != start or marked.find("]]", start) != end + 2:
            raise ItemError("AIDA marks mentions with [[ and ]], and would confuse them with the brackets of this text")
        return Request("POST", self.url, data={"text": marked, "tag_mode": "manual", "tech": self.tech})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the best entity of the mention; offsets are in UTF-16 units of the text without the brackets."""
        reply = response.json()
        span = locate_in_utf16(snippet.text, snippet.start, snippet.end)
        mention = next((one for one in reply["mentions"] if (one["offset"], one["length"]) == span), None)
        if mention is None:
            return self.skip(snippet)
        best = mention.get("bestEntity")
        if best is None:
            # This is an explicit NIL: no candidate reached the threshold. (GERBIL's adapter drops it.)
            return self.nil(snippet)
        metadata = reply.get("entityMetadata") or {}
        candidates = [
            Candidate(answer=_read_id(entity, metadata), score=_read_score(entity))
            for entity in mention.get("allEntities") or ()
        ]
        candidates.sort(key=lambda candidate: -math.inf if candidate.score is None else candidate.score, reverse=True)
        return self.answer(snippet, _read_id(best, metadata), _read_score(best), candidates)


def _read_id(entity: Mapping[str, str], metadata: Mapping[str, Any]) -> str:
    """Returns the YAGO id, in which our resolver decodes `\\uXXXX`, or the article, or another id."""
    identifier = entity["kbIdentifier"]
    if identifier.startswith("YAGO:"):
        return identifier
    return (metadata.get(identifier) or {}).get("url") or identifier


def _read_score(entity: Mapping[str, str]) -> float | None:
    """Parses the score, which Java formats as `1,234.5`; None if it is not a number."""
    text = entity["disambiguationScore"]
    return None if text in {"NaN", "\ufffd", "∞", "-∞"} else float(text.replace(",", ""))
