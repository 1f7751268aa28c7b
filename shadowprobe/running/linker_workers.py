"""A linker in several workers: each worker loads the linker once, and links some batches at a time.

The batches are those of a run in one process, and their results come in the same order. So the predictions are the
same for any number of workers, if the linker gives the same answer to the same batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from shadowprobe import plugins
from shadowprobe.base.model import Snippet
from shadowprobe.compute.executor import Executor
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import UsageError
from shadowprobe.systems.calling import check_given, link_in_parts, open_linker
from shadowprobe.systems.linker import Given, Linker

# Batches that a worker gets at once: sending them takes time too.
BATCHES = 8


class LinkerSource(NamedTuple):
    """How a worker makes the linker: its name and options, and the dataset that it may know."""

    name: str
    options: tuple[tuple[str, str], ...]
    dataset: Path
    digest: str
    limit: int | None


def link_on_workers(
    executor: Executor, source: LinkerSource, linker: Linker, snippets: Iterator[Snippet], batch_size: int
) -> Iterator[dict[str, Given]]:
    """Links snippets on the workers; yields what each batch gives in order, and passes the notes to this linker."""
    batches = iter(lambda: list(islice(snippets, batch_size)), [])
    parts: Iterable[list[list[Snippet]]] = iter(lambda: list(islice(batches, BATCHES)), [])
    for linked, notes in executor.map(partial(link_part, source), parts):
        for note in notes:
            linker.note(note)
        for given in linked:
            # What comes from another process is written as it would be here only after it is read again.
            yield {snippet_id: check_given(answer) for snippet_id, answer in given.items()}


def link_part(source: LinkerSource, batches: list[list[Snippet]]) -> tuple[list[dict[str, Given]], list[str]]:
    """Links some batches with the linker of this worker; returns what it gives, and its notes so far."""
    linker = _get_linker(source)
    given = [answers for batch in batches for answers in link_in_parts(linker, batch)]
    return given, list(linker.notes)


@lru_cache(1)
def _get_linker(source: LinkerSource) -> Linker:
    dataset = Dataset.read(source.dataset)
    if dataset.digest != source.digest:
        raise UsageError(f"{source.dataset}: a worker has another dataset there; all machines need the same one")
    linker = plugins.make_linker(source.name, dict(source.options))
    open_linker(linker, (dataset if source.limit is None else dataset.first(source.limit)).knowledge)
    return linker


def refuse_for_workers(named: Linker | str, linker: Linker) -> None:
    """Refuses a linker that workers cannot make, and one that sends many requests at once by itself."""
    if not isinstance(named, str):
        raise UsageError("an executor goes with a linker by name: a worker has to make its own")
    if linker.streams:
        raise UsageError(f"--workers: `{linker.name}` asks a service; -o concurrency=N sends N requests at a time")
