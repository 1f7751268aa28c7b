"""Fills missing descriptions, QIDs, page ids, redirects and kinds of a dataset's entities from a wiki."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

import shadowprobe
from shadowprobe.base.languages import words_of
from shadowprobe.base.model import Entity
from shadowprobe.build.archive import Archive
from shadowprobe.build.spaces import explain_no_article, make_article_query
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.build.wikidata_kinds import FoundKinds, find_kinds, find_repository
from shadowprobe.dataset.dataset import CARD, Dataset, write_dataset
from shadowprobe.errors import UsageError

EXTRACTS = "TextExtracts"
SENTENCES = "2"


class DescribedEntities(NamedTuple):
    """The completed entities, the number found in the wiki, and the number of filled fields.

    `other_ids` counts the page ids of the dataset that belong to another article in this wiki. `kinds` is what Wikidata
    says, None if it was not asked; `without_qid` counts the entities without a kind that it cannot be asked about.
    """

    entities: list[Entity]
    found: int
    filled: dict[str, int]
    other_ids: int = 0
    kinds: FoundKinds | None = None
    without_qid: int = 0

    @property
    def is_unasked(self) -> bool:
        """True if Wikidata was not asked about entities that have a QID and no kind."""
        return self.kinds is None and any(map(_lacks_kind, self.entities))


def write_described_dataset(
    dataset: Dataset, url: str, out: Path, *, user_agent: str, wikidata_url: str | None = None, force: bool = False
) -> tuple[Dataset, DescribedEntities]:
    """Writes a copy of a dataset with its entities completed from the wiki, and stores the wiki's replies beside it."""
    # This is checked before the first request, which may be an hour before the end.
    if (out / CARD).exists() and not force:
        raise UsageError(f"{out} holds a dataset already; --force writes over it")
    path = out / "archive" / "wiki.warc.gz"
    with closing(Archive(path, software=f"shadowprobe/{shadowprobe.__version__}")) as archive:
        wiki = Wiki(url, archive, user_agent=user_agent)
        described = describe(dataset, wiki)
        sources = [wiki.url]
        repository = wikidata_url or find_repository(wiki)
        if repository is not None and described.is_unasked:
            wikidata = Wiki(repository, archive, user_agent=user_agent)
            described = fill_kinds(described, wikidata)
            sources.append(wikidata.url)
    made = f"{dataset.card.made}; described from {' and '.join(dict.fromkeys(sources))}".removeprefix("; ")
    card = replace(dataset.card, made=made, counts={}, files={})
    snippets = {subset: list(dataset.snippets(subset)) for subset in dataset.subsets}
    written = write_dataset(out, card, described.entities, dataset.spaces.values(), snippets, force=force)
    return written, described


def describe(dataset: Dataset, wiki: Wiki) -> DescribedEntities:
    """Completes the entities of a dataset from the wiki; existing values are kept."""
    known = list(dataset.entities.values())
    pages, other_ids = _find_by_id(wiki, known)
    pages |= _find_by_title(wiki, [entity for entity in known if entity.title not in pages])
    filled = dict.fromkeys(("description", "qid", "page_id", "redirects", "kind"), 0)
    used: dict[str, set[Any]] = {field: {getattr(entity, field) for entity in known} for field in ("page_id", "qid")}
    names = {name for entity in known for name in (entity.title, *entity.redirects)}
    entities = []
    for entity in known:
        missing = _find_missing(entity, pages.get(entity.title, {}), names)
        names.update(missing.get("redirects", ()))
        for field, ids in used.items():
            # Two titles can lead to the same page. Its id is given to the first entity only.
            if missing.get(field) in ids:
                missing.pop(field, None)
            elif field in missing:
                ids.add(missing[field])
        for field in missing:
            filled[field] += 1
        entities.append(replace(entity, **missing))
    without_qid = sum(entity.kind is None and entity.qid is None for entity in entities)
    return DescribedEntities(entities, len(pages), filled, other_ids, without_qid=without_qid)


def _lacks_kind(entity: Entity) -> bool:
    """True for an entity whose kind Wikidata can be asked for."""
    return entity.kind is None and entity.qid is not None


def fill_kinds(described: DescribedEntities, wikidata: Wiki) -> DescribedEntities:
    """Adds the kinds of entities with a QID; existing kinds are kept."""
    found = find_kinds(wikidata, [str(entity.qid) for entity in described.entities if _lacks_kind(entity)])
    entities = [
        replace(entity, kind=found.kinds.get(str(entity.qid))) if _lacks_kind(entity) else entity
        for entity in described.entities
    ]
    filled = {**described.filled, "kind": len(found.kinds)}
    return described._replace(entities=entities, filled=filled, kinds=found)


def _find_missing(entity: Entity, page: dict[str, Any], used_names: set[str]) -> dict[str, Any]:
    """Returns the fields that the entity lacks; a name that another entity uses does not become a redirect."""
    if not page:
        return {}
    fields = {
        "description": " ".join(page.get("extract", "").split()) or None,
        "qid": page.get("pageprops", {}).get("wikibase_item"),
        "page_id": page["pageid"],
        "redirects": tuple(sorted(_list_names(page) - used_names)),
    }
    return {field: value for field, value in fields.items() if value and not getattr(entity, field)}


def _list_names(page: dict[str, Any]) -> set[str]:
    """Returns the title of a page and the titles of its redirects."""
    return {page["title"], *(redirect["title"] for redirect in page.get("redirects", ()))}


def _make_query(wiki: Wiki) -> dict[str, Any]:
    query = make_article_query(words_of(wiki.language))
    query["prop"] += "|redirects"
    query |= {"rdnamespace": "0", "rdprop": "title", "rdlimit": "max"}
    if EXTRACTS in wiki.extensions:
        query["prop"] += "|extracts"
        query |= {"exintro": "1", "explaintext": "1", "exsentences": SENTENCES, "exlimit": "max"}
    return query


def _find_by_id(wiki: Wiki, entities: Iterable[Entity]) -> tuple[dict[str, dict[str, Any]], int]:
    """Finds the pages of entities by their page ids, and counts the ids that belong to another article.

    If the wiki has moved a page, the old title redirects to it. An id of another wiki or of another time may belong to
    any page.
    """
    titles = {entity.page_id: entity.title for entity in entities if entity.page_id is not None}
    pages = wiki.pages(page_ids=list(titles), **_make_query(wiki))
    articles = {
        titles[page["pageid"]]: page for page in pages if not explain_no_article(page) and page["pageid"] in titles
    }
    own = {title: page for title, page in articles.items() if title in _list_names(page)}
    return own, len(articles) - len(own)


def _find_by_title(wiki: Wiki, entities: Iterable[Entity]) -> dict[str, dict[str, Any]]:
    """Finds the pages of entities by their titles."""
    pages = wiki.follow_titles([entity.title for entity in entities], **_make_query(wiki))
    return {title: page for title, page in pages if not explain_no_article(page)}
