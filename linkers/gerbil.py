"""GERBIL, which cannot be asked for answers: the way to what it can do."""

from __future__ import annotations

from shadowprobe import Linker, LinkerError, Prediction, Snippet


class GerbilLinker(Linker):
    """No linker but a benchmark: GERBIL returns totals only.

    It runs its own annotators over an uploaded dataset and shows precision, recall and F1. What an annotator said of a
    snippet stays with it, and every probe asks just that.
    """

    name = "gerbil"
    needs = "not possible: GERBIL returns totals only; use `shadowprobe gerbil run`"
    howto = (
        "shadowprobe gerbil run --annotator NAME --dataset DATASET --url URL\n"
        "shadowprobe run --linker nif -o url=URL --dataset DATASET"
    )

    def __init__(self, url: str = "", annotator: str = "") -> None:
        # Taken so that whoever gives them is told the way, and not that there are no such options.
        self.url, self.annotator = url, annotator

    def setup(self) -> None:
        """Says what to do instead."""
        raise LinkerError(
            "GERBIL returns totals and no answers, so no probe can be asked of it: `shadowprobe gerbil run"
            " --annotator NAME --dataset D --url URL` gives Table 3; a system with a NIF service can be asked:"
            " --linker nif -o url=..."
        )

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Never gets so far."""
        raise NotImplementedError("GERBIL gives no answers")
