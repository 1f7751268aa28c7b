"""The right answer: the upper bound, and a test that queries can be scored."""

from __future__ import annotations

from collections.abc import Sequence

from shadowprobe.retrieval import Reader, ReaderQuery


class OracleAnswerReader(Reader):
    """Is shown the right answers, and gives the first one; with `only_found=true` only if a right document is there.

    With `only_found=true` it is what a perfect reader could get out of the documents of a retriever.
    """

    name = "oracle-answer"
    sees_gold = True

    def __init__(self, only_found: bool = False) -> None:
        self.only_found = only_found

    def read(self, queries: Sequence[ReaderQuery]) -> list[str]:
        """The first right answer, or nothing."""
        return [query.answers[0] if query.found or not self.only_found else "" for query in queries]
