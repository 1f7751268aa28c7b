"""Which articles cite which pages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from shadowprobe.build.record_file import Records
from shadowprobe.build.record_index import KeyIndex, RecordIndex, digest
from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.references import simplify_url

# The pages whose articles are remembered: many addresses may lead to the same page, such as that of a closed site.
REMEMBERED = 64


class CitedPages:
    """Which articles cite which pages. Two addresses that lead to the same stored page are one page.

    It takes 16 bytes per stored page, and 16 or 32 per reference.
    """

    def __init__(self, references: Records[WebReference], crawled: Iterable[Crawled]) -> None:
        stored = ((digest(page.url), digest(page.page)) for page in crawled if page.page is not None)
        self._pages = KeyIndex(stored)
        self._references = RecordIndex(references, lambda reference: self._list_keys(reference.url))
        self._find_entities = lru_cache(REMEMBERED)(self._read_entities)

    def __len__(self) -> int:
        """The number of stored pages."""
        return len(self._pages)

    def list_entities(self, url: str) -> list[str]:
        """Lists the articles whose reference to this address is followed."""
        found = self._references.find(digest(simplify_url(url)))
        return list(dict.fromkeys(each.entity for each in found if each.is_followed and each.url == url))

    def find_citing(self, url: str) -> set[str]:
        """Finds all articles that cite the page, also by another address, and if the reference is not followed."""
        return set().union(*map(self._find_entities, self._list_keys(url)))

    def _list_keys(self, url: str) -> list[int]:
        return [digest(simplify_url(url)), *self._pages.find(digest(url))[:1]]

    def _read_entities(self, key: int) -> frozenset[str]:
        return frozenset(reference.entity for reference in self._references.find(key))
