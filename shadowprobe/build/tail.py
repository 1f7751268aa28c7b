"""Stage 6b: rare entities, drawn by lot from all articles of the wiki."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.languages import Language
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.spaces import as_article, old_enough, what_tells_articles
from shadowprobe.build.wiki import BATCH, Wiki

# A wiki in which so many questions in a row show no article has none left that we could draw.
BARREN = 200
# No page of a MediaWiki has a higher id, whatever a server says.
HIGHEST = 2**32 - 1


def draw_articles(
    wiki: Wiki,
    language: Language,
    funnel: Funnel,
    *,
    seed: int,
    taken: set[str],
    category: str = "",
    created_before: str = "",
) -> Iterator[list[FoundEntity]]:
    """Articles in the order of a lottery over page ids, a few at a time, without end but that of the wiki.

    The wiki's own lottery would draw others at every build. Ids that are drawn twice are passed over.
    """
    lottery = random.Random(f"tail {seed}")
    highest = _highest_page_id(wiki)
    drawn: set[int] = set()
    barren = 0
    while barren < BARREN and len(drawn) < highest:
        ids: list[int] = []
        while len(ids) < BATCH and len(drawn) < highest:
            page_id = lottery.randint(1, highest)
            if page_id not in drawn:
                drawn.add(page_id)
                ids.append(page_id)
        asked = what_tells_articles(language, category)
        pages = {page.get("pageid"): page for page in wiki.pages(page_ids=ids, **asked)}
        articles = list(_articles([pages.get(page_id, {}) for page_id in ids], language, taken, funnel))
        found = old_enough(wiki, articles, created_before)
        if len(found) < len(articles):
            funnel.drop("younger than the limit", len(articles) - len(found))
        barren = 0 if found else barren + 1
        if found:
            yield found


def _articles(
    pages: list[dict[str, Any]], language: Language, taken: set[str], funnel: Funnel
) -> Iterator[FoundEntity]:
    for page in pages:
        # An id without a page, or that of a talk page, was never in the lottery.
        if page.get("ns") != 0:
            continue
        found = as_article(page, language)
        if isinstance(found, str):
            funnel.drop(found)
        elif found.title in taken:
            funnel.drop("an entity of a space")
        else:
            yield found


def _highest_page_id(wiki: Wiki) -> int:
    """The highest id of a page: above it there is none, near or far, among fifty that are tried."""
    bound = max(wiki.pages_in_all, BATCH)
    step = bound // BATCH
    while True:
        ids = [bound + step * number for number in range(1, BATCH + 1) if bound + step * number <= HIGHEST]
        there = [page["pageid"] for page in wiki.pages(page_ids=ids) if not page.get("missing")]
        if there:
            bound = max(there)
            # Many a wiki has not counted its pages: where it goes on as far as was tried, larger steps are taken.
            step *= BATCH if bound == ids[-1] else 1
        elif step == 1:
            return bound
        else:
            step = max(1, step // BATCH)
