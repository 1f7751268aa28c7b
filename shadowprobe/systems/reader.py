"""The base class that a reader derives from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from shadowprobe.base.model import Failure
from shadowprobe.errors import LinkerError
from shadowprobe.queries.query import Query, ReaderAnswer, ReaderQuery
from shadowprobe.systems.linker import System


class Reader(System):
    """A system under test: a query and some documents in, an answer out.

    A wrapper sets `name` and writes `read`; it may write `setup` and `close`, and `write` if it has a language model.
    Its options are the keyword arguments of its constructor, with types and defaults, as those of a linker.
    """

    batch_size: ClassVar[int] = 32
    # The tasks that it can do; queries of other tasks are left out.
    tasks: ClassVar[tuple[str, ...]] = ("fc", "sf", "qa")
    # Only a reader that says so is shown the right answers.
    sees_gold: ClassVar[bool] = False

    def setup(self) -> None:
        """Prepares the reader, before the first query."""

    def read(self, queries: Sequence[ReaderQuery]) -> Sequence[str | Failure | None]:
        """The answer to each query from its documents; a failure or None is repeated by the next run."""
        raise NotImplementedError(f"{type(self).__name__} must define read()")

    def write(self, prompts: Sequence[Query]) -> Sequence[str | Failure | None]:
        """The reply to each prompt, as it stands; only a reader that can continue any text has it."""
        raise NotImplementedError(f"{type(self).__name__} must define write()")


def can_write(reader: Reader) -> bool:
    """True for a reader that replies to any prompt."""
    return type(reader).write is not Reader.write


def make_answers(
    reader: Reader, queries: Sequence[ReaderQuery], given: Sequence[Any]
) -> Iterator[ReaderAnswer | Failure]:
    """The checked answer to each query, or why the reader has none."""
    for query, text in zip(queries, check_texts(reader, queries, given, "read"), strict=True):
        yield text if isinstance(text, Failure) else ReaderAnswer(query.id, " ".join(text.split()), query.found)


def check_texts(reader: Reader, queries: Sequence[Query], given: Sequence[Any], method: str) -> Iterator[str | Failure]:
    """The text that a method of a reader gave for each query, or why there is none."""
    if isinstance(given, str) or len(given) != len(queries):
        raise LinkerError(f"reader `{reader.name}` gave {len(given)} answers to {len(queries)} queries")
    for query, answer in zip(queries, given, strict=True):
        if answer is None:
            yield Failure(query.id, "the reader failed on it")
        elif isinstance(answer, Failure):
            yield Failure(query.id, answer.error)
        elif not isinstance(answer, str):
            problem = f"{method}() gave {answer!r:.80}, which is no text"
            raise LinkerError(f"reader `{reader.name}`, query {query.id!r}: {problem}")
        else:
            # A file cannot hold half of a character.
            yield answer.encode("utf-8", "replace").decode()
