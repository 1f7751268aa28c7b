"""AGDISTIS and its successor MAG: the mention goes out in `<entity>` tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from shadowprobe import ItemError, Prediction, Request, Snippet, WebLinker
from shadowprobe.identity import is_nil
from shadowprobe.masking import place
from shadowprobe.offsets import to_utf16

if TYPE_CHECKING:
    import httpx

OPEN, CLOSE = "<entity>", "</entity>"


class Mention(msgspec.Struct):
    """A mention in an answer; `namedEntity` is not read, since of `AC/DC` it holds only what follows the slash."""

    start: int
    # Its length, whatever the service calls it.
    length: int = msgspec.field(name="offset")
    url: str | None = msgspec.field(name="disambiguatedURL")


class AgdistisLinker(WebLinker):
    """AGDISTIS/MAG: candidates by string similarity, ranked by HITS or PageRank on the knowledge graph.

    Usbeck et al. (2014), AGDISTIS: Graph-Based Disambiguation of Named Entities Using Linked Data; Moussallem, Usbeck,
    Röder, Ngonga Ngomo (2017), MAG: A Multilingual, Knowledge-base Agnostic and Deterministic Entity Linking Approach.
    Returns a DBpedia URI (from some servers a Wikidata one) or an explicit NIL, and no score. The other mentions of a
    text are most of its context: one mention a request, as here, leaves it little but the name.
    """

    name = "agdistis"
    needs = "nothing: the public service, or -o url=http://HOST:PORT/AGDISTIS"
    endpoint = "http://porque.cs.upb.de:80/mag/en"

    def request(self, snippet: Snippet) -> Request:
        """The text with tags around the mention."""
        text = snippet.text
        if OPEN in text or CLOSE in text:
            raise ItemError(f"the text itself holds {OPEN} or {CLOSE}, which the service would take for a mention")
        tagged = f"{text[: snippet.start]}{OPEN}{snippet.mention}{CLOSE}{text[snippet.end :]}"
        return Request("POST", self.url, data={"text": tagged, "type": "agdistis"})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """The URI on the mention's span, in UTF-16 units of the text without the tags."""
        # A request that it cannot serve gets this, and a status of 200.
        if response.text.startswith("ERROR"):
            raise ItemError(
                f"{place(self.url)} is no AGDISTIS that takes marked text: it answers {response.text[:40]!r}"
            )
        start = to_utf16(snippet.text, snippet.start)
        length = to_utf16(snippet.text, snippet.end) - start
        for mention in msgspec.json.decode(response.content, type=list[Mention]):
            if (mention.start, mention.length) == (start, length):
                # http://aksw.org/notInWiki/NAME, or null: both say that there is no entity.
                if mention.url is None or is_nil(mention.url):
                    return self.nil(snippet)
                return self.answer(snippet, mention.url)
        return self.skip(snippet)
