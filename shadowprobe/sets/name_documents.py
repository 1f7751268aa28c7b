"""Documents about one name: those of a dataset's names, or those of a collection whose titles share a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.dataset.knowledge import base_name
from shadowprobe.errors import UsageError
from shadowprobe.measure.answer_matching import beginning
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Document

if TYPE_CHECKING:
    from shadowprobe.dataset.dataset import Dataset

# Of a document, so that a long article fits into a prompt beside others.
WORDS = 200


class NameDocuments(Struct, frozen=True):
    """A name, and a document about each of the entities that have it."""

    name: str
    documents: tuple[Document, ...]

    @property
    def is_shared(self) -> bool:
        """True if several entities have the name."""
        return len(self.documents) > 1

    def first(self, documents: int | None, words: int) -> NameDocuments:
        """The first documents, and of each the first words."""
        shown = (replace(one, text=beginning(one.text, words)) for one in self.documents[:documents])
        return NameDocuments(self.name, tuple(shown))


class GatheredNames(Struct, frozen=True):
    """Names with their documents, and where both come from, as the card of a run describes it."""

    names: list[NameDocuments]
    collection: dict[str, Any]
    described: dict[str, Any]


def gather_names(
    dataset: Dataset | None,
    collection: Collection | None,
    *,
    documents: int | None = None,
    words: int = WORDS,
    limit: int | None = None,
) -> GatheredNames:
    """The documents about each name, as far as the first `limit` names with several documents.

    Names are those of the dataset, or else those that titles of the collection share. Documents are those of the
    collection, or else the descriptions of the dataset.
    """
    if dataset is not None:
        found = group_descriptions(dataset) if collection is None else group_by_names(dataset, collection)
        origin = {"name": dataset.name, "digest": dataset.digest}
    elif collection is not None:
        found, origin = group_by_titles(collection), {"name": "titles", "digest": collection.digest}
    else:
        raise UsageError("there are no documents: give a dataset or a collection")
    names: list[NameDocuments] = []
    for one in found:
        if limit is not None and sum(earlier.is_shared for earlier in names) >= limit:
            break
        names.append(one.first(documents, words))
    described = origin if collection is None else collection.described
    return GatheredNames(names, dict(described), {**origin, "documents": documents, "words": words})


def group_descriptions(dataset: Dataset) -> Iterator[NameDocuments]:
    """The names of a dataset; the description of an entity is its document."""
    for space in dataset.spaces.values():
        entities = [dataset.entities[title] for title in space.entities]
        documents = (Document(one.title, one.title, one.description or "") for one in entities)
        yield NameDocuments(space.name, tuple(one for one in documents if one.text.strip()))


def group_by_names(dataset: Dataset, collection: Collection) -> Iterator[NameDocuments]:
    """The names of a dataset; the document of an entity is the first one of a collection that has its title."""
    titles = {title for space in dataset.spaces.values() for title in space.entities}
    known = _read_first(collection, titles)
    if not known:
        raise UsageError(f"`{collection.name}` has no document with the title of an entity of `{dataset.name}`")
    for space in dataset.spaces.values():
        yield NameDocuments(space.name, tuple(known[title] for title in space.entities if title in known))


def group_by_titles(collection: Collection) -> Iterator[NameDocuments]:
    """The names that several titles of a collection share, as "Avon (ship)" and "Avon, Ohio" share "Avon"."""
    # Titles first: the texts of a large collection do not fit into memory.
    titles: dict[str, dict[str, None]] = {}
    for document in collection.documents():
        # The keys of stored replies have a line break between name and title.
        if document.title.strip() and "\n" not in document.title:
            titles.setdefault(base_name(document.title), {})[document.title] = None
    shared = {name: list(many) for name, many in titles.items() if name and len(many) > 1}
    known = _read_first(collection, {title for many in shared.values() for title in many})
    for name, many in shared.items():
        yield NameDocuments(name, tuple(known[title] for title in many if title in known))


def _read_first(collection: Collection, titles: Iterable[str]) -> dict[str, Document]:
    """The first document with each of these titles that has a text."""
    wanted, known = set(titles), dict[str, Document]()
    for document in collection.documents():
        if document.title in wanted and document.text.strip():
            known.setdefault(document.title, document)
    return known
