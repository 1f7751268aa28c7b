"""Stages 1 to 3, the tail's lottery and `describe` on a real MediaWiki, one trap of the fixture at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import wiki_world
from collected_spaces import Spaces, collect_spaces
from msgspec.structs import replace
from wiki_pages import Article
from wiki_pages.material import name_of
from wiki_world import Shadowland

from shadowprobe import Card, Entity, Snippet, write_dataset
from shadowprobe.base.languages import read_language
from shadowprobe.build.archive import Archive
from shadowprobe.build.backlinks import count_backlinks
from shadowprobe.build.describe import write_described_dataset
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.references import find_references
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import find_creation_date, find_spaces
from shadowprobe.build.tail import draw_articles
from shadowprobe.build.wiki.wiki_api import Wiki

pytestmark = pytest.mark.slow

ENGLISH = read_language("en")
SETTINGS = BuildSettings(wiki="", name="")
LIMIT = "2016-12-31"
Found = dict[str, tuple[str, set[str]]]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with closing(Archive(tmp_path_factory.mktemp("archive") / "wiki.warc.gz", software="tests")) as opened:
        yield opened


@pytest.fixture(scope="module")
def wiki(shadowland: Shadowland, archive: Archive) -> Wiki:
    return Wiki(shadowland.url, archive, user_agent="tests (+nobody)")


@pytest.fixture(scope="module")
def spaces(wiki: Wiki) -> tuple[Spaces, Funnel]:
    funnel = Funnel("spaces")
    return collect_spaces(find_spaces(wiki, ENGLISH, funnel, SETTINGS)), funnel


@pytest.fixture(scope="module")
def counted(wiki: Wiki, shadowland: Shadowland) -> dict[str, FoundEntity]:
    """All entities of the fixture with what links to them."""
    pages = wiki.pages(list(shadowland.fixture.expected.commonness))
    entities = [FoundEntity(page["title"], page["pageid"]) for page in pages]
    return {entity.title: entity for entity in count_backlinks(wiki, entities)}


def by_name(found: Spaces) -> Found:
    """The spaces without the order of their entities, which is that of the wiki's own list."""
    return {space.name: (space.page, set(space.entities)) for space in found.spaces}


def expected(spaces: dict[str, tuple[str, tuple[str, ...]]]) -> Found:
    return {name: (page, set(titles)) for name, (page, titles) in spaces.items()}


def test_the_world_is_as_large_as_it_should_be(shadowland: Shadowland) -> None:
    fixture = shadowland.fixture
    pages = [article for article in fixture.articles if "may refer to:" in article.text]
    assert len(pages) >= 30
    assert len(fixture.articles) - len(pages) >= 100
    assert len(fixture.pages) >= 300
    # Every page that a reference names is served, and every entity is named by some of its pages.
    for title, references in fixture.expected.references.items():
        places = [(urlsplit(url).netloc, urlsplit(url).path) for url, _ in references]
        assert [place for place in places if place not in fixture.pages] == []
        texts = [fixture.pages[place].body.decode("utf-8", "replace").replace("&amp;", "&") for place in places]
        assert not texts or any(name_of(title) in text for text in texts), title


def test_the_web_around_the_wiki_answers(shadowland: Shadowland) -> None:
    shadowland.web.begin_anew()
    _, (host, path) = shadowland.fixture.traps["429 once"]
    first, second = (httpx.get(f"http://{host}{path}", trust_env=False) for _ in range(2))
    assert (first.status_code, first.headers["Retry-After"], second.status_code) == (429, "1", 200)
    assert "Thorne Bridge" in second.text


def test_the_wiki_tells_what_it_is(wiki: Wiki) -> None:
    assert wiki.generator.startswith("MediaWiki 1.")
    assert (wiki.name, wiki.language) == ("Shadowland", "en")
    # What Debian has is without Disambiguator, so that pages are found by their category.
    assert wiki.extensions == {"Cite", "TextExtracts", "ParserFunctions"}


def test_all_spaces_are_found_and_no_other(shadowland: Shadowland, spaces: tuple[Spaces, Funnel]) -> None:
    found, funnel = spaces
    assert by_name(found) == expected(shadowland.fixture.expected.spaces)
    assert funnel.dropped == Counter(shadowland.fixture.expected.no_spaces.values())


@pytest.mark.parametrize(
    "title",
    [
        "Harlow Bridge (disambiguation)",
        "Harlow Observatory",
        "List of Harlow bridges",
        "Harlowe House",
        "Project:Harlow",
        "Kestrel Line",
        "Old Kestrel Line",
        "List of ships named Kestrel",
        "Brandner Lighthouse",
    ],
)
def test_a_link_that_is_no_candidate_is_none(title: str, shadowland: Shadowland, spaces: tuple[Spaces, Funnel]) -> None:
    assert any(f"[[{title}]]" in article.text for article in shadowland.fixture.articles)
    assert title not in spaces[0].entities


@pytest.mark.parametrize(
    "title",
    ["Zürn Castle", "O'Malley's Reach", "Salt & Iron Bridge", "Vega+ Tower", 'Hedda "Quill" Roth', "Mount Light"],
)
def test_titles_with_odd_characters_come_through(
    title: str, spaces: tuple[Spaces, Funnel], counted: dict[str, FoundEntity], wiki: Wiki
) -> None:
    assert spaces[0].entities[title].page_id == counted[title].page_id
    assert counted[title].commonness > 0
    html = wiki.html(title)
    assert html is not None
    assert len(list(find_references(html, title, ENGLISH, "", Counter()))) >= 3


def test_the_second_page_of_a_name_is_no_space(spaces: tuple[Spaces, Funnel]) -> None:
    [juniper] = [space for space in spaces[0].spaces if space.name == "Juniper"]
    assert (juniper.page, set(juniper.entities)) == ("Juniper", {"Juniper Castle", "Juniper Falls"})


def test_articles_that_are_too_young_are_left_out(shadowland: Shadowland, wiki: Wiki) -> None:
    funnel = Funnel("spaces")
    found = collect_spaces(find_spaces(wiki, ENGLISH, funnel, replace(SETTINGS, created_before=LIMIT)))
    assert by_name(found) == expected(shadowland.fixture.expected.old_spaces)
    assert funnel.dropped["fewer than two articles are old enough"] == 1


@pytest.mark.parametrize(
    ("title", "moment"),
    [
        ("Mount Orrin", "2012-05-06T10:00:00Z"),
        ("Orrin Falls", "2016-12-31T23:59:59Z"),
        ("Orrin Theatre", "2017-01-01T00:00:00Z"),
        ("Pell Castle", "2018-02-03T04:05:06Z"),
        ("Pell Bridge", "2009-01-01T08:00:00Z"),
        ("Harlow Observatory", "9999"),
    ],
)
def test_a_page_is_as_old_as_its_first_revision(title: str, moment: str, wiki: Wiki) -> None:
    assert find_creation_date(wiki, title) == moment


def test_the_age_of_a_page_with_many_revisions_costs_one_question(shadowland: Shadowland, tmp_path: Path) -> None:
    with closing(Archive(tmp_path / "wiki.warc.gz", software="tests")) as fresh:
        asking = Wiki(shadowland.url, fresh, user_agent="tests")
        before = shadowland.world.requests()
        find_creation_date(asking, "Pell Bridge")
        assert shadowland.world.requests() == before + 1


def test_commonness_is_what_was_worked_out_by_hand(shadowland: Shadowland, counted: dict[str, FoundEntity]) -> None:
    found = {title: entity.commonness for title, entity in counted.items()}
    assert found == shadowland.fixture.expected.commonness


def test_links_by_a_redirect_count_and_count_once(wiki: Wiki, counted: dict[str, FoundEntity]) -> None:
    railway = counted["Kestrel Railway"]
    # Five chronicles, its disambiguation page, one article that links to it and to its redirect, one to the redirect;
    # not the article that links to the redirect of the redirect, nor the page of another namespace, nor itself.
    assert (railway.commonness, railway.redirects) == (8, ("Kestrel Line",))
    [page] = wiki.pages(["Old Kestrel Line"], prop="linkshere", lhlimit="max")
    assert {link["title"] for link in page["linkshere"]} == {"Tracks of Ferrin", "Kestrel (disambiguation)"}


def list_references(
    wiki: Wiki, shadowland: Shadowland, title: str
) -> tuple[list[tuple[str, str | None]], Counter[str]]:
    dropped: Counter[str] = Counter()
    html = wiki.html(title)
    assert html is not None
    found = find_references(html, title, ENGLISH, shadowland.world.host, dropped)
    return [(reference.url, reference.archived) for reference in found], dropped


def test_references_of_every_entity_are_found_and_no_other_link(shadowland: Shadowland, wiki: Wiki) -> None:
    lost: Counter[str] = Counter()
    for title, wanted in shadowland.fixture.expected.references.items():
        found, dropped = list_references(wiki, shadowland, title)
        assert found == wanted, title
        lost += dropped
    # All in "Ashby Falls": the last one is a place in a page that it names already.
    assert lost == {
        "a document such as PDF": 1,
        "a media file": 1,
        "a login page": 1,
        "a page of a wiki": 2,
        "neither http nor https": 1,
        "the same page again": 1,
    }


def test_an_entity_without_references_has_none(shadowland: Shadowland, wiki: Wiki) -> None:
    assert list_references(wiki, shadowland, "Merrow Bridge") == ([], {})


def test_a_link_in_the_body_is_no_reference(shadowland: Shadowland, wiki: Wiki) -> None:
    html = wiki.html("Harlow Castle")
    assert html is not None
    assert "/in-the-body" in html
    found, _ = list_references(wiki, shadowland, "Harlow Castle")
    assert [url for url, _ in found if "/in-the-body" in url] == []


@pytest.mark.parametrize(("title", "name"), [("Halden Falls", "halden"), ("Mount Halden", "mount")])
def test_a_dead_page_has_its_archived_copy(title: str, name: str, shadowland: Shadowland, wiki: Wiki) -> None:
    found, _ = list_references(wiki, shadowland, title)
    dead = [(url, copy) for url, copy in found if copy is not None]
    assert [urlsplit(url).path for url, _ in dead] == [f"/gone/{name}"]
    assert [httpx.get(url, trust_env=False).status_code for url in dead[0] if url] == [404, 200]


def test_an_article_that_is_gone_has_no_text(wiki: Wiki) -> None:
    assert wiki.html("Harlow Observatory") is None


def test_the_tail_is_drawn_from_articles_that_are_in_no_space(
    shadowland: Shadowland, wiki: Wiki, spaces: tuple[Spaces, Funnel]
) -> None:
    taken = set(spaces[0].entities)
    funnel = Funnel("tail")
    drawn = [e.title for batch in draw_articles(wiki, ENGLISH, funnel, SETTINGS, taken) for e in batch]
    assert len(drawn) == len(set(drawn))
    known = {article.title for article in shadowland.fixture.articles}
    pages = {page for page, _ in shadowland.fixture.expected.spaces.values()} | set(
        shadowland.fixture.expected.no_spaces
    )
    redirects = {article.title for article in shadowland.fixture.articles if article.text.startswith("#REDIRECT")}
    lists = {"List of Harlow bridges", "List of ships named Kestrel"}
    # The wiki came with one page of its own.
    assert set(drawn) == known - pages - redirects - lists - taken - {"Project:Harlow"} | {"Main Page"}
    assert funnel.dropped == {
        "a disambiguation page": len(pages),
        "a redirect": len(redirects),
        "a list": len(lists),
        "an entity of a space": len(taken),
    }
    again = [e.title for batch in draw_articles(wiki, ENGLISH, Funnel("tail"), SETTINGS, taken) for e in batch]
    assert again == drawn


def test_from_the_archive_everything_is_the_same_and_the_wiki_is_not_asked(
    shadowland: Shadowland, wiki: Wiki, archive: Archive, spaces: tuple[Spaces, Funnel]
) -> None:
    assert wiki.url == shadowland.url
    before = shadowland.world.requests()
    with closing(Archive(archive.path, software="tests", read_only=True)) as stored:
        again = Wiki(shadowland.url, stored, user_agent="tests")
        funnel = Funnel("spaces")
        assert (collect_spaces(find_spaces(again, ENGLISH, funnel, SETTINGS)), funnel) == spaces
    assert shadowland.world.requests() == before


def test_entities_are_described(shadowland: Shadowland, tmp_path: Path) -> None:
    titles = ["Harlow Bridge", "Old Kestrel Line", "Zurn Castle", "Harlow Observatory", "Ashby", 'Hedda "Quill" Roth']
    snippets = [Snippet("1", "tail", "Harlow Bridge", 0, 13, gold="Harlow Bridge")]
    dataset = write_dataset(tmp_path / "in", Card(name="d"), map(Entity, titles), [], {"tail": snippets})
    _, described = write_described_dataset(dataset, shadowland.url, tmp_path / "out", user_agent="tests")
    found = dict(zip(titles, described.entities, strict=True))
    assert found["Harlow Bridge"].description == (
        "Harlow Bridge is a road bridge in Ostland. It was opened in 1851 and has 11 arches."
    )
    assert found["Harlow Bridge"].redirects == ("Harlow Crossing",)
    assert found["Zurn Castle"].redirects == ("Zürn Castle",)
    # The wiki's API follows a redirect to a redirect, though its pages do not.
    assert str(found["Old Kestrel Line"].description).startswith("Kestrel Railway is a narrow-gauge line")
    assert str(found['Hedda "Quill" Roth'].description).startswith('Hedda "Quill" Roth was a painter')
    # A page that is not there, and a disambiguation page.
    assert [found[title] for title in ("Harlow Observatory", "Ashby")] == [
        Entity("Harlow Observatory"),
        Entity("Ashby"),
    ]
    assert (described.found, described.filled["page_id"]) == (4, 4)
    asked = shadowland.world.requests()
    write_described_dataset(dataset, shadowland.url, tmp_path / "out", user_agent="tests", force=True)
    assert shadowland.world.requests() == asked


def test_more_entities_than_the_wiki_describes_at_once_are_described(shadowland: Shadowland, tmp_path: Path) -> None:
    titles = list(shadowland.fixture.expected.commonness)
    snippets = [Snippet("1", "tail", "Harlow Bridge", 0, 13, gold="Harlow Bridge")]
    dataset = write_dataset(tmp_path / "in", Card(name="d"), map(Entity, titles), [], {"tail": snippets})
    _, described = write_described_dataset(dataset, shadowland.url, tmp_path / "out", user_agent="tests")
    assert described.found == described.filled["description"] == len(titles)
    for entity in described.entities:
        assert name_of(entity.title) in str(entity.description)


def test_a_wiki_in_another_language_works_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why := wiki_world.missing():
        pytest.skip(why)
    monkeypatch.setenv("WIKI_LANGUAGE", "de")
    world = wiki_world.WikiWorld(tmp_path / "wiki", wiki_world.free_port())
    note = "<ref>[http://127.0.0.2/seite Eine Seite].</ref>\n\n== Einzelnachweise ==\n<references />"
    world.make(
        [
            Article(
                "Zürn",
                "* [[Burg Zürn]]\n* [[Zürn an der Aa]]\n* [[Liste der Zürn-Brücken]]\n\n[[Kategorie:Begriffsklärung]]",
            ),
            Article("Burg Zürn", f"Die Burg steht an der [[Zürn an der Aa|Aa]].{note}"),
            Article("Zürn an der Aa", "Ein Ort.\n\n== Weblinks ==\n* [http://127.0.0.2/ort Der Ort]"),
            Article("Liste der Zürn-Brücken", "* eine"),
        ]
    )
    with world.serving() as url, closing(Archive(tmp_path / "wiki.warc.gz", software="tests")) as opened:
        wiki = Wiki(url, opened, user_agent="tests")
        german = read_language(wiki.language)
        found = collect_spaces(find_spaces(wiki, german, Funnel("spaces"), SETTINGS))
        assert by_name(found) == {"Zürn": ("Zürn", {"Burg Zürn", "Zürn an der Aa"})}
        counted = {entity.title: entity.commonness for entity in count_backlinks(wiki, found.entities.values())}
        assert counted == {"Burg Zürn": 1, "Zürn an der Aa": 2}
        for title, path in (("Burg Zürn", "seite"), ("Zürn an der Aa", "ort")):
            references = find_references(wiki.html(title) or "", title, german, world.host, Counter())
            assert [reference.url for reference in references] == [f"http://127.0.0.2/{path}"]
