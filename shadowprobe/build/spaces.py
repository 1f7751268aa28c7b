"""Stage 1: finds entity spaces in the disambiguation pages of a wiki."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from shadowprobe.base.languages import Language
from shadowprobe.base.spans import find_name
from shadowprobe.build.funnel import Funnel, Progress, ignore_progress
from shadowprobe.build.record_index import digest
from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.wiki.wiki_api import BATCH, Wiki, batches
from shadowprobe.errors import BuildError

DISAMBIGUATOR = "Disambiguator"
# Later than any date: used for a page that was deleted during the build.
NEVER = "9999"


class NamedSpace(NamedTuple):
    """A space, and those of its entities that no earlier space has."""

    space: FoundSpace
    new_entities: list[FoundEntity]


class DisambiguationPage(NamedTuple):
    """A disambiguation page, and the linked pages whose titles contain its name."""

    title: str
    # For each linked page its entity, or the reason why it is not an article.
    linked: Sequence[FoundEntity | str]
    # Returns the creation date of a linked page, given its title.
    find_date: Callable[[str], str]


def find_spaces(
    wiki: Wiki, language: Language, funnel: Funnel, settings: BuildSettings, progress: Progress = ignore_progress
) -> Iterator[NamedSpace]:
    """Finds the names of at least two articles, in the order of the wiki's list of disambiguation pages."""
    pages = (
        page
        for titles in batches(list_disambiguation_pages(wiki, language, settings.category))
        for page in _read_pages(wiki, language, titles, settings.category)
    )
    return select_spaces(pages, language, funnel, settings, progress)


def select_spaces(
    pages: Iterable[DisambiguationPage],
    language: Language,
    funnel: Funnel,
    settings: BuildSettings,
    progress: Progress,
) -> Iterator[NamedSpace]:
    """Yields the names of disambiguation pages with at least two articles that are old enough.

    Of each name and of each entity only a digest is kept, in about 100 bytes.
    """
    names, known = set[int](), set[int]()
    for page in pages:
        name = language.name_of(page.title)
        entities = [entity for entity in page.linked if isinstance(entity, FoundEntity)]
        if len(entities) < 2:
            funnel.drop(_explain_too_few(page.linked))
            continue
        if settings.limit is not None and len(names) >= settings.limit:
            break
        if digest(name) in names:
            funnel.drop("the name of another disambiguation page")
            continue
        kept = filter_by_age(entities, settings.created_before, page.find_date)
        if len(kept) < 2:
            funnel.drop("fewer than two articles are old enough")
            continue
        names.add(digest(name))
        new = [entity for entity in kept if digest(entity.title) not in known]
        known.update(digest(entity.title) for entity in new)
        funnel.keep()
        yield NamedSpace(FoundSpace(name, page.title, tuple(entity.title for entity in kept)), new)
        progress("spaces", len(names), settings.limit)


def _explain_too_few(linked: Sequence[FoundEntity | str]) -> str:
    """Says why a page has fewer than two articles of its name."""
    if not linked:
        return "no linked article bears the name"
    reasons = Counter(why for why in linked if isinstance(why, str))
    worst = f": {reasons.most_common(1)[0][0]}" if reasons else ""
    return f"fewer than two articles bear the name{worst}"


def list_disambiguation_pages(wiki: Wiki, language: Language, category: str = "") -> Iterator[str]:
    """Lists the titles of all disambiguation pages, by their property or by their category."""
    if not category and DISAMBIGUATOR in wiki.extensions:
        for page in wiki.read_list("pageswithprop", pwppropname="disambiguation", pwpprop="title", pwplimit="max"):
            if page.get("ns") == 0:
                yield page["title"]
        return
    name = category.removeprefix("Category:") or _find_category(wiki, language)
    members = {"cmtitle": f"Category:{name}", "cmnamespace": "0", "cmtype": "page", "cmlimit": "max"}
    empty = True
    for page in wiki.read_list("categorymembers", **members):
        empty = False
        yield page["title"]
    if empty:
        raise BuildError(f"{wiki.url}: the category `{name}` has no pages; give --category without its namespace")


def _find_category(wiki: Wiki, language: Language) -> str:
    """Returns the first of the language's usual categories that has pages."""
    for name in language.categories:
        pages = list(wiki.pages([f"Category:{name}"], prop="categoryinfo"))
        if pages and pages[0].get("categoryinfo", {}).get("pages"):
            return name
    tried = ", ".join(language.categories) or "none is known for the language"
    raise BuildError(
        f"{wiki.url}: no category of disambiguation pages was found (tried: {tried}); name it with --category"
    )


def _read_pages(wiki: Wiki, language: Language, pages: list[str], category: str) -> Iterator[DisambiguationPage]:
    """Yields the disambiguation pages with these titles."""
    links = {
        page["title"]: [link["title"] for link in page.get("links", ())]
        for page in wiki.pages(pages, prop="links", plnamespace="0", pllimit="max")
    }
    named = {page: _filter_titles(language.name_of(page), links.get(page, [])) for page in pages}
    articles = _read_articles(wiki, language, {title for titles in named.values() for title in titles}, category)
    for page in pages:
        yield DisambiguationPage(page, [articles[title] for title in named[page]], partial(find_creation_date, wiki))


def _filter_titles(name: str, titles: Iterable[str]) -> list[str]:
    """Returns the titles that contain the name as whole words."""
    return [title for title in dict.fromkeys(titles) if find_name(title, name)]


def _read_articles(wiki: Wiki, language: Language, titles: set[str], category: str) -> dict[str, FoundEntity | str]:
    """Returns the entity for each title, or the reason why its page is not an article."""
    articles: dict[str, FoundEntity | str] = dict.fromkeys(titles, "no such page")
    for page in wiki.pages(sorted(titles), **make_article_query(language, category)):
        articles[page["title"]] = parse_article(page, language)
    return articles


def make_article_query(language: Language, category: str = "") -> dict[str, Any]:
    """Makes the query parameters for the page properties that `parse_article` needs."""
    names = dict.fromkeys(name for name in (category.removeprefix("Category:"), *language.categories) if name)
    if not names:
        return {"prop": "info|pageprops"}
    categories = "|".join(f"Category:{name}" for name in list(names)[:BATCH])
    return {"prop": "info|pageprops|categories", "clcategories": categories, "cllimit": "max"}


def parse_article(page: dict[str, Any], language: Language) -> FoundEntity | str:
    """Returns the entity of an article, or the reason why the page is not an article."""
    if why := explain_no_article(page):
        return why
    if language.is_list(page["title"]):
        return "a list"
    return FoundEntity(page["title"], page["pageid"], qid=page.get("pageprops", {}).get("wikibase_item"))


def explain_no_article(page: dict[str, Any]) -> str:
    """Says why a page is not an article; empty if it is one, and so also for a list."""
    if page.get("missing") or "pageid" not in page or page.get("ns") != 0:
        return "no such page"
    if page.get("redirect"):
        return "a redirect"
    return "a disambiguation page" if "disambiguation" in page.get("pageprops", {}) or page.get("categories") else ""


def filter_by_age(entities: list[FoundEntity], before: str, find_date: Callable[[str], str]) -> list[FoundEntity]:
    """Returns the articles that were created on a day or before it; all of them if no day is given."""
    return [entity for entity in entities if not before or find_date(entity.title)[:10] <= before]


def find_creation_date(wiki: Wiki, title: str) -> str:
    """Returns the time of the first revision of a page; the API allows one page per request."""
    # Only the first part is requested: the others contain all later revisions.
    answer = wiki.first(titles=title, prop="revisions", rvprop="timestamp", rvdir="newer", rvlimit="1")
    for page in answer.get("pages", ()):
        for revision in page.get("revisions", ()):
            return str(revision["timestamp"])
    return NEVER
