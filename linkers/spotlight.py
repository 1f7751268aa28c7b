"""DBpedia Spotlight's `/disambiguate`: the mention is sent in a small XML document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from shadowprobe import Prediction, Request, Snippet, WebLinker
from shadowprobe.base.offsets import to_utf16

if TYPE_CHECKING:
    import httpx

# The service counts offsets in the escaped attributes, where `&amp;` has five characters. A character that must be
# escaped would move every later offset, so it is replaced by another one. Line ends become one space each (XML reads
# CR LF as one), and so do characters that XML does not allow.
HARMLESS = {
    **dict.fromkeys([*range(0x20), 0xFFFE, 0xFFFF], " "),
    **str.maketrans({"&": "+", "<": "(", ">": ")", '"': "'"}),
}


class Resource(msgspec.Struct):
    """An entity in a response; the score is a softmax over the candidates and NIL, from 0 to 1."""

    uri: str = msgspec.field(name="@URI")
    surface_form: str = msgspec.field(name="@surfaceForm")
    offset: int = msgspec.field(name="@offset")
    score: float = msgspec.field(name="@similarityScore")


class SpotlightReply(msgspec.Struct):
    """A response; `Resources` is missing if nothing was found, `@text` is always there."""

    text: str = msgspec.field(name="@text")
    resources: list[Resource] = msgspec.field(name="Resources", default_factory=list)


class SpotlightLinker(WebLinker):
    """DBpedia Spotlight: a generative model of name, context and prior.

    Daiber, Jakob, Hokamp, Mendes (2013), Improving Efficiency and Accuracy in Multilingual Entity Extraction.
    Returns a DBpedia URI and a score. Never answers NIL: a mention for which NIL scores best is missing from the
    response, and counts as skipped. Considers only the ten candidates with the highest prior, and about 200 tokens of a
    long text. A model of another language has its own address: `-o url=...`.
    """

    name = "spotlight"
    needs = "nothing: the public service, or -o url=http://HOST:2222/rest/disambiguate"
    endpoint = "https://api.dbpedia-spotlight.org/en/disambiguate"

    def request(self, snippet: Snippet) -> Request:
        """Sends the text as an attribute, and one surface form with its offset in UTF-16 units."""
        mention = snippet.mention.translate(HARMLESS)
        if mention != snippet.mention:
            self.note("Spotlight cannot be asked for a name with & < > or a double quote; + ( ) ' were sent instead")
        offset = to_utf16(snippet.text, snippet.start)
        xml = (
            f'<annotation text="{snippet.text.translate(HARMLESS)}">'
            f'<surfaceForm name="{mention}" offset="{offset}"/></annotation>'
        )
        # Without a confidence the service drops all scores below 0.5.
        return Request("POST", self.url, data={"text": xml, "confidence": "0"}, headers={"Accept": "application/json"})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the best entity on the mention's span; the service may give several for one offset."""
        # Not strict, because numbers are strings.
        reply = msgspec.json.decode(response.content, type=SpotlightReply, strict=False)
        span = to_utf16(snippet.text, snippet.start), to_utf16(snippet.text, snippet.end)
        # Lengths are compared instead of names, because the service may return a name in another case.
        resources = [r for r in reply.resources if (r.offset, r.offset + _count_units(r.surface_form)) == span]
        if not resources:
            return self.skip(snippet)
        best = max(resources, key=lambda resource: resource.score)
        return self.answer(snippet, best.uri, best.score)


def _count_units(text: str) -> int:
    return to_utf16(text, len(text))
