"""How the tests of wrappers ask: a linker opened, a few snippets put to it, and closed again."""

from __future__ import annotations

import httpx

from shadowprobe import Failure, Knowledge, Linker, Prediction, Request, Snippet, WebLinker


class Named(WebLinker):
    """A wrapper that takes the response as a title."""

    name = "named"

    def request(self, snippet: Snippet) -> Request:
        return Request("POST", self.url, json={"text": snippet.text})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        return self.answer(snippet, response.text)


def answers_of(linker: Linker, knowledge: Knowledge, *snippets: Snippet) -> list[Prediction | Failure]:
    """What a linker says of a few snippets, in their order."""
    linker.open(knowledge)
    try:
        found = {answer.id: answer for answer in linker.link(list(snippets))}
    finally:
        linker.close()
    return [found[snippet.id] for snippet in snippets]


def prediction_for(linker: Linker, knowledge: Knowledge, snippet: Snippet) -> Prediction:
    """What a linker says of one snippet on which it does not fail."""
    (answer,) = answers_of(linker, knowledge, snippet)
    assert isinstance(answer, Prediction), answer
    return answer


def error_for(linker: Linker, knowledge: Knowledge, snippet: Snippet) -> str:
    """What a linker says of one snippet on which it fails."""
    (answer,) = answers_of(linker, knowledge, snippet)
    assert isinstance(answer, Failure), answer
    return answer.error


def marked(text: str, snippet_id: str = "marked") -> Snippet:
    """A snippet of a text in which the mention stands in square brackets."""
    before, _, rest = text.partition("[")
    mention, _, after = rest.partition("]")
    return Snippet(snippet_id, "all", before + mention + after, len(before), len(before) + len(mention))
