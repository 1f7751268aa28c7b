"""DBpedia Spotlight's `/disambiguate`: the mention goes out in a small XML document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from shadowprobe import Prediction, Request, Snippet, WebLinker
from shadowprobe.offsets import to_utf16

if TYPE_CHECKING:
    import httpx

# The service takes the attributes in their escaped form, where `&amp;` counts as five characters: what would have to
# be escaped moves every later offset, so it goes out as something of its own length. Line ends become one space each
# (XML reads CR LF as one), and so does what XML cannot hold at all.
HARMLESS = {
    **dict.fromkeys([*range(0x20), 0xFFFE, 0xFFFF], " "),
    **str.maketrans({"&": "+", "<": "(", ">": ")", '"': "'"}),
}


class Resource(msgspec.Struct):
    """An entity in an answer; the score is a softmax over the candidates and NIL, from 0 to 1."""

    uri: str = msgspec.field(name="@URI")
    surface_form: str = msgspec.field(name="@surfaceForm")
    offset: int = msgspec.field(name="@offset")
    score: float = msgspec.field(name="@similarityScore")


class Answer(msgspec.Struct):
    """An answer; `Resources` is absent where nothing was found, `@text` never is."""

    text: str = msgspec.field(name="@text")
    resources: list[Resource] = msgspec.field(name="Resources", default_factory=list)


class SpotlightLinker(WebLinker):
    """DBpedia Spotlight: a generative model of name, context and prior.

    Daiber, Jakob, Hokamp, Mendes (2013), Improving Efficiency and Accuracy in Multilingual Entity Extraction.
    Returns a DBpedia URI and a score. Never says NIL: a mention whose candidates all lose to its NIL option is missing
    from the answer, and counts as skipped. Considers the ten candidates of the highest prior and no others, and of a
    long text some 200 tokens. A model of another language has an address of its own: `-o url=...`.
    """

    name = "spotlight"
    needs = "nothing: the public service, or -o url=http://HOST:2222/rest/disambiguate"
    endpoint = "https://api.dbpedia-spotlight.org/en/disambiguate"

    def request(self, snippet: Snippet) -> Request:
        """The text as an attribute, and one surface form with its offset in UTF-16 units."""
        mention = snippet.mention.translate(HARMLESS)
        if mention != snippet.mention:
            self.note(
                "Spotlight cannot be asked for a name with & < > or a double quote; + ( ) ' went out in their place"
            )
        offset = to_utf16(snippet.text, snippet.start)
        xml = (
            f'<annotation text="{snippet.text.translate(HARMLESS)}">'
            f'<surfaceForm name="{mention}" offset="{offset}"/></annotation>'
        )
        # Without a confidence the service drops all that scores below 0.5.
        return Request("POST", self.url, data={"text": xml, "confidence": "0"}, headers={"Accept": "application/json"})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """The entity on the mention's span; the best one, since the service may give several for one offset."""
        # Not strict: numbers come as strings.
        answer = msgspec.json.decode(response.content, type=Answer, strict=False)
        span = to_utf16(snippet.text, snippet.start), to_utf16(snippet.text, snippet.end)
        # By length and not by name: a name that it knows only in other case comes back as it knows it.
        found = [r for r in answer.resources if (r.offset, r.offset + _units(r.surface_form)) == span]
        if not found:
            return self.skip(snippet)
        best = max(found, key=lambda resource: resource.score)
        return self.answer(snippet, best.uri, best.score)


def _units(text: str) -> int:
    return to_utf16(text, len(text))
