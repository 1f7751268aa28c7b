"""The articles of some entities, as far as sets are made of them: their first words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec.structs import replace

from shadowprobe.identity import normalise_title
from shadowprobe.retrieval.amber_making import FIRST_TOKENS
from shadowprobe.retrieval.collection import read_documents
from shadowprobe.retrieval.model import Document
from shadowprobe.retrieval.wikidata.dump import Progress
from shadowprobe.retrieval.words import beginning


def find_documents(
    path: Path, titles: Mapping[str, str], read: Collection[str], progress: Progress | None = None
) -> dict[str, tuple[Document, ...]]:
    """The documents of entities, whose titles are given by QID, by QID; of those in `read` with their first words.

    A document belongs to the entity of its QID, or of its title where it has none. The passages of one page are put
    together, so that the first words are those of the article.
    """
    by_title = {normalise_title(title): qid for qid, title in titles.items()}
    found: dict[str, dict[str, Document]] = {}
    for number, document in enumerate(read_documents(path), start=1):
        if progress is not None and number % 10_000 == 0:
            progress("documents", number, None)
        qid = document.qid or by_title.get(normalise_title(document.title))
        if qid is None or qid not in titles:
            continue
        pages = found.setdefault(qid, {})
        page = document.page or document.id
        before = f"{pages[page].text} " if page in pages else ""
        text = beginning(f"{before}{document.text}", FIRST_TOKENS) if qid in read else ""
        pages[page] = replace(document, id=page, page=None, text=text)
    return {qid: tuple(pages.values()) for qid, pages in found.items()}
