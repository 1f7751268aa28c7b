"""Any annotator that works with GERBIL: it receives and returns NIF."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from shadowprobe import Candidate, ItemError, Prediction, Request, Snippet, WebLinker
from shadowprobe.base.identity import Resolver, is_nil, parse
from shadowprobe.formats import nif_documents
from shadowprobe.formats.nif_process import parse_in_time

if TYPE_CHECKING:
    import httpx

REQUEST = "http://shadowprobe.example/NifWebService/request_"
HEADERS = {
    "Content-Type": f"{nif_documents.CONTENT_TYPE};charset=UTF-8",
    "Accept": nif_documents.CONTENT_TYPE,
    "Accept-Charset": "UTF-8",
}


class NifLinker(WebLinker):
    """A NIF annotator with GERBIL's protocol: the mention is sent as a phrase and returned with its entity.

    Returns the URIs of the annotator and its taConfidence, if it has one. A URI under http://aksw.org/notInWiki/ is an
    explicit NIL. A mention without a URI, or one that is missing in the response, is skipped. Several URIs for one
    mention name the same entity, and one that the dataset knows is used. Offsets are sent in code points, by GERBIL's
    convention. An annotator that counts UTF-16 units reads another name after an emoji.
    """

    name = "nif"
    needs = "the URL of a NIF annotator: -o url=http://HOST:PORT/PATH"
    # A long document is parsed in a process of its own.
    parse_may_wait = True
    howto = "shadowprobe serve --linker prior --port 8099    # one to try: -o url=http://127.0.0.1:8099/nif"

    def setup(self) -> None:
        """Prepares the resolver that tells which URIs the dataset knows."""
        super().setup()
        self.resolver = Resolver(self.knowledge.entities.values(), language=self.knowledge.language)

    def outgoing(self, snippet: Snippet) -> str:
        """Writes the document."""
        # Its URI depends on its content: a number would depend on the order, and an id may reveal the subset.
        digest = hashlib.sha256(f"{snippet.start} {snippet.end} {snippet.text}".encode()).hexdigest()[:16]
        phrase = nif_documents.Phrase(snippet.start, snippet.end)
        return nif_documents.to_turtle([nif_documents.NifDocument(f"{REQUEST}{digest}", snippet.text, (phrase,))])

    def request(self, snippet: Snippet) -> Request:
        """Sends the document with GERBIL's headers."""
        return Request("POST", self.url, content=self.outgoing(snippet).encode(), headers=HEADERS)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the phrase on the mention."""
        # Turtle is always UTF-8, even if the headers name another charset.
        documents = parse_in_time(response.content, self.timeout - response.elapsed.total_seconds())
        for document in documents:
            if (span := self.locate_mention(document.text, snippet)) is not None:
                phrases = [phrase for phrase in document.phrases if phrase[:2] == span and phrase.uris]
                return self._make_prediction(snippet, phrases)
        other = repr(documents[0].text[:80]) if documents else "none at all"
        raise ItemError(f"the answer is not about the text that was sent, but about {other}")

    def locate_mention(self, text: str, snippet: Snippet) -> tuple[int, int] | None:
        """Returns the span of the mention in the text of a response; None if that is another text."""
        # The text after the mention may differ, because some services strip it.
        is_same = text[: snippet.end] == snippet.text[: snippet.end]
        return (snippet.start, snippet.end) if is_same else None

    def _make_prediction(self, snippet: Snippet, phrases: list[nif_documents.Phrase]) -> Prediction:
        # The most confident phrase comes first, and those without a confidence last.
        ranked = sorted(phrases, key=lambda phrase: (phrase.confidence is None, -(phrase.confidence or 0.0)))
        entities = [self._make_candidate(phrase) for phrase in ranked]
        if not entities:
            return self.skip(snippet)
        best, candidates = entities[0], [entity for entity in entities if entity is not None]
        if best is None:
            return self.nil(snippet, ranked[0].confidence)
        # A single answer is not a list of candidates: the other candidates are not known.
        listed = candidates if len(entities) > 1 else ()
        return self.answer(snippet, best.answer or "", best.score, listed, qid=best.qid)

    def _make_candidate(self, phrase: nif_documents.Phrase) -> Candidate | None:
        """Makes one entity from the URIs of a phrase; None if all of them mean NIL."""
        uris = [uri for uri in (*phrase.uris, *phrase.same_as) if not is_nil(uri)]
        if not uris:
            return None
        known = [uri for uri in uris if self.resolver.resolve(uri).rule != "unresolved"]
        # A QID is useful in addition to a title in any language.
        qids = [qid for uri in uris if (qid := parse(uri).qid) is not None]
        return Candidate(answer=(known or uris)[0], qid=next(iter(qids), None), score=phrase.confidence)
