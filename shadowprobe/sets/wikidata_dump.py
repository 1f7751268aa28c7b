"""The JSON dump of Wikidata as a stream: one entity a line, read once, in memory one at a time."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import msgspec

from shadowprobe.build.dumps.files import broken, cut_off, open_dump
from shadowprobe.errors import InputError
from shadowprobe.retrieval.wikidata.entities import INSTANCE_OF, SUBCLASS_OF, Item, read_item
from shadowprobe.retrieval.wikidata.store import Contents, read_contents, writing

# Told what is under way, how much of it is done, and how much there is, which a dump does not say.
Progress = Callable[[str, int, int | None], None]
# Lines between two words about how far it is.
OFTEN = 10_000


def read_dump(
    path: Path, language: str, properties: Collection[str], progress: Progress | None = None
) -> Iterator[Item]:
    """The items of a dump, packed by gzip or bzip2 or not at all; what is no item is passed over.

    A file without the list's brackets, one entity a line, is read as well.
    """
    opened = closed = False
    for number, line in _lines(path):
        text = line.strip()
        if text == b"[":
            opened = True
        elif text == b"]":
            closed = True
        elif text:
            item = _item(path, number, text.removesuffix(b","), language, properties)
            if item is not None:
                yield item
        if progress is not None and number % OFTEN == 0:
            progress(f"{path.name}, lines", number, None)
    if opened and not closed:
        raise cut_off(path)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with open_dump(path) as file:
        try:
            yield from enumerate(file, start=1)
        except (OSError, EOFError, zlib.error) as error:
            raise broken(path, error) from None


def _item(path: Path, number: int, text: bytes, language: str, properties: Collection[str]) -> Item | None:
    try:
        return read_item(text, language, properties)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(path, f"is no entity of Wikidata ({error})", line=number) from None
    except msgspec.DecodeError as error:
        raise InputError(path, f"not valid JSON ({error})", line=number) from None
    except ValueError as error:
        raise InputError(path, str(error), line=number) from None


def load_dump(
    path: Path, store: Path, language: str, properties: Collection[str], progress: Progress | None = None
) -> Contents:
    """Puts what is needed of a dump into a file of facts, unless it stands there already."""
    if not path.is_file():
        raise InputError(path, "is a directory, not a file" if path.is_dir() else "no such file")
    said = path.stat()
    contents = Contents([path.name, str(said.st_size), str(said.st_mtime_ns)], language, sorted(properties))
    known = read_contents(store)
    if known is not None and msgspec.structs.replace(known, counts={}) == contents:
        return known
    counts: Counter[str] = Counter()
    with writing(store, contents) as writer:
        for item in read_dump(path, language, {*properties, INSTANCE_OF, SUBCLASS_OF}, progress):
            writer.add(item)
            counts["items"] += 1
        if not counts:
            raise InputError(path, "holds no item of Wikidata")
        contents.counts = dict(counts)
    return contents
