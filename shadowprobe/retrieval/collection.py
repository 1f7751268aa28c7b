"""A collection: the documents that can be found, and beside them the queries of the probes."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from shadowprobe.catalogue import builtin_directory
from shadowprobe.errors import InputError, UsageError, nearest
from shadowprobe.jsonl import file_digest, read_json, read_lines
from shadowprobe.retrieval.model import Document

CARD, DOCUMENTS = "collection.json", "documents.jsonl"
BUILTIN = ("namesakes",)
# What a file of DPR's passages begins with.
_DPR = "id\ttext\ttitle"


class CollectionCard(Struct, omit_defaults=True):
    """What `collection.json` says of a collection."""

    name: str
    title: str = ""
    license: str = ""
    made: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


class _Kilt(Struct):
    """An article of KILT's knowledge source: its text by paragraphs, the first of which is the title."""

    wikipedia_id: str
    wikipedia_title: str
    text: list[str]
    wikidata_info: dict[str, Any] | None = None


class Collection:
    """Documents on disk, read whenever they are asked for: there may be more of them than memory."""

    def __init__(self, name: str, documents: Path, directory: Path | None = None) -> None:
        self.name, self.path, self.directory = name, documents, directory

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file of the documents."""
        return file_digest(self.path)

    def documents(self) -> Iterator[Document]:
        """Every document, in the order of the file."""
        return read_documents(self.path)

    def texts(self, wanted: set[str]) -> dict[str, Document]:
        """The documents of some ids."""
        return {document.id: document for document in self.documents() if document.id in wanted}


def open_collection(name_or_path: str) -> Collection:
    """The collection of a known name, of a directory, or of a file of documents."""
    if name_or_path in BUILTIN:
        return _of_directory(builtin_directory(name_or_path))
    path = Path(name_or_path)
    if not name_or_path or not path.exists():
        raise UsageError(
            f"unknown collection `{name_or_path}`{nearest(name_or_path, BUILTIN)}: give a directory, a file of"
            f" documents, or {' or '.join(BUILTIN)}"
        )
    return _of_directory(path) if path.is_dir() else Collection(path.name.partition(".")[0], path)


def _of_directory(path: Path) -> Collection:
    if not (path / DOCUMENTS).exists():
        raise InputError(path, f"is not a collection: it holds no {DOCUMENTS}")
    card = read_json(path / CARD, CollectionCard) if (path / CARD).exists() else CollectionCard(path.name)
    return Collection(card.name, path / DOCUMENTS, path)


def read_documents(path: Path) -> Iterator[Document]:
    """The documents of a file: JSON lines of our own or of KILT's knowledge source, or DPR's table; gzip or plain."""
    first = _first_line(path)
    if first.startswith(_DPR):
        yield from _read_dpr(path)
        return
    seen: set[int] = set()
    kilt = '"wikipedia_title"' in first
    lines: Iterator[tuple[int, _Kilt | Document]]
    if path.suffix == ".gz":
        lines = _unpacked(path, kilt)
    else:
        lines = iter(read_lines(path, _Kilt)) if kilt else iter(read_lines(path, Document))
    for line, item in lines:
        document = _from_kilt(item) if isinstance(item, _Kilt) else item
        if not document.id:
            raise InputError(path, "is empty", line=line, field="id")
        # A hash takes a tenth of the room of the id; an id stands twice far more often than two share a hash.
        if (code := hash(document.id)) in seen:
            raise InputError(path, f"{document.id!r} stands twice", line=line, field="id")
        seen.add(code)
        yield document


def _first_line(path: Path) -> str:
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            return file.readline()
    except (UnicodeDecodeError, gzip.BadGzipFile):
        raise InputError(path, "is neither text nor gzip") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})") from None


def _unpacked(path: Path, kilt: bool) -> Iterator[tuple[int, _Kilt | Document]]:
    decode: Callable[[bytes], _Kilt | Document]
    decode = msgspec.json.Decoder(_Kilt).decode if kilt else msgspec.json.Decoder(Document).decode
    with gzip.open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, decode(line)
            except ValueError as error:
                raise InputError(path, str(error), line=number) from None


def _from_kilt(article: _Kilt) -> Document:
    # Section titles and bullets carry marks of their own; what is left is as a reader has it.
    text = " ".join(part.replace("Section::::", "").replace("BULLET::::-", "").strip() for part in article.text)
    known = article.wikidata_info or {}
    return Document(article.wikipedia_id, article.wikipedia_title, text, qid=known.get("wikidata_id"))


def _read_dpr(path: Path) -> Iterator[Document]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        next(file)
        for number, line in enumerate(file, start=2):
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 3:
                raise InputError(path, f"has {len(cells)} columns, not the three id, text and title", line=number)
            text = cells[1]
            if text[:1] == text[-1:] == '"' and len(text) > 1:
                text = text[1:-1].replace('""', '"')
            yield Document(cells[0], cells[2], text, page=cells[2])


def digest_of(path: Path) -> str:
    """What tells one file, or one folder of files, from another."""
    if path.is_file():
        return file_digest(path)
    total = hashlib.sha256()
    for file in sorted(file for file in path.glob("**/*") if file.is_file()):
        total.update(f"{file.relative_to(path).as_posix()} {file_digest(file)}\n".encode())
    return total.hexdigest()
