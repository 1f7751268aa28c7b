"""A linker that reads clues in the text of the hand-made world, and runs of it with variants of the snippets."""

from __future__ import annotations

from pathlib import Path

from shadowprobe import Dataset, Linker, Prediction, Settings, Snippet, run
from shadowprobe.running.directory import Results

BOTH = Settings(also=("context_length", "masked_mention"))


class Clues(Linker):
    """The river where it reads of anglers or a mill, the ship where it reads of masts, else NIL."""

    name = "clues"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.asked += [snippet.id for snippet in snippets]
        return [self._one(snippet) for snippet in snippets]

    def _one(self, snippet: Snippet) -> Prediction:
        found = self.knowledge.candidates_of(snippet)
        if "mill" in snippet.text:
            return self.answer(snippet, found[0])
        return self.answer(snippet, found[1]) if "masts" in snippet.text else self.nil(snippet)


def results_of(world: Dataset, tmp_path: Path, settings: Settings = BOTH) -> Results:
    """The results of a run of it."""
    return run(Clues(), world, out=tmp_path / "run", settings=settings)
