"""REL, the Radboud Entity Linker, by its web API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from shadowprobe import ItemError, Prediction, Request, Snippet, WebLinker

if TYPE_CHECKING:
    import httpx

# Start, length, surface, title, confidence of the link, confidence of the mention, tag of the mention.
# The FastAPI server with pydantic 1 converts text that looks like a number: the article "1984" arrives as 1984.
Row = tuple[int, int, str | int, str | int, float, float, str]


class RelLinker(WebLinker):
    """REL by its public API or a server of your own; mentions are given, entities are Wikipedia titles.

    Van Hulst, Hasibi, Dercksen, Balog and de Vries: REL: An Entity Linker Standing on the Shoulders of Giants
    (SIGIR 2020). A local server: `python -m REL.server DIR wiki_2019`, then `-o url=http://localhost:5555`. The release
    on PyPI, 0.0.1, has the server of 2020, which keeps a file open for each request. With the usual limit of 1024 it
    closes every connection after some 1000 snippets, so raise the limit before you start it.

    The same request works for both generations of its server: the handler of 2020 ignores `tagger`, and for the FastAPI
    server the field is optional and `/ne` another name of `/`. The tagger finds mentions in plain text and has no
    effect here, but a server that did not load `ner-fast` must be sent the one that it loaded:
    `-o tagger=ner-fast-with-lowercase`.

    What it cannot do: answer NIL. A mention without candidates, which is NIL for REL, and one whose start is in no
    sentence are both missing in its response, and both are skipped here. It gives no candidates. The server of 2020
    cuts the context of a mention after the first sentence at the wrong place.
    """

    name = "rel"
    needs = "nothing: the public service, or -o url=..."
    endpoint = "https://rel.cs.ru.nl/api"
    # Two packages that REL needs but no longer installs, and the limit of open files.
    howto = """\
python -m venv rel-environment
rel-environment/bin/pip install radboud-el gensim 'setuptools<81'
ulimit -n 65536
rel-environment/bin/python -m REL.server DIR wiki_2019    # DIR: `generic` and `wiki_2019` from http://gem.cs.ru.nl/"""
    option_help: ClassVar[dict[str, str]] = {
        "tagger": "the tagger that a server of your own has loaded",
    }

    def __init__(self, tagger: Literal["ner-fast", "ner-fast-with-lowercase"] | None = None, **web: Any) -> None:
        super().__init__(**web)
        self.tagger = tagger
        self._answered = self._graded = False

    def request(self, snippet: Snippet) -> Request:
        """Sends the text, and the mention as start and length in code points."""
        text, start, length = _unescape(snippet)
        # There is always a span: with an empty list REL chooses mentions itself.
        fields: dict[str, Any] = {"text": text, "spans": [[start, length]]}
        if self.tagger:
            fields["tagger"] = self.tagger
        return Request("POST", self.url, json=fields)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the row on the mention's span: a title with underscores, and a probability."""
        if response.content.startswith(b"HTTP/"):
            # The handler of 2020 sends status 200 before it starts to work. Its real status follows in the body.
            raise ItemError(f"REL failed on this text: {response.text.splitlines()[0]} after a status of 200")
        _, start, length = _unescape(snippet)
        for row in msgspec.json.decode(response.content, type=list[Row]):
            if row[:2] == (start, length):
                self._answered, self._graded = True, self._graded or 0 < row[4] < 1
                return self.answer(snippet, str(row[3]), row[4])
        return self.skip(snippet)

    def close(self) -> None:
        """Adds a note if the scores contain no information."""
        super().close()
        # A logistic regression gives fractions. Without `lr_model.pkl` REL gives 0.0 instead, and the FastAPI server
        # with pydantic 1 removes every fraction.
        if self._answered and not self._graded:
            self.note("REL gave no confidence: every score of this run is exactly 0 or 1 and says nothing")


def _unescape(snippet: Snippet) -> tuple[str, int, int]:
    """Returns text, start and length without `&amp;`, which the handler of 2020 replaces without moving the span."""
    before, mention, after = (
        _replace_references(part)
        for part in (snippet.text[: snippet.start], snippet.mention, snippet.text[snippet.end :])
    )
    text = before + mention + after
    if "&amp;" in text:
        raise ItemError("the mention begins or ends inside an `&amp;`, which REL would replace and miss the mention")
    return text, len(before), len(mention)


def _replace_references(text: str) -> str:
    # This is repeated until none is left, because the server also replaces the rest of `&amp;amp;`.
    while "&amp;" in text:
        text = text.replace("&amp;", "&")
    return text
