"""A collection: the documents that can be found, and beside them the queries of the probes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.build.dumps.files import broken, open_dump
from shadowprobe.catalogue import builtin_directory
from shadowprobe.errors import InputError, UsageError, nearest
from shadowprobe.jsonl import BOM, decode_lines, file_digest, read_json
from shadowprobe.retrieval.model import Document

CARD, DOCUMENTS = "collection.json", "documents.jsonl"
BUILTIN = ("namesakes",)
# What a file of DPR's passages begins with.
_DPR = b"id\ttext\ttitle"


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

    @property
    def described(self) -> dict[str, str]:
        """What a run says of the collection that it is over."""
        return {"name": self.name, "digest": self.digest}

    def documents(self) -> Iterator[Document]:
        """Every document, in the order of the file."""
        return read_documents(self.path)


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
    """The documents of a file: JSON lines of our own or of KILT's knowledge source, or DPR's table; packed or plain."""
    seen: set[int] = set()
    for line, document in _read(path):
        if not document.id:
            raise InputError(path, "is empty", line=line, field="id")
        # A hash takes a tenth of the room of the id; an id stands twice far more often than two share a hash.
        if (code := hash(document.id)) in seen:
            raise InputError(path, f"{document.id!r} stands twice", line=line, field="id")
        seen.add(code)
        yield document
    if not seen:
        raise InputError(path, "holds no documents")


def _read(path: Path) -> Iterator[tuple[int, Document]]:
    """Every document with its line, in whichever of the forms the first line is."""
    with closing(_unpacked(path)) as lines:
        first = next((line for line in lines if line.strip()), b"").removeprefix(BOM)
    if first.startswith(_DPR):
        return _read_dpr(path)
    if first and not first.lstrip().startswith(b"{"):
        raise InputError(path, "is neither JSON lines nor a table with the columns id, text and title", line=1)
    if b'"wikipedia_title"' in first:
        return ((line, _from_kilt(article)) for line, article in decode_lines(path, _unpacked(path), _Kilt))
    return decode_lines(path, _unpacked(path), Document)


def _unpacked(path: Path) -> Generator[bytes, None, None]:
    with open_dump(path) as file:
        try:
            yield from file
        except (OSError, EOFError, zlib.error) as error:
            raise broken(path, error) from None


def _from_kilt(article: _Kilt) -> Document:
    # Section titles and bullets carry marks of their own; what is left is as a reader has it.
    text = " ".join(part.replace("Section::::", "").replace("BULLET::::-", "").strip() for part in article.text)
    known = article.wikidata_info or {}
    return Document(article.wikipedia_id, article.wikipedia_title, text, qid=known.get("wikidata_id"))


def _read_dpr(path: Path) -> Iterator[tuple[int, Document]]:
    for number, line in enumerate(_unpacked(path), start=1):
        if number == 1 or not line.strip():
            continue
        try:
            cells = line.decode("utf-8").rstrip("\r\n").split("\t")
        except UnicodeDecodeError as wrong:
            raise InputError(path, f"is not UTF-8 (byte {wrong.start}: {wrong.reason})", line=number) from None
        if len(cells) != 3:
            raise InputError(path, f"has {len(cells)} columns, not the three id, text and title", line=number)
        found, text, title = map(_unquoted, cells)
        yield number, Document(found, title, text, page=title)


def _unquoted(cell: str) -> str:
    """A cell without the quotes that are put around one which holds some, and then doubles these."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def digest_of(path: Path) -> str:
    """What tells one file, or one folder of files, from another."""
    if path.is_file():
        return file_digest(path)
    total = hashlib.sha256()
    for file in sorted(file for file in path.glob("**/*") if file.is_file()):
        total.update(f"{file.relative_to(path).as_posix()} {file_digest(file)}\n".encode())
    return total.hexdigest()
