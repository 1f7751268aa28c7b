"""Any annotator that GERBIL can ask: NIF in, NIF out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from shadowprobe import Candidate, ItemError, Prediction, Request, Snippet, WebLinker
from shadowprobe import nif as wire
from shadowprobe.identity import Resolver, is_nil, parse

if TYPE_CHECKING:
    import httpx

REQUEST = "http://shadowprobe.example/NifWebService/request_"
HEADERS = {"Content-Type": f"{wire.CONTENT_TYPE};charset=UTF-8", "Accept": wire.CONTENT_TYPE, "Accept-Charset": "UTF-8"}


class NifLinker(WebLinker):
    """A NIF annotator, as GERBIL asks it: the mention goes out as a phrase and comes back with its entity.

    Returns whatever URIs the annotator gives and its taConfidence, if it has one. A URI under
    http://aksw.org/notInWiki/ is an explicit NIL; a mention without a URI, or left out of the answer, is skipped.
    Of several URIs for one mention, which are names of one entity, one that the dataset knows is taken. Offsets go out
    in code points, by GERBIL's convention; an annotator that counts UTF-16 units finds another name than the one meant
    after an emoji.
    """

    name = "nif"
    needs = "the URL of a NIF annotator: -o url=http://HOST:PORT/PATH"
    howto = "shadowprobe serve --linker prior --port 8099    # one to try: -o url=http://127.0.0.1:8099/nif"

    def setup(self) -> None:
        """Learns which of two names for an entity the dataset knows."""
        super().setup()
        self.resolver = Resolver(self.knowledge.entities.values(), language=self.knowledge.language)

    def outgoing(self, snippet: Snippet) -> str:
        """The document."""
        # Its URI is made of its content: a number would depend on the order, and an id may give the subset away.
        digest = hashlib.sha256(f"{snippet.start} {snippet.end} {snippet.text}".encode()).hexdigest()[:16]
        phrase = wire.Phrase(snippet.start, snippet.end)
        return wire.to_turtle([wire.Document(f"{REQUEST}{digest}", snippet.text, (phrase,))])

    def request(self, snippet: Snippet) -> Request:
        """The document, under the headers that GERBIL sends."""
        return Request("POST", self.url, content=self.outgoing(snippet).encode(), headers=HEADERS)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """What the answer says of the phrase on the mention."""
        # Turtle is UTF-8, whatever the headers say.
        documents = wire.parse(response.content)
        for document in documents:
            if (span := self.place(document.text, snippet)) is not None:
                found = [phrase for phrase in document.phrases if phrase[:2] == span and phrase.uris]
                return self._prediction(snippet, found)
        other = repr(documents[0].text[:80]) if documents else "none at all"
        raise ItemError(f"the answer is not about the text that was sent, but about {other}")

    def place(self, text: str, snippet: Snippet) -> tuple[int, int] | None:
        """Where the mention stands in the text of an answer; None where that is another text."""
        # What follows the mention moves nothing: a service may well strip the text.
        same = text[: snippet.end] == snippet.text[: snippet.end]
        return (snippet.start, snippet.end) if same else None

    def _prediction(self, snippet: Snippet, phrases: list[wire.Phrase]) -> Prediction:
        # The most confident first; one without a confidence after those that have one.
        ranked = sorted(phrases, key=lambda phrase: (phrase.confidence is None, -(phrase.confidence or 0.0)))
        named = [self._candidate(phrase) for phrase in ranked]
        if not named:
            return self.skip(snippet)
        best, candidates = named[0], [candidate for candidate in named if candidate is not None]
        if best is None:
            return self.nil(snippet, ranked[0].confidence)
        # A single answer is no list of candidates: what else was considered is not known.
        return self.answer(snippet, best.answer or "", best.score, candidates if len(named) > 1 else (), qid=best.qid)

    def _candidate(self, phrase: wire.Phrase) -> Candidate | None:
        """The entity that a phrase's URIs name together; None where all of them say NIL."""
        uris = [uri for uri in phrase.uris if not is_nil(uri)]
        if not uris:
            return None
        known = [uri for uri in uris if self.resolver.resolve(uri).rule != "unresolved"]
        # A QID helps beside any title, in whatever language.
        qids = [qid for uri in uris if (qid := parse(uri).qid) is not None]
        return Candidate(answer=(known or uris)[0], qid=next(iter(qids), None), score=phrase.confidence)
