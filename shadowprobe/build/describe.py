"""Fills what a dataset does not say of its entities from a wiki: descriptions, QIDs, page ids and redirects."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

import shadowprobe
from shadowprobe.build.archive import Archive
from shadowprobe.build.languages import words_of
from shadowprobe.build.spaces import what_tells_articles
from shadowprobe.build.wiki import Wiki
from shadowprobe.dataset import CARD, Dataset, write_dataset
from shadowprobe.errors import UsageError
from shadowprobe.model import Entity

EXTRACTS = "TextExtracts"
SENTENCES = "2"


class Described(NamedTuple):
    """The entities as they are now, how many were found in the wiki, and how many fields were filled.

    `other_ids` counts the page ids of the dataset that are another article's in this wiki.
    """

    entities: list[Entity]
    found: int
    filled: dict[str, int]
    other_ids: int = 0


def write_described(
    dataset: Dataset, url: str, out: Path, *, user_agent: str, force: bool = False
) -> tuple[Dataset, Described]:
    """Writes a dataset anew with what the wiki knows of its entities; what the wiki said is kept beside it."""
    # Before the wiki is asked, and not an hour later.
    if (out / CARD).exists() and not force:
        raise UsageError(f"{out} holds a dataset already; --force writes over it")
    path = out / "archive" / "wiki.warc.gz"
    with closing(Archive(path, software=f"shadowprobe/{shadowprobe.__version__}")) as archive:
        wiki = Wiki(url, archive, user_agent=user_agent)
        described = describe(dataset, wiki)
    made = f"{dataset.card.made}; described from {wiki.url}".removeprefix("; ")
    card = replace(dataset.card, made=made, counts={}, files={})
    snippets = {subset: list(dataset.snippets(subset)) for subset in dataset.subsets}
    written = write_dataset(out, card, described.entities, dataset.spaces.values(), snippets, force=force)
    return written, described


def describe(dataset: Dataset, wiki: Wiki) -> Described:
    """The entities of a dataset with what the wiki knows of them; nothing that they have is written over."""
    known = list(dataset.entities.values())
    pages, other_ids = _by_id(wiki, known)
    pages |= _by_title(wiki, [entity for entity in known if entity.title not in pages])
    filled = dict.fromkeys(("description", "qid", "page_id", "redirects"), 0)
    taken: dict[str, set[Any]] = {field: {getattr(entity, field) for entity in known} for field in ("page_id", "qid")}
    names = {name for entity in known for name in (entity.title, *entity.redirects)}
    entities = []
    for entity in known:
        more = _missing(entity, pages.get(entity.title, {}), names)
        names.update(more.get("redirects", ()))
        for field, others in taken.items():
            # Two titles can lead to one page, and an id is that of one entity only: the first has it.
            if more.get(field) in others:
                more.pop(field, None)
            elif field in more:
                others.add(more[field])
        for field in more:
            filled[field] += 1
        entities.append(replace(entity, **more))
    return Described(entities, len(pages), filled, other_ids)


def _missing(entity: Entity, page: dict[str, Any], taken: set[str]) -> dict[str, Any]:
    """What a page says that the entity lacks; a name that is taken leads to its entity, and not to a second one."""
    if not page:
        return {}
    said = {
        "description": " ".join(page.get("extract", "").split()) or None,
        "qid": page.get("pageprops", {}).get("wikibase_item"),
        "page_id": page["pageid"],
        "redirects": tuple(sorted(_names(page) - taken)),
    }
    return {field: value for field, value in said.items() if value and not getattr(entity, field)}


def _names(page: dict[str, Any]) -> set[str]:
    """The title of a page, and those of the redirects that lead to it."""
    return {page["title"], *(redirect["title"] for redirect in page.get("redirects", ()))}


def _question(wiki: Wiki) -> dict[str, Any]:
    asked = what_tells_articles(words_of(wiki.language))
    asked["prop"] += "|redirects"
    asked |= {"rdnamespace": "0", "rdprop": "title", "rdlimit": "max"}
    if EXTRACTS in wiki.extensions:
        asked["prop"] += "|extracts"
        asked |= {"exintro": "1", "explaintext": "1", "exsentences": SENTENCES, "exlimit": "max"}
    return asked


def _is_article(page: dict[str, Any]) -> bool:
    """True for a page that can be an entity: what a disambiguation page says is of none."""
    if page.get("missing") or page.get("redirect") or page.get("ns") != 0 or "pageid" not in page:
        return False
    return "disambiguation" not in page.get("pageprops", {}) and not page.get("categories")


def _by_id(wiki: Wiki, entities: Iterable[Entity]) -> tuple[dict[str, dict[str, Any]], int]:
    """The pages of the entities whose page id the dataset has, and how many ids are another article's.

    The wiki may have moved a page, and then leads from its old title to it; ids of another wiki, or of another time,
    lead to any page.
    """
    titles = {entity.page_id: entity.title for entity in entities if entity.page_id is not None}
    pages = wiki.pages(page_ids=list(titles), **_question(wiki))
    articles = {titles[page["pageid"]]: page for page in pages if _is_article(page) and page["pageid"] in titles}
    own = {title: page for title, page in articles.items() if title in _names(page)}
    return own, len(articles) - len(own)


def _by_title(wiki: Wiki, entities: Iterable[Entity]) -> dict[str, dict[str, Any]]:
    """The pages that the titles of the entities lead to."""
    asked = wiki.resolved([entity.title for entity in entities], **_question(wiki))
    return {title: page for title, page in asked if _is_article(page)}
