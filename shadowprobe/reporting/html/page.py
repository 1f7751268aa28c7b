"""The report of runs of any kind: the verdicts, the tables, the figures and a browser of every item in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadowprobe.base.files import make_directory, write_pieces
from shadowprobe.errors import ShadowprobeError, UsageError
from shadowprobe.reporting.html.parts import Browser, compose_page
from shadowprobe.running.directory import Kind
from shadowprobe.running.finished import FinishedRun, check_comparable

if TYPE_CHECKING:
    from shadowprobe.running.comparison import Comparison

REPORT = "report.html"
BROWSERS: dict[Kind, Browser] = {
    "linker": Browser(
        "mentions", {"outcome": "Outcome", "subset": "Subset"}, "name, text, entity", styles=("report.css",)
    ),
    "retriever": Browser(
        "sets",
        {"outcome": "Outcome", "collection": "Collection", "task": "Task", "group": "About"},
        "name, query, title",
    ),
    "reader": Browser("answers", {}, "name, text, answer"),
    "model": Browser("answers", {"category": "Category"}, "name, text, answer"),
}
# The figures of each kind of runs with their captions.
FIGURES: dict[Kind, dict[str, str]] = {
    "linker": {
        "overshadowing": "How often the name alone decides (Fig. 4)",
        "outcomes": "Is the answer the prior? (Table 4)",
        "confidence": "Scores in each subset (Fig. 5)",
    },
    "retriever": {
        "head-tail": "Is the right document found, of head and tail? (AmbER, Table 5)",
        "confusion": "Does a namesake stand above it? (AmbER, Table 6)",
        "retrieval-gap": "Head minus tail, by the gap in popularity (AmbER, Fig. 4)",
        "long-tail": "How popular the entities of the sets are (AmbER, Fig. 2)",
        "questions": "Are simple questions answered? By relation (EntityQuestions, Table 5)",
        "question-buckets": "By how frequent the subject is (EntityQuestions, Fig. 1)",
    },
    "reader": {},
    "model": {
        "answer-categories": "What kind of answers are they? (AmbigDocs)",
        "answer-positions": "Is the first document favoured? (AmbigDocs)",
    },
}


def write_report(
    runs: Sequence[FinishedRun],
    out: Path | None = None,
    *,
    dataset: str | None = None,
    queries: Path | None = None,
    published: bool = False,
    force: bool = False,
) -> Path:
    """Writes the report of runs of one kind, and returns where: in the run, or here where there are several.

    `dataset` and `queries` say where the data of retrievers and language models is, if not where it was.
    """
    kind = runs[0].kind
    if published and kind not in {"retriever", "reader"}:
        raise UsageError(
            "--published: goes with runs of retrievers and readers; `shadowprobe table 3 --published` is for linkers"
        )
    if queries is not None and kind == "linker":
        raise UsageError("--queries: goes with runs of retrievers and language models; linkers have a --dataset")
    if dataset is not None and kind == "model":
        raise UsageError("--dataset: goes with runs of linkers and retrievers; --queries is for language models")
    path = out or (runs[0].path / REPORT if len(runs) == 1 else Path(REPORT))
    if path.is_dir():
        raise UsageError(f"{path} is a directory; --out names a file")
    if path.exists() and not force:
        raise UsageError(f"{path} exists; give another --out, or --force to write over it")
    pieces = compose(runs, dataset, queries, published=published)
    make_directory(path.parent)
    write_pieces(path, (piece.encode() for piece in pieces))
    return path


def page(
    runs: Sequence[FinishedRun], dataset: str | None = None, queries: Path | None = None, *, published: bool = False
) -> str:
    """The whole file as text."""
    return "".join(compose(runs, dataset, queries, published=published))


def compose(
    runs: Sequence[FinishedRun], dataset: str | None = None, queries: Path | None = None, *, published: bool = False
) -> Iterator[str]:
    """The file in pieces; without the browser where the queries of retrievers or language models cannot be found."""
    check_comparable(runs)
    kind = runs[0].kind
    comparison = _compare(runs, dataset, queries) if len(runs) > 1 else None
    data, reason = None, ""
    try:
        data = _pack(runs, dataset, queries)
    except ShadowprobeError as error:
        # What a user names must be right; what is only looked for may have gone. Linkers are nothing without it.
        if kind == "linker" or dataset is not None or queries is not None:
            raise
        reason = str(error)
    # All that the page needs of them is in its data now, and the figures need their memory.
    for run in runs:
        run.forget_data()
    return compose_page(
        runs, BROWSERS[kind], data, FIGURES[kind], comparison=comparison, no_browser=reason, published=published
    )


def _compare(runs: Sequence[FinishedRun], dataset: str | None, queries: Path | None) -> Comparison | None:
    """The paired differences; None where the data of retrievers or language models cannot be found."""
    from shadowprobe.running.comparison import compare

    try:
        return compare(runs, collection=dataset, queries=queries)
    except ShadowprobeError:
        # What is missing is said where the queries would be.
        if runs[0].kind == "linker":
            raise
        return None


def _pack(runs: Sequence[FinishedRun], dataset: str | None, queries: Path | None) -> dict[str, Any]:
    """What the browser shows of runs of one kind; the modules for the other kinds are not imported."""
    if runs[0].kind == "retriever":
        from shadowprobe.reporting.html.sets_data import pack_sets

        return pack_sets(runs, dataset, queries)
    if runs[0].kind == "reader":
        raise UsageError("answers.jsonl of each run has them")
    if runs[0].kind == "model":
        from shadowprobe.reporting.html.answers_data import pack_answers

        return pack_answers(runs, queries)
    from shadowprobe.reporting.html.data import pack_mentions

    return pack_mentions(runs)
