"""AGDISTIS and its successor MAG: the mention goes out in `<entity>` tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from shadowprobe import ItemError, Prediction, Request, Snippet, WebLinker
from shadowprobe.base.identity import is_nil
from shadowprobe.base.offsets import locate_in_utf16
from shadowprobe.base.secrets import shorten_url

if TYPE_CHECKING:
    import httpx

OPEN, CLOSE = "<entity>", "</entity>"


class AgdistisMention(msgspec.Struct):
    """A mention in a response; `namedEntity` is not read, because for `AC/DC` it has only the part after the slash."""

    start: int
    # The service calls the length `offset`.
    length: int = msgspec.field(name="offset")
    url: str | None = msgspec.field(name="disambiguatedURL")


class AgdistisLinker(WebLinker):
    """AGDISTIS/MAG: candidates by string similarity, ranked by HITS or PageRank on the knowledge graph.

    Usbeck et al. (2014), AGDISTIS: Graph-Based Disambiguation of Named Entities Using Linked Data; Moussallem, Usbeck,
    Röder, Ngonga Ngomo (2017), MAG: A Multilingual, Knowledge-base Agnostic and Deterministic Entity Linking Approach.
    Returns a DBpedia URI (from some servers a Wikidata one) or an explicit NIL, and no score. The other mentions of a
    text are most of its context: with one mention per request, as here, it has little more than the name.
    """

    name = "agdistis"
    needs = "nothing: the public service, or -o url=http://HOST:PORT/AGDISTIS"
    endpoint = "http://porque.cs.upb.de:80/mag/en"

    def request(self, snippet: Snippet) -> Request:
        """Sends the text with tags around the mention."""
        text = snippet.text
        if OPEN in text or CLOSE in text:
            raise ItemError(f"the text contains {OPEN} or {CLOSE}, which the service would read as a mention")
        tagged = f"{text[: snippet.start]}{OPEN}{snippet.mention}{CLOSE}{text[snippet.end :]}"
        return Request("POST", self.url, data={"text": tagged, "type": "agdistis"})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the URI on the mention's span, in UTF-16 units of the text without the tags."""
        # The service answers a bad request with this text and status 200.
        if response.text.startswith("ERROR"):
            where = shorten_url(self.url)
            raise ItemError(f"{where} is not an AGDISTIS that accepts marked text: it answers {response.text[:40]!r}")
        span = locate_in_utf16(snippet.text, snippet.start, snippet.end)
        for mention in msgspec.json.decode(response.content, type=list[AgdistisMention]):
            if (mention.start, mention.length) == span:
                # http://aksw.org/notInWiki/NAME and null both mean NIL.
                if mention.url is None or is_nil(mention.url):
                    return self.nil(snippet)
                return self.answer(snippet, mention.url)
        return self.skip(snippet)
