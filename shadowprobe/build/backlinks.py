"""Stage 2: counts the articles that link to an entity, which is its commonness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from shadowprobe.build.records import FoundEntity
from shadowprobe.build.wiki.wiki_api import Wiki, batches


def count_backlinks(wiki: Wiki, entities: Iterable[FoundEntity]) -> Iterator[FoundEntity]:
    """Yields the entities with their commonness and their redirects.

    A link to a redirect is a link to the entity. An article that links to both counts once, and a redirect does not
    count as an article. A redirect to a redirect is ignored, because wikis do not follow it. Disambiguation pages
    count, as in the wiki's own lists.
    """
    for batch in batches(entities):
        redirects = {
            page["title"]: [redirect["title"] for redirect in page.get("redirects", ())]
            for page in wiki.pages(
                [entity.title for entity in batch], prop="redirects", rdnamespace="0", rdprop="title", rdlimit="max"
            )
        }
        names = [name for entity in batch for name in (entity.title, *redirects.get(entity.title, ()))]
        linking = _find_linking_pages(wiki, list(dict.fromkeys(names)))
        for entity in batch:
            others = sorted(redirects.get(entity.title, ()))
            pages = set().union(*(linking.get(name, set()) for name in (entity.title, *others)))
            yield replace(entity, commonness=len(pages - {entity.page_id}), redirects=tuple(others))


def _find_linking_pages(wiki: Wiki, titles: list[str]) -> dict[str, set[int]]:
    """Returns the ids of the articles that link to each title."""
    linking: dict[str, set[int]] = {}
    for page in wiki.pages(
        titles, prop="linkshere", lhprop="pageid", lhnamespace="0", lhshow="!redirect", lhlimit="max"
    ):
        linking[page["title"]] = {link["pageid"] for link in page.get("linkshere", ())}
    return linking
