"""Answers that were given before: a predictions file in place of a system."""

from __future__ import annotations

from pathlib import Path

from shadowprobe import Failure, InputError, Linker, Prediction, Snippet
from shadowprobe.answers import fault
from shadowprobe.jsonl import read_lines


class ReplayLinker(Linker):
    """The answers of a stored predictions file, by snippet id; `-o file=PREDICTIONS.jsonl`.

    For a system that cannot be run here, or not again: what it once answered is measured, compared and served as if
    it answered now. A snippet that the file lacks is a failure. Two snippets of one text and one gold are asked once,
    and get what the file has for the first.
    """

    name = "replay"
    needs = "a predictions file: -o file=PREDICTIONS.jsonl"
    # The gold is not looked at, but snippets that differ in it alone must be asked for apart: the stored system may
    # have been one that saw it.
    sees_gold = True

    def __init__(self, file: Path) -> None:
        self.file = file

    def setup(self) -> None:
        """Reads the file; a line that cannot be is refused before anything is answered."""
        self.stored: dict[str, Prediction] = {}
        for line, prediction in read_lines(self.file, Prediction):
            problem = fault(prediction)
            if problem is None and prediction.id in self.stored:
                problem = "id", f"{prediction.id!r} is answered twice"
            if problem is not None:
                raise InputError(self.file, problem[1], line=line, field=problem[0])
            self.stored[prediction.id] = prediction

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Looks each snippet up."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction | Failure:
        return self.stored.get(snippet.id) or self.fail(snippet, f"{self.file} has no answer to {snippet.id!r}")
