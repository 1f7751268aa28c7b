"""Stage 6b: draws rare entities at random from all articles of the wiki."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterator
from functools import partial
from typing import Any

from shadowprobe.base.languages import Language
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import filter_by_age, find_creation_date, make_article_query, parse_article
from shadowprobe.build.wiki.wiki_api import BATCH, Wiki

# After this number of requests in a row without an article, the wiki has no more articles to draw.
MAX_EMPTY_REQUESTS = 200
# No page of a MediaWiki has a higher id, even if a server claims it.
HIGHEST = 2**32 - 1


def draw_articles(
    wiki: Wiki, language: Language, funnel: Funnel, settings: BuildSettings, used: Container[str]
) -> Iterator[list[FoundEntity]]:
    """Yields articles in a random order of page ids, a few at a time, until the wiki has no more.

    The wiki's own random pages would differ in every build. Ids that are drawn twice are skipped.
    """
    query = make_article_query(language, settings.category)
    empty_requests = 0
    for ids in draw_page_ids(settings.seed, _find_highest_page_id(wiki)):
        pages = {page.get("pageid"): page for page in wiki.pages(page_ids=ids, **query)}
        drawn = [pages.get(page_id, {}) for page_id in ids]
        articles = filter_articles(drawn, language, used, settings, partial(find_creation_date, wiki), funnel)
        empty_requests = 0 if articles else empty_requests + 1
        if articles:
            yield articles
        if empty_requests == MAX_EMPTY_REQUESTS:
            return


def draw_page_ids(seed: int, highest: int) -> Iterator[list[int]]:
    """Yields page ids in random order, each once and a few at a time."""
    generator = random.Random(f"tail {seed}")
    # A bit for each id: a set of all ids of a large wiki takes gigabytes.
    drawn = bytearray(highest // 8 + 1)
    left = highest
    while left:
        ids: list[int] = []
        while len(ids) < min(BATCH, left):
            page_id = generator.randint(1, highest)
            place, bit = page_id >> 3, 1 << (page_id & 7)
            if not drawn[place] & bit:
                drawn[place] |= bit
                ids.append(page_id)
        left -= len(ids)
        yield ids


def filter_articles(
    pages: list[dict[str, Any]],
    language: Language,
    used: Container[str],
    settings: BuildSettings,
    find_date: Callable[[str], str],
    funnel: Funnel,
) -> list[FoundEntity]:
    """Returns the articles among the pages that are old enough and belong to no space; counts the others."""
    articles = list(_filter_articles(pages, language, used, funnel))
    old = filter_by_age(articles, settings.created_before, find_date)
    funnel.drop("younger than the limit", len(articles) - len(old))
    return old


def _filter_articles(
    pages: list[dict[str, Any]], language: Language, used: Container[str], funnel: Funnel
) -> Iterator[FoundEntity]:
    for page in pages:
        # An id without a page, or the id of a talk page, is not counted.
        if page.get("ns") != 0:
            continue
        article = parse_article(page, language)
        if isinstance(article, str):
            funnel.drop(article)
        elif article.title in used:
            funnel.drop("an entity of a space")
        else:
            yield article


def _find_highest_page_id(wiki: Wiki) -> int:
    """Finds the highest id of a page: among fifty higher ids at growing distances, none has a page."""
    bound = max(wiki.pages_in_all, BATCH)
    step = bound // BATCH
    while True:
        ids = [bound + step * number for number in range(1, BATCH + 1) if bound + step * number <= HIGHEST]
        existing = [page["pageid"] for page in wiki.pages(page_ids=ids) if not page.get("missing")]
        if existing:
            bound = max(existing)
            # Some wikis do not count their pages. If even the last tried id has a page, the steps become larger.
            step *= BATCH if bound == ids[-1] else 1
        elif step == 1:
            return bound
        else:
            step = max(1, step // BATCH)
