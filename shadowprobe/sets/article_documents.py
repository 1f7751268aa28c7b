"""Finds the articles of entities in a file of documents, and their first words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec.structs import replace

from shadowprobe.base.identity import normalise_title
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.measure.answer_matching import beginning
from shadowprobe.queries.collection import read_documents
from shadowprobe.queries.query import Document
from shadowprobe.sets.amber_rules import FIRST_TOKENS


def find_documents(
    path: Path, titles: Mapping[str, str], with_text: Collection[str], progress: Progress = ignore_progress
) -> dict[str, tuple[Document, ...]]:
    """Finds the documents of entities; `titles` are by QID, and only entities in `with_text` get their first words.

    A document belongs to the entity of its QID, or of its title if it has no QID. The passages of one page are joined,
    so that the first words are those of the article.
    """
    by_title = {normalise_title(title): qid for qid, title in titles.items()}
    articles: dict[str, dict[str, Document]] = {}
    for number, document in enumerate(read_documents(path), start=1):
        if number % 10_000 == 0:
            progress("documents", number, None)
        qid = document.qid or by_title.get(normalise_title(document.title))
        if qid is None or qid not in titles:
            continue
        pages = articles.setdefault(qid, {})
        page = document.page or document.id
        before = f"{pages[page].text} " if page in pages else ""
        text = beginning(f"{before}{document.text}", FIRST_TOKENS) if qid in with_text else ""
        pages[page] = replace(document, id=page, page=None, text=text)
    return {qid: tuple(pages.values()) for qid, pages in articles.items()}
