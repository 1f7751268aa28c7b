"""Reads the JSON dump of Wikidata as a stream: one entity per line, one at a time in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from shadowprobe.base.compressed import read_compressed_lines, truncated_file
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.errors import InputError
from shadowprobe.sets.fact_store import Contents, open_new_store, read_contents
from shadowprobe.sets.wikidata_entities import INSTANCE_OF, SUBCLASS_OF, WikidataItem, read_item

# Progress is reported after this number of lines.
PROGRESS_LINES = 10_000


def read_dump(
    path: Path, language: str, properties: Collection[str], progress: Progress = ignore_progress
) -> Iterator[WikidataItem]:
    """Reads the items of a dump, which may be compressed with gzip or bzip2; other entities are skipped.

    A file without the brackets of the list, one entity per line, is read as well.
    """
    opened = closed = False
    for number, line in enumerate(read_compressed_lines(path), start=1):
        text = line.strip()
        if text == b"[":
            opened = True
        elif text == b"]":
            closed = True
        elif text:
            item = _read_line(path, number, text.removesuffix(b","), language, properties)
            if item is not None:
                yield item
        if number % PROGRESS_LINES == 0:
            progress(f"{path.name}, lines", number, None)
    if opened and not closed:
        raise truncated_file(path)


def _read_line(path: Path, number: int, text: bytes, language: str, properties: Collection[str]) -> WikidataItem | None:
    try:
        return read_item(text, language, properties)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(path, f"is not an entity of Wikidata ({error})", line=number) from None
    except msgspec.DecodeError as error:
        raise InputError(path, f"not valid JSON ({error})", line=number) from None
    except ValueError as error:
        raise InputError(path, str(error), line=number) from None


def load_dump(
    path: Path, store: Path, language: str, properties: Collection[str], progress: Progress = ignore_progress
) -> None:
    """Copies the needed part of a dump into a file of facts, unless that was done before."""
    if not path.is_file():
        raise InputError(path, "is a directory, not a file" if path.is_dir() else "no such file")
    status = path.stat()
    contents = Contents([path.name, str(status.st_size), str(status.st_mtime_ns)], language, sorted(properties))
    if read_contents(store) == contents:
        return
    item = None
    with open_new_store(store, contents) as writer:
        for item in read_dump(path, language, {*properties, INSTANCE_OF, SUBCLASS_OF}, progress):
            writer.add(item)
        if item is None:
            raise InputError(path, "holds no item of Wikidata")
