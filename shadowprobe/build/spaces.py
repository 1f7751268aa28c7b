"""Stage 1: entity spaces from the disambiguation pages of a wiki."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.languages import Language
from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.wiki import BATCH, Wiki, batches
from shadowprobe.errors import BuildError
from shadowprobe.formats.spans import whole_words

DISAMBIGUATOR = "Disambiguator"
# Later than any day: the date of a page that went away while it was asked for.
NEVER = "9999"


class Spaces(Struct):
    """What the stage found: the spaces, and the entities in them."""

    spaces: list[FoundSpace]
    entities: dict[str, FoundEntity]


def find_spaces(
    wiki: Wiki,
    language: Language,
    funnel: Funnel,
    *,
    category: str = "",
    created_before: str = "",
    limit: int | None = None,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
) -> Spaces:
    """The names that at least two articles bear, in the order in which the wiki lists its disambiguation pages."""
    candidates = (
        (name, page, partial(old_enough, wiki, entities, created_before))
        for pages in batches(disambiguation_pages(wiki, language, category))
        for name, page, entities in _candidates(wiki, language, pages, category, funnel)
    )
    return collect(candidates, funnel, limit=limit, progress=progress)


def collect(
    candidates: Iterable[tuple[str, str, Callable[[], list[FoundEntity]]]],
    funnel: Funnel,
    *,
    limit: int | None,
    progress: Callable[[int, int | None], None],
) -> Spaces:
    """The spaces among candidates: a name, its page, and how to find out which of its articles are old enough."""
    found = Spaces([], {})
    names: set[str] = set()
    for name, page, old in candidates:
        if limit is not None and len(found.spaces) >= limit:
            break
        if name in names:
            funnel.drop("the name of another disambiguation page")
            continue
        kept = old()
        if len(kept) < 2:
            funnel.drop("fewer than two articles are old enough")
            continue
        names.add(name)
        found.spaces.append(FoundSpace(name, page, tuple(entity.title for entity in kept)))
        found.entities |= {entity.title: entity for entity in kept}
        funnel.keep()
        progress(len(found.spaces), limit)
    return found


def disambiguation_pages(wiki: Wiki, language: Language, category: str = "") -> Iterator[str]:
    """The titles of all disambiguation pages, by their property or by their category."""
    if not category and DISAMBIGUATOR in wiki.extensions:
        for page in wiki.listed("pageswithprop", pwppropname="disambiguation", pwpprop="title", pwplimit="max"):
            if page.get("ns") == 0:
                yield page["title"]
        return
    name = category.removeprefix("Category:") or _category(wiki, language)
    members = {"cmtitle": f"Category:{name}", "cmnamespace": "0", "cmtype": "page", "cmlimit": "max"}
    empty = True
    for page in wiki.listed("categorymembers", **members):
        empty = False
        yield page["title"]
    if empty:
        raise BuildError(f"{wiki.url}: the category `{name}` has no pages; give --category without its namespace")


def _category(wiki: Wiki, language: Language) -> str:
    """The first of the language's usual categories that has pages."""
    for name in language.categories:
        pages = list(wiki.pages([f"Category:{name}"], prop="categoryinfo"))
        if pages and pages[0].get("categoryinfo", {}).get("pages"):
            return name
    tried = ", ".join(language.categories) or "none is known for the language"
    raise BuildError(
        f"{wiki.url}: no category of disambiguation pages was found (tried: {tried}); name it with --category"
    )


def _candidates(
    wiki: Wiki, language: Language, pages: list[str], category: str, funnel: Funnel
) -> Iterator[tuple[str, str, list[FoundEntity]]]:
    """Each disambiguation page with the articles among its links that bear its name."""
    links = {
        page["title"]: [link["title"] for link in page.get("links", ())]
        for page in wiki.pages(pages, prop="links", plnamespace="0", pllimit="max")
    }
    bearing = {page: _bearing(language.name_of(page), links.get(page, [])) for page in pages}
    articles = _articles(wiki, language, {title for titles in bearing.values() for title in titles}, category)
    for page in pages:
        found = [articles[title] for title in bearing[page]]
        entities = [entity for entity in found if isinstance(entity, FoundEntity)]
        if len(entities) >= 2:
            yield language.name_of(page), page, entities
        else:
            drop_page(found, funnel)


def drop_page(found: Sequence[FoundEntity | str], funnel: Funnel) -> None:
    """Counts a page whose name too few of the linked articles bear, given each of them or why it is none."""
    if not found:
        funnel.drop("no linked article bears the name")
        return
    reasons = Counter(why for why in found if isinstance(why, str))
    worst = f": {reasons.most_common(1)[0][0]}" if reasons else ""
    funnel.drop(f"fewer than two articles bear the name{worst}")


def _bearing(name: str, titles: Iterable[str]) -> list[str]:
    """The titles that hold the name as whole words."""
    return [title for title in dict.fromkeys(titles) if whole_words(title, name)]


def _articles(wiki: Wiki, language: Language, titles: set[str], category: str) -> dict[str, FoundEntity | str]:
    """For each title the article, or why it is none."""
    found: dict[str, FoundEntity | str] = dict.fromkeys(titles, "no such page")
    for page in wiki.pages(sorted(titles), **what_tells_articles(language, category)):
        found[page["title"]] = as_article(page, language)
    return found


def what_tells_articles(language: Language, category: str = "") -> dict[str, Any]:
    """What to ask of pages for `as_article` to tell articles from the rest."""
    names = dict.fromkeys(name for name in (category.removeprefix("Category:"), *language.categories) if name)
    asked = {"prop": "info|pageprops"}
    if names:
        listed = "|".join(f"Category:{name}" for name in list(names)[:BATCH])
        asked = {"prop": "info|pageprops|categories", "clcategories": listed, "cllimit": "max"}
    return asked


def as_article(page: dict[str, Any], language: Language) -> FoundEntity | str:
    """An article as an entity, or why the page is none."""
    if page.get("missing") or "pageid" not in page or page.get("ns") != 0:
        return "no such page"
    if page.get("redirect"):
        return "a redirect"
    if "disambiguation" in page.get("pageprops", {}) or page.get("categories"):
        return "a disambiguation page"
    if language.is_list(page["title"]):
        return "a list"
    return FoundEntity(page["title"], page["pageid"], qid=page.get("pageprops", {}).get("wikibase_item"))


def old_enough(wiki: Wiki, entities: list[FoundEntity], before: str) -> list[FoundEntity]:
    """The articles whose first revision is not younger than a day; all of them where no day is given."""
    return [entity for entity in entities if not before or created(wiki, entity.title)[:10] <= before]


def created(wiki: Wiki, title: str) -> str:
    """When the first revision of a page was written; the API tells it of one page at a time."""
    # Only the first part: the others would be all the later revisions, one by one.
    answer = wiki.first(titles=title, prop="revisions", rvprop="timestamp", rvdir="newer", rvlimit="1")
    for page in answer.get("pages", ()):
        for revision in page.get("revisions", ()):
            return str(revision["timestamp"])
    return NEVER
