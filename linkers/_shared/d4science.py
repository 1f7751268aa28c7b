"""The base of WAT and TagMe: both come from Pisa, run at D4Science and have the same response format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from shadowprobe import ItemError, Prediction, Snippet, WebLinker
from shadowprobe.base.offsets import LAST_OF_BMP, is_astral
from shadowprobe.formats.fields import Score, parse_score

if TYPE_CHECKING:
    import httpx

STAND_IN = "\N{REPLACEMENT CHARACTER}"
# The same token works for both.
TOKEN_SOURCE = "free for WAT and TagMe at https://sobigdata.d4science.org/web/tagme"
REGISTER = f"# get a token, {TOKEN_SOURCE}"


class Annotation(Struct):
    """A linked span: `id` is the page id in the Wikipedia of the requested language, `rho` the confidence.

    TagMe writes `rho` as text in some responses.
    """

    start: int
    end: int
    id: int | None = None
    title: str | None = None
    rho: Score = None


class AnnotationReply(Struct):
    """The response of both services; its other fields are not read."""

    annotations: list[Annotation]


class D4ScienceLinker(WebLinker):
    """Base of the two: only annotations with exactly the span of the mention count as its answer."""

    needs_token = True
    token_source = TOKEN_SOURCE

    def replace_astral(self, snippet: Snippet) -> str:
        """Returns the text to send; in it, code points and UTF-16 units give the same offsets."""
        # It is not known which of the two the services count.
        if not is_astral(snippet.text):
            return snippet.text
        if is_astral(snippet.mention):
            raise ItemError(
                f"the mention {snippet.mention!r} has characters beyond the BMP,"
                f" and it is not known whether `{self.name}` counts such a character as one or as two"
            )
        self.note(
            f"characters beyond the BMP, such as emoji, were sent as U+{ord(STAND_IN):04X}:"
            f" it is not known how `{self.name}` counts them"
        )
        return "".join(STAND_IN if character > LAST_OF_BMP else character for character in snippet.text)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the annotation on the mention; neither service has NIL, so a mention without one is skipped."""
        annotations = [
            annotation
            for annotation in msgspec.json.decode(response.content, type=AnnotationReply).annotations
            # An annotation without a title links to nothing.
            if (annotation.start, annotation.end) == (snippet.start, snippet.end) and (annotation.title or "").strip()
        ]
        if not annotations:
            return self.skip(snippet)
        best = max(annotations, key=lambda annotation: parse_score(annotation.rho) or 0.0)
        return self.answer(snippet, best.title or "", parse_score(best.rho), page_id=best.id)
