"""The report of runs of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shadowprobe.errors import UsageError
from shadowprobe.report.html import answers_page, page, retrieval_page
from shadowprobe.report.html.parts import write_page
from shadowprobe.retrieval.measured import read_measured
from shadowprobe.run_kinds import kind_of_all
from shadowprobe.runs import read_runs


def write_report_of(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    dataset: str | None = None,
    queries: Path | None = None,
    names: Sequence[str] = (),
    published: bool = False,
    force: bool = False,
) -> Path:
    """Writes the report of runs of one kind, and returns where; `dataset` may be the collection of retrievers."""
    kind = kind_of_all(paths)
    if published and kind != "retriever":
        raise UsageError("--published: goes with runs of retrievers; `shadowprobe table 3 --published` is for linkers")
    if kind == "linker":
        if queries is not None:
            raise UsageError("--queries: goes with runs of retrievers and language models; linkers have a --dataset")
        return page.write_report(read_runs(paths, dataset, names), out, force=force)
    runs = read_measured(paths, kind, "this report", names)
    if kind == "retriever":
        return write_page(
            paths, lambda: retrieval_page.page(runs, dataset, queries, published=published), out, force=force
        )
    if dataset is not None:
        raise UsageError("--dataset: goes with runs of linkers and retrievers; --queries is for language models")
    return write_page(paths, lambda: answers_page.page(runs, queries), out, force=force)
