"""What WAT and TagMe share: both come from Pisa, stand at D4Science and answer in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from shadowprobe import ItemError, Prediction, Snippet, WebLinker
from shadowprobe.offsets import LAST_OF_BMP, is_astral

if TYPE_CHECKING:
    import httpx

STAND_IN = "\N{REPLACEMENT CHARACTER}"


class Annotation(Struct):
    """One linked span: `id` is the page id in the Wikipedia of the language asked for, `rho` the confidence."""

    start: int
    end: int
    id: int | None = None
    title: str | None = None
    rho: float | None = None


class Answer(Struct):
    """What both services send back; whatever else stands in it is not read."""

    annotations: list[Annotation]


class D4ScienceLinker(WebLinker):
    """Base of the two: of all annotations that come back, those exactly on the mention are its answer."""

    needs_token = True

    def text_of(self, snippet: Snippet) -> str:
        """The text to send, in which code points and UTF-16 units count alike."""
        # Which of the two the services count is not known. One character for one, both are right.
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
        """The annotation on the mention; neither service has a word for NIL, so that without one it is skipped."""
        found = [
            annotation
            for annotation in msgspec.json.decode(response.content, type=Answer).annotations
            # An annotation may come without a title, and then links to nothing.
            if (annotation.start, annotation.end) == (snippet.start, snippet.end) and (annotation.title or "").strip()
        ]
        if not found:
            return self.skip(snippet)
        best = max(found, key=lambda annotation: annotation.rho or 0.0)
        return self.answer(snippet, best.title or "", best.rho, page_id=best.id)
