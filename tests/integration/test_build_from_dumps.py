"""The dumps of a real wiki give what its API gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from collected_spaces import collect_spaces
from sqlite_dump import dump_sqlite
from wiki_pages import Article
from wiki_world import Shadowland, WikiWorld, free_port, missing

from shadowprobe.base.languages import read_language
from shadowprobe.build.archive import Archive
from shadowprobe.build.backlinks import count_backlinks
from shadowprobe.build.dumps.cited import read_references_in_dumps
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.drawing import draw_articles_in_dumps
from shadowprobe.build.dumps.dumped_wiki import DumpedWiki
from shadowprobe.build.dumps.load_dumps import load_dumps
from shadowprobe.build.dumps.source import find_spaces_in_dumps
from shadowprobe.build.dumps.store import Wanted
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.machine import Machine
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.references import find_references
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import find_spaces
from shadowprobe.build.tail import draw_articles
from shadowprobe.build.wiki.wiki_api import Wiki

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")
pytestmark = pytest.mark.slow

ENGLISH = read_language("en")
HEADINGS = tuple(heading.casefold() for heading in ENGLISH.references)
AGENT = "tests (+nobody)"


def dump_pages(world: WikiWorld, directory: Path) -> Path:
    """Writes the texts of the pages, as the wiki itself exports them, beside its tables."""
    dump_sqlite(world.database, directory)
    world.maintain("dumpBackup", "--current", f"--output=file:{directory}/testwiki-20260101-pages-articles.xml")
    return directory


def test_spaces_and_commonness_of_the_dumps_equal_those_of_the_api(shadowland: Shadowland, tmp_path: Path) -> None:
    database = tmp_path / "dumps.duckdb"
    dump_sqlite(shadowland.world.database, tmp_path / "dumps")
    settings = BuildSettings(wiki=shadowland.url, name="", dumps=str(tmp_path / "dumps"))
    asked, read = Funnel("spaces"), Funnel("spaces")
    with closing(Archive(tmp_path / "wiki.warc.gz", software="tests")) as archive:
        wiki = Wiki(shadowland.url, archive, user_agent=AGENT)
        by_api = collect_spaces(find_spaces(wiki, ENGLISH, asked, settings))
        counted_by_api = list(count_backlinks(wiki, by_api.entities.values()))
    by_dumps = collect_spaces(find_spaces_in_dumps(database, ENGLISH, read, settings))
    assert len(by_api.spaces) > 30
    assert by_dumps.spaces == by_api.spaces
    assert by_dumps.entities == by_api.entities
    assert read == asked
    assert list(count_backlinks_in_dumps(database, by_dumps.entities.values())) == counted_by_api
    expected = shadowland.fixture.expected.commonness
    assert {entity.title: entity.commonness for entity in counted_by_api} == {
        entity.title: expected[entity.title] for entity in counted_by_api
    }


class Dumped:
    """The database of the dumps of the wiki, and the wiki by its API."""

    def __init__(self, shadowland: Shadowland, directory: Path, archive: Archive) -> None:
        self.database = directory / "dumps.duckdb"
        self.settings = BuildSettings(wiki=shadowland.url, name="", dumps=str(directory / "dumps"))
        dump_pages(shadowland.world, directory / "dumps")
        self.spaces = collect_spaces(find_spaces_in_dumps(self.database, ENGLISH, Funnel("spaces"), self.settings))
        self.entities = list(self.spaces.entities.values())
        self.api = Wiki(shadowland.url, archive, user_agent=AGENT)
        self.wiki = DumpedWiki(
            shadowland.url, archive, user_agent=AGENT, database=self.database, machine=Machine(workers=1)
        )


@pytest.fixture(scope="module")
def dumped(shadowland: Shadowland, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dumped]:
    directory = tmp_path_factory.mktemp("dumped")
    with closing(Archive(directory / "wiki.warc.gz", software="tests")) as archive:
        yield Dumped(shadowland, directory, archive)


def test_references_of_the_text_equal_those_of_the_rendered_pages(dumped: Dumped, shadowland: Shadowland) -> None:
    host = shadowland.world.host
    asked, dropped = Counter[str](), Counter[str]()
    rendered = [
        reference
        for entity in dumped.entities
        for reference in find_references(dumped.api.html(entity.title) or "", entity.title, ENGLISH, host, asked)
    ]
    before = shadowland.world.requests()
    articles = list(read_references_in_dumps(dumped.database, dumped.entities, host, dropped))
    assert shadowland.world.requests() == before
    assert len(rendered) > 200
    assert [reference for article in articles for reference in article.references] == rendered
    assert all(article.is_there for article in articles)
    assert dropped == asked


def test_longer_names_of_the_dumps_lead_where_the_api_says(dumped: Dumped, shadowland: Shadowland) -> None:
    names = [article.title for article in shadowland.fixture.articles if ":" not in article.title]
    names += ["harlow Bridge", "Old Kestrel Line", "No Such Page", "Berlin Wall", "Zürn Castle", "élan"]
    names = list(dict.fromkeys(names))
    before = shadowland.world.requests()
    by_dumps = {name: (page.get("pageid"), page["title"]) for name, page in dumped.wiki.follow_titles(names)}
    assert shadowland.world.requests() == before
    by_api = dict(dumped.api.follow_titles(names))
    assert list(by_dumps) == names
    for name, page in by_api.items():
        assert by_dumps[name][0] == page.get("pageid"), name
        if "pageid" in page:
            assert by_dumps[name][1] == page["title"]


def test_the_tail_of_the_dumps_is_the_tail_of_the_api(dumped: Dumped, shadowland: Shadowland) -> None:
    used, asked, read = set(dumped.spaces.entities), Funnel("tail"), Funnel("tail")
    drawn = draw_articles(dumped.api, ENGLISH, asked, dumped.settings, used)
    by_api = [list(count_backlinks(dumped.api, batch)) for batch in drawn]
    before = shadowland.world.requests()
    by_dumps = list(draw_articles_in_dumps(dumped.database, ENGLISH, read, dumped.settings, used))
    assert shadowland.world.requests() == before
    assert sum(map(len, by_api)) > 20
    assert by_dumps == by_api
    assert read == asked


# What only a rendered page has: see `docs/build.md`.
ARTICLES = {
    "Bare": "One.<ref>http://one.example/a, and (see http://one.example/b).</ref> <ref>https://one.example/c_(d)</ref>",
    "Bracket": "One.<ref>[http://one.example/a?x=1&y=2#z A ''title''] [//two.example/b b] [http://one.example/c]</ref>",
    "Entity": "One.<ref>[http://one.example/?a=1&amp;b=2 x] http://one.example/q&lt;b http://one.example/r&amp;s;</ref>",
    "Odd": "<ref>[http://one.example/a|b c] [ftp://one.example/x y] mailto:a@one.example [http://one.example/é]</ref>",
    "Named": 'A<ref name="b" /> B<ref name=a>[http://one.example/a a]</ref> C<ref name="a" /> D<ref>http://one.example/d</ref>'
    "\n<references>\n<ref name='b'>[http://one.example/b b]</ref>\n</references>",
    "Groups": 'A<ref>http://one.example/1</ref> B<ref group="n">http://one.example/2</ref> C<ref>http://one.example/3</ref>'
    '\n== Notes ==\n<references group="n" />\n== References ==\n<references />',
    "Cite": "A.<ref>{{cite web |url=http://one.example/a |title=A, B |archive-url=https://web.archive.org/web/20150203040506/"
    "http://one.example/a |url-status=dead}}</ref> B.<ref>{{cite web|url = http://one.example/b|title=B}}, see"
    " [http://one.example/c c].</ref> C.<ref>{{Cite web\n | url = //two.example/d\n | title = D\n}}</ref>",
    "Hidden": "A<ref><!-- http://one.example/no --> http://one.example/yes</ref> <nowiki><ref>http://one.example/n</ref></nowiki>"
    "<!-- <ref>http://one.example/c</ref> -->",
    "Lists": "[http://one.example/body b]\n* [http://one.example/list l]\n== References ==\n* [http://one.example/1 a]"
    "<ref>http://one.example/note</ref>\n** [http://one.example/2 b]\n# {{cite web\n| url=http://one.example/3\n|"
    " title=T\n}}\n[http://one.example/no n]\n=== Books ===\n:* http://one.example/4.\n== Gallery =="
    "\n* [http://one.example/after a]\n== ''External links'' ==\n*[http://one.example/5]",
    "Unclosed": "A<ref>http://one.example/a</ref> B<ref name=x>http://one.example/b",
    "Empty": "Nothing is cited here. [http://one.example/no n]",
    "Template:Cite web": "[{{{url}}} {{{title}}}]{{#if:{{{archive-url|}}}|. [{{{archive-url}}} Archived]}}",
}


def test_references_in_every_form_equal_those_of_the_rendered_page(tmp_path: Path) -> None:
    if why := missing():
        pytest.skip(why)
    world = WikiWorld(tmp_path / "wiki", free_port())
    world.make([Article(title, text) for title, text in ARTICLES.items()])
    dumps = dump_pages(world, tmp_path / "dumps")
    load_dumps(dumps, tmp_path / "db", Wanted(categories=("X",), category="X", headings=HEADINGS))
    with world.serving() as url, closing(Archive(tmp_path / "wiki.warc.gz", software="tests")) as archive:
        wiki = Wiki(url, archive, user_agent=AGENT)
        entities = [
            FoundEntity(page["title"], page["pageid"]) for page in wiki.pages([t for t in ARTICLES if ":" not in t])
        ]
        for entity in entities:
            asked, dropped = Counter[str](), Counter[str]()
            html = wiki.html(entity.title) or ""
            rendered = list(find_references(html, entity.title, ENGLISH, world.host, asked))
            (article,) = read_references_in_dumps(tmp_path / "db", [entity], world.host, dropped)
            assert article.references == rendered
            assert dropped == asked, entity.title
