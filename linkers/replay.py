"""Stored answers: a predictions file instead of a system."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from shadowprobe import Failure, InputError, Linker, Prediction, Snippet
from shadowprobe.base.prediction_file import read_predictions


class ReplayLinker(Linker):
    """The answers of a stored predictions file, by snippet id; `-o file=PREDICTIONS.jsonl`.

    For a system that cannot be run here or not again: its stored answers are measured, compared and served like new
    ones. A snippet that the file lacks is a failure. Two snippets with the same text and gold are linked once, and both
    get the file's answer to the first.
    """

    name = "replay"
    needs = "a predictions file: -o file=PREDICTIONS.jsonl"
    # The gold is not used here. But snippets that differ only in it must be linked separately, because the stored
    # system may have used it.
    sees_gold = True
    option_help: ClassVar[dict[str, str]] = {
        "file": "the predictions: JSON lines, .csv or .tsv",
    }

    def __init__(self, file: Path) -> None:
        self.file = file

    def setup(self) -> None:
        """Reads the file, and refuses an invalid line before the first answer."""
        self.stored: dict[str, Prediction] = {}
        for line, prediction in read_predictions(self.file):
            problem = prediction.find_problem()
            if problem is None and prediction.id in self.stored:
                problem = "id", f"{prediction.id!r} is answered twice"
            if problem is not None:
                raise InputError(self.file, problem[1], line=line, field=problem[0])
            self.stored[prediction.id] = prediction

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Looks up each snippet."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction | Failure:
        return self.stored.get(snippet.id) or self.fail(snippet, f"{self.file} has no answer to {snippet.id!r}")
