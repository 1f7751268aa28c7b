"""A collection: a file of documents for retrieval; its directory may also hold the queries of the probes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.compressed import read_compressed_lines
from shadowprobe.base.files import BOM, file_digest
from shadowprobe.base.jsonl import decode_lines, read_json
from shadowprobe.catalogue.datasets import builtin_directory
from shadowprobe.errors import InputError, UsageError, nearest
from shadowprobe.queries.query import Document

CARD, DOCUMENTS = "collection.json", "documents.jsonl"
BUILTIN = ("namesakes",)
# The beginning of a file of DPR's passages.
_DPR = b"id\ttext\ttitle"


class CollectionCard(Struct, omit_defaults=True):
    """The content of `collection.json`."""

    name: str
    title: str = ""
    license: str = ""
    made: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


class _KiltArticle(Struct):
    """An article of KILT's knowledge source: its paragraphs, of which the first is the title."""

    wikipedia_id: str
    wikipedia_title: str
    text: list[str]
    wikidata_info: dict[str, Any] | None = None


class Collection:
    """Documents on disk, read each time they are needed: they may not fit into memory."""

    def __init__(self, name: str, documents: Path, directory: Path | None = None) -> None:
        self.name, self.path, self.directory = name, documents, directory

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the document file."""
        return file_digest(self.path)

    @property
    def described(self) -> dict[str, str]:
        """The entry of the collection in a run's card."""
        return {"name": self.name, "digest": self.digest}

    def documents(self) -> Iterator[Document]:
        """Reads every document, in the order of the file."""
        return read_documents(self.path)


def open_collection(name_or_path: str) -> Collection:
    """Opens a collection by its name, its directory, or a file of documents."""
    if name_or_path in BUILTIN:
        return _open_directory(builtin_directory(name_or_path))
    path = Path(name_or_path)
    if not name_or_path or not path.exists():
        raise UsageError(
            f"unknown collection `{name_or_path}`{nearest(name_or_path, BUILTIN)}: give a directory, a file of"
            f" documents, or {' or '.join(BUILTIN)}"
        )
    return _open_directory(path) if path.is_dir() else Collection(path.name.partition(".")[0], path)


def _open_directory(path: Path) -> Collection:
    if not (path / DOCUMENTS).exists():
        raise InputError(path, f"is not a collection: it holds no {DOCUMENTS}")
    card = read_json(path / CARD, CollectionCard) if (path / CARD).exists() else CollectionCard(path.name)
    return Collection(card.name, path / DOCUMENTS, path)


def read_documents(path: Path) -> Iterator[Document]:
    """Reads the documents of a file: our JSON lines, KILT's knowledge source, or DPR's table; it may be compressed."""
    seen: set[int] = set()
    for line, document in _read_file(path):
        if not document.id:
            raise InputError(path, "is empty", line=line, field="id")
        # A hash needs a tenth of the memory of an id. Two ids with the same hash are very unlikely.
        if (code := hash(document.id)) in seen:
            raise InputError(path, f"{document.id!r} stands twice", line=line, field="id")
        seen.add(code)
        yield document
    if not seen:
        raise InputError(path, "holds no documents")


def _read_file(path: Path) -> Iterator[tuple[int, Document]]:
    """Reads every document with its line number; the first line shows the format."""
    with closing(read_compressed_lines(path)) as lines:
        first = next((line for line in lines if line.strip()), b"").removeprefix(BOM)
    if first.startswith(_DPR):
        return _read_dpr(path)
    if first and not first.lstrip().startswith(b"{"):
        raise InputError(path, "is neither JSON lines nor a table with the columns id, text and title", line=1)
    if b'"wikipedia_title"' in first:
        articles = decode_lines(path, read_compressed_lines(path), _KiltArticle)
        return ((line, _convert_kilt(article)) for line, article in articles)
    return decode_lines(path, read_compressed_lines(path), Document)


def _convert_kilt(article: _KiltArticle) -> Document:
    # KILT marks section titles and bullets; the marks are removed.
    text = " ".join(part.replace("Section::::", "").replace("BULLET::::-", "").strip() for part in article.text)
    wikidata = article.wikidata_info or {}
    return Document(article.wikipedia_id, article.wikipedia_title, text, qid=wikidata.get("wikidata_id"))


def _read_dpr(path: Path) -> Iterator[tuple[int, Document]]:
    for number, line in enumerate(read_compressed_lines(path), start=1):
        if number == 1 or not line.strip():
            continue
        try:
            cells = line.decode("utf-8").rstrip("\r\n").split("\t")
        except UnicodeDecodeError as wrong:
            raise InputError(path, f"is not UTF-8 (byte {wrong.start}: {wrong.reason})", line=number) from None
        if len(cells) != 3:
            raise InputError(path, f"has {len(cells)} columns, not the three id, text and title", line=number)
        document_id, text, title = map(_remove_quotes, cells)
        yield number, Document(document_id, title, text, page=title)


def _remove_quotes(cell: str) -> str:
    """Removes CSV quoting: a cell that contains quotes is put into quotes, and its own quotes are doubled."""
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def digest_of(path: Path) -> str:
    """Computes the SHA-256 of a file, or of all files of a folder with their names."""
    if path.is_file():
        return file_digest(path)
    total = hashlib.sha256()
    for file in sorted(file for file in path.glob("**/*") if file.is_file()):
        total.update(f"{file.relative_to(path).as_posix()} {file_digest(file)}\n".encode())
    return total.hexdigest()
