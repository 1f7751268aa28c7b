"""The nouns of retrieval as lines of a file: only what is known is written."""

from __future__ import annotations

import pytest
from msgspec import Struct

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.query import Document, Query, Ranking, ReaderAnswer, ReaderQuery


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (Document("a", "Avon", "A river."), b'{"id":"a","title":"Avon","text":"A river."}'),
        (
            Document("a", "Avon", "", qid="Q7", page="p"),
            b'{"id":"a","title":"Avon","text":"","qid":"Q7","page":"p"}',
        ),
        (Query("q", "Where?"), b'{"id":"q","text":"Where?"}'),
        (ReaderQuery("q", "Where?", task="qa"), b'{"id":"q","text":"Where?","task":"qa"}'),
        (ReaderQuery("q", "Where?", task="qa", found=True), b'{"id":"q","text":"Where?","task":"qa","found":true}'),
        (ReaderAnswer("q", ""), b'{"id":"q","answer":""}'),
        (ReaderAnswer("q", "", False), b'{"id":"q","answer":"","found":false}'),
        (Ranking("q", ()), b'{"id":"q","documents":[]}'),
        (Ranking("q", ("a",), (0.5,)), b'{"id":"q","documents":["a"],"scores":[0.5]}'),
    ],
)
def test_a_line_has_what_is_known_and_nothing_else(item: Struct, line: bytes) -> None:
    assert encode_lines([item]) == line + b"\n"
