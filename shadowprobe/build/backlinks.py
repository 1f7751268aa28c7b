"""Stage 2: how common an entity is, as the number of articles that link to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from shadowprobe.build.records import FoundEntity
from shadowprobe.build.wiki import Wiki, batches


def count_backlinks(wiki: Wiki, entities: Iterable[FoundEntity]) -> Iterator[FoundEntity]:
    """The entities with their commonness and the redirects that lead to them.

    A link to a redirect is a link to the entity; an article that links to both counts once, and a redirect is no
    article. A redirect to a redirect leads to no entity, as wikis do not follow it. Disambiguation pages count, as in
    the lists that wikis themselves give.
    """
    for batch in batches(entities):
        redirects = {
            page["title"]: [redirect["title"] for redirect in page.get("redirects", ())]
            for page in wiki.pages(
                [entity.title for entity in batch], prop="redirects", rdnamespace="0", rdprop="title", rdlimit="max"
            )
        }
        names = [name for entity in batch for name in (entity.title, *redirects.get(entity.title, ()))]
        linking = _linking(wiki, list(dict.fromkeys(names)))
        for entity in batch:
            others = sorted(redirects.get(entity.title, ()))
            pages = set().union(*(linking.get(name, set()) for name in (entity.title, *others)))
            yield replace(entity, commonness=len(pages - {entity.page_id}), redirects=tuple(others))


def _linking(wiki: Wiki, titles: list[str]) -> dict[str, set[int]]:
    """The ids of the articles that link to each title."""
    linking: dict[str, set[int]] = {}
    for page in wiki.pages(
        titles, prop="linkshere", lhprop="pageid", lhnamespace="0", lhshow="!redirect", lhlimit="max"
    ):
        linking[page["title"]] = {link["pageid"] for link in page.get("linkshere", ())}
    return linking
