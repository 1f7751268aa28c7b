"""The web pages that a build kept beside its dataset, and the snippets that were cut from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from shadowprobe.base.jsonl import read_lines

T = TypeVar("T")
# The files with the texts of pages in the directory of a build.
PAGE_FILES = ("snippets-texts", "tail-texts")


class Cut(Struct, frozen=True, omit_defaults=True):
    """A snippet cut from a page: the words as they stood there, and the same with the space's name put in."""

    entity: str
    space: str
    text: str
    start: int
    end: int
    # The name that stood in the page in the place of the mention.
    written: str
    # The words as they stood in the page.
    original: str
    url: str
    # Which mention of the page it is, so that a longer context can be cut later.
    place: int
    sentences: int = 1
    # Where else in the text the space's name was put in, and what stood there.
    also: tuple[tuple[int, str], ...] = ()

    def restored(self) -> str:
        """The text with the names as they stood in the page put back, which must give the original."""
        text = self.text
        for start, written in sorted([(self.start, self.written), *self.also], reverse=True):
            text = text[:start] + written + text[start + len(self.space) :]
        return text


class PageText(Struct, frozen=True):
    """The running text of a page, whole, so that longer contexts can be cut later."""

    url: str
    text: str


def kept_cuts(dataset: Path) -> Iterator[Cut]:
    """The snippets that a build cut from its pages; none where the dataset was not built here."""
    yield from _read_records(dataset, Cut, "cuts", "tail-cuts")


def kept_pages(dataset: Path) -> Iterator[PageText]:
    """The texts of the pages that a build kept; none where the dataset was not built here."""
    yield from _read_records(dataset, PageText, *PAGE_FILES)


def _read_records(dataset: Path, kind: type[T], *names: str) -> Iterator[T]:
    # The training part is inside the dataset of its build, and has no pages of its own.
    is_inside = dataset.name == "train" and not (dataset / "build").is_dir()
    build = (dataset.parent if is_inside else dataset) / "build"
    for name in names:
        if (build / f"{name}.jsonl").exists():
            yield from (record for _, record in read_lines(build / f"{name}.jsonl", kind))
