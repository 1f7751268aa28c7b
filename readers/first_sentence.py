"""The first sentence of the first document: the lower bound."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shadowprobe.retrieval import Reader, ReaderQuery

# The stop after an initial ends no sentence.
SENTENCE = re.compile(r".*?(?<!\b[A-Z])[.!?](?=\s|$)", re.DOTALL)


class FirstSentenceReader(Reader):
    """Reads nothing: answers with the first sentence of the first document, and holds every claim for true."""

    name = "first-sentence"

    def read(self, queries: Sequence[ReaderQuery]) -> list[str]:
        """The first label, or the first sentence."""
        return [query.labels[0] if query.labels else _cut_sentence(query.documents[0].text) for query in queries]


def _cut_sentence(text: str) -> str:
    found = SENTENCE.match(text)
    return found[0] if found else text
