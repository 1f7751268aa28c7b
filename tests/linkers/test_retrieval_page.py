"""The table of retrievers in the documentation, made again by the command that stands beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shadowprobe.running.retrieving import make_retrieving_job

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "retrieval.md").read_text(encoding="utf-8")
RETRIEVERS = ["tfidf", "bm25", "linker:blend", "linker:prior"]


def rate(found: dict[str, Any]) -> str:
    low, high = (f"{100 * bound:.0f}" for bound in found["ci95"])
    return f"{100 * found['rate']:.1f} ({low}–{high})"


def page_row(retriever: str, out: Path) -> str:
    """The line that the page should have for a retriever."""
    found = (
        make_retrieving_job(retriever, probes=("amber",), out=out).run().results["probes"]["amber"]["nonhuman"]["qa"]
    )
    low, high = (f"{100 * bound:+.0f}" for bound in found["gap"]["ci95"])
    cells = [
        *(rate(found["accuracy"]["1"][group]) for group in ("head", "tail")),
        f"{100 * found['gap']['difference']:+.1f} ({low} to {high})",
        rate(found["all_correct"]["1"]),
        *(rate(found["confusion"][group]) for group in ("head", "tail")),
    ]
    return f"| `{retriever}` | {' | '.join(cells)} |"


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_the_row_of_a_retriever_is_what_the_command_gives(retriever: str, tmp_path: Path) -> None:
    assert page_row(retriever, tmp_path / "run") in PAGE.splitlines()
