"""Spaces and commonness from the text of the pages, where the dumps of the tables are missing."""

from __future__ import annotations

import bz2
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from collected_spaces import collect_spaces
from dump_world import COUNTED, DISAMBIGUATION, DROPPED, LINKS, PAGES, PREFIX, REDIRECTS, SPACES, write, write_tables
from msgspec.structs import replace

from shadowprobe.base.languages import Language
from shadowprobe.build.dumps import xml
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.source import find_spaces_in_dumps
from shadowprobe.build.dumps.store import read_notes
from shadowprobe.build.dumps.wikitext import Links, Name, parse_title, read_links
from shadowprobe.build.dumps.xml import Site, WikiPage, read_pages
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.records import FoundSpace
from shadowprobe.build.settings import BuildSettings
from shadowprobe.errors import InputError

ENGLISH = Language("en", suffixes=("disambiguation",), lists=("List of ",), categories=("Disambiguation pages",))
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
<siteinfo><sitename>Test</sitename><case>first-letter</case><namespaces>
<namespace key="0" case="first-letter" /><namespace key="1" case="first-letter">Diskussion</namespace>
<namespace key="10" case="first-letter">Vorlage</namespace><namespace key="14" case="first-letter">Kategorie</namespace>
</namespaces></siteinfo>
"""
SITE = Site({"diskussion": 1, "vorlage": 10, "kategorie": 14})


def page(number: int, title: str, text: str, namespace: int = 0, redirect: str = "", *days: str) -> str:
    revisions = "".join(
        f"<revision><id>1</id><timestamp>{day}T10:00:00Z</timestamp><text>{escape(text)}</text></revision>"
        for day in days or ("2020-01-01",)
    )
    leads = f"<redirect title={quoteattr(redirect)} />" if redirect else ""
    shown = escape(title.replace("_", " "))
    return f"<page><title>{shown}</title><ns>{namespace}</ns><id>{number}</id>{leads}{revisions}</page>\n"


def text_of(number: int, mark: str) -> str:
    links = " ".join(f"[[{title}|this]]" for title in LINKS.get(number, ()))
    return f"{links} {mark}" if number in DISAMBIGUATION else links


def write_articles(directory: Path, *more: str, mark: str = "__DISAMBIG__", name: str = "pages-articles.xml") -> Path:
    directory.mkdir(exist_ok=True)
    targets = {number: f"{wiki}:{title}" if wiki else title for number, _, title, wiki in REDIRECTS}
    pages = [
        page(number, f"Diskussion:{title}" if space else title, text_of(number, mark), space, targets.get(number, ""))
        for number, space, title, _ in PAGES
    ]
    path = directory / f"{PREFIX}-{name}"
    content = (HEAD + "".join((*pages, *more)) + "</mediawiki>\n").encode()
    path.write_bytes(bz2.compress(content) if path.suffix == ".bz2" else content)
    return directory


def find(directory: Path, out: Path, funnel: Funnel | None = None, created_before: str = "") -> list[FoundSpace]:
    settings = BuildSettings(wiki="", name="", dumps=str(directory), created_before=created_before)
    return collect_spaces(find_spaces_in_dumps(out / "db", ENGLISH, funnel or Funnel("spaces"), settings)).spaces


def test_the_text_of_the_pages_gives_the_same_spaces_and_counts_without_items(tmp_path: Path) -> None:
    funnel = Funnel("spaces")
    directory = write_articles(tmp_path / "dumps", name="pages-articles.xml.bz2")
    found = collect_spaces(
        find_spaces_in_dumps(tmp_path / "db", ENGLISH, funnel, BuildSettings(wiki="", name="", dumps=str(directory)))
    )
    assert found.spaces == SPACES
    assert funnel.dropped == DROPPED
    counted = {entity.title: entity for entity in count_backlinks_in_dumps(tmp_path / "db", found.entities.values())}
    assert counted == {title: replace(entity, qid=None) for title, entity in COUNTED.items()}
    (note,) = read_notes(tmp_path / "db")
    assert note.startswith("links come from the text of the pages alone: those that templates make are missing")


def test_the_tables_are_preferred_to_the_text(tmp_path: Path) -> None:
    directory = write_tables(tmp_path / "dumps")
    text = HEAD + page(15, "Mercury", "[[Mercury (film)]] [[Venus]]") + "</mediawiki>"
    (directory / f"{PREFIX}-pages-articles.xml").write_text(text, encoding="utf-8")
    assert find(directory, tmp_path) == SPACES
    assert not any("text of the pages" in note for note in read_notes(tmp_path / "db"))


def test_the_properties_of_pages_are_preferred_to_their_text(tmp_path: Path) -> None:
    directory = write_articles(tmp_path / "dumps")
    rows = [(9, "disambiguation", ""), (11, "wikibase_item", "Q5")]
    write(directory, "page_props", "*pp_page pp_propname pp_value", list(rows))
    settings = BuildSettings(wiki="", name="", dumps=str(directory))
    found = collect_spaces(find_spaces_in_dumps(tmp_path / "db", ENGLISH, Funnel("spaces"), settings))
    assert found.spaces == SPACES[1:]
    assert found.entities["Shaun O'Neill"].qid == "Q5"


@pytest.mark.parametrize("mark", ["{{Begriff}}", "{{ alt \n| x}}", "{{Vorlage:Ort}}", "{{anders}}"])
def test_a_disambiguation_page_is_known_by_its_template(tmp_path: Path, mark: str) -> None:
    templates = (
        page(30, "Vorlage:Begriff", "box __DISAMBIG__ <noinclude>{{Doc}}</noinclude>", 10),
        page(31, "Vorlage:Alt", "", 10, "Vorlage:Begriff"),
        page(32, "Vorlage:Ort", "{{Begriff|ort}}", 10),
        page(33, "Vorlage:Anders", "", 10, "Vorlage:Ort"),
    )
    assert find(write_articles(tmp_path / "dumps", *templates, mark=mark), tmp_path) == SPACES


def test_a_template_that_only_explains_the_mark_makes_no_disambiguation_page(tmp_path: Path) -> None:
    manual = page(
        30, "Vorlage:Manual", "<noinclude>use __DISAMBIG__ or {{Begriff}}</noinclude> <!-- __DISAMBIG__ -->", 10
    )
    marking = page(31, "Vorlage:Begriff", "__DISAMBIG__", 10)
    more = (
        manual,
        marking,
        page(40, "Lonely", "{{Begriff}} [[Venus]] [[Lonely]]"),
        page(41, "Plain", "{{Manual}} [[Venus]]"),
    )
    funnel = Funnel("spaces")
    assert find(write_articles(tmp_path / "dumps", *more, mark="{{Manual}}"), tmp_path, funnel) == []
    # Lonely alone, whose link to itself is none.
    assert funnel.dropped == {"no linked article bears the name": 1}


@pytest.mark.parametrize("category", ["[[Category:Disambiguation pages]]", "[[kategorie: disambiguation_pages |x]]"])
def test_a_disambiguation_page_is_known_by_its_category(tmp_path: Path, category: str) -> None:
    assert find(write_articles(tmp_path / "dumps", mark=category), tmp_path) == SPACES


def test_parts_are_read_in_their_order_and_other_packings_of_the_same_pages_are_not(tmp_path: Path) -> None:
    directory = write_articles(tmp_path / "dumps", name="pages-articles2.xml-p1p20")
    first = HEAD + page(50, "Lone_(film)", "") + page(51, "Lone_(song)", "") + "</mediawiki>"
    (directory / f"{PREFIX}-pages-articles10.xml-p21p60").write_text(first, encoding="utf-8")
    (directory / f"{PREFIX}-pages-articles-multistream.xml").write_text("never read")
    assert find(directory, tmp_path) == [*SPACES, FoundSpace("Lone", "Lone", ("Lone (film)", "Lone (song)"))]


def test_first_revisions_come_from_the_history(tmp_path: Path) -> None:
    directory = write_tables(tmp_path / "dumps")
    days = {2: ("2017-05-05", "2016-12-31"), 3: ("2001-01-01",), 10: ("2002-01-01",), 11: ("2017-01-01",)}
    pages = "".join(page(number, "x", "", 0, "", *days[number]) for number in days)
    (directory / f"{PREFIX}-stub-meta-history.xml").write_text(f"{HEAD}{pages}</mediawiki>", encoding="utf-8")
    funnel = Funnel("spaces")
    # Of 18 the history says nothing; of 11 that it is a day too young; the second revision of 2 came first.
    assert find(directory, tmp_path, funnel, "2016-12-31") == [
        FoundSpace("Mercury", "Mercury (disambiguation)", ("Mercury (element)", "Mercury (planet)"))
    ]
    assert funnel.dropped == {"fewer than two articles are old enough": 1, **DROPPED}
    assert find(directory, tmp_path) == SPACES


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("venus", Name(0, "Venus")),
        ("  Venus__of \t Milo ", Name(0, "Venus_of_Milo")),
        ("Venus#Moons", Name(0, "Venus")),
        ("#Moons", None),
        ("A &amp; B", Name(0, "A_&_B")),
        ("Z%C3%BCrich", Name(0, "Zürich")),
        ("ßa", Name(0, "ßa")),
        ("éa", Name(0, "Éa")),
        (":Kategorie:Gods", Name(14, "Gods")),
        ("Category:gods", Name(14, "Gods")),
        ("DISKUSSION: venus", Name(1, "Venus")),
        ("Star Wars: Venus", Name(0, "Star_Wars:_Venus")),
        ("Kategorie:", None),
    ],
)
def test_a_link_leads_to_the_title_that_the_wiki_makes_of_it(link: str, name: Name | None) -> None:
    assert parse_title(link, SITE) == name


def test_on_a_wiki_that_minds_the_case_it_stays() -> None:
    assert parse_title("venus", Site(capital=False)) == Name(0, "venus")


def test_links_are_those_that_a_reader_sees() -> None:
    text = (
        "[[Venus]] [[venus|again]] [[Mars (god)|]] <!-- [[Hidden]] --> <nowiki>[[Shown]] {{shown}}</nowiki>"
        " [[Datei:x.png|[[Inner]]]] <pre class='x'>[[Code]]</pre> {{Info|ort=[[Place]]}} [[Kategorie:Gods|x]]"
        " [[:Kategorie:Only named]] [[broken [[Two|words]] <nowiki/>[[After]] {{#if: x | y}} {{{parameter}}}"
    )
    assert read_links(text, Site({"datei": 6, **SITE.namespaces})) == Links(
        articles={"Venus", "Mars_(god)", "Inner", "Place", "Two", "After"},
        categories={"Gods"},
        templates={"Info"},
        marked=False,
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (HEAD + page(1, "A", ""), "is cut off: fetch it again"),
        (HEAD + "<page><title>A</title><ns>0", "is cut off: fetch it again"),
        ("", "is cut off: fetch it again"),
        (HEAD + "<page></mediawiki>", r"is not XML \(mismatched tag"),
        ("<html></html>", "is not a dump of a wiki: it begins with <html>"),
        (
            HEAD + "<page><title>A</title><ns>0</ns></page></mediawiki>",
            "has a page without title, number or namespace",
        ),
        (HEAD + "<page><title>A</title><ns>x</ns><id>1</id></page></mediawiki>", "has a page without title, number"),
    ],
)
def test_a_file_that_is_no_whole_dump_is_named(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "w-1-pages-articles.xml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=rf"w-1-pages-articles\.xml: {problem}"):
        list(read_pages(path, Site()))


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_a_page_of_any_form_is_read_wherever_a_chunk_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(xml, "CHUNK", chunk)
    path = tmp_path / "w-1-pages-articles.xml"
    usual = page(1, "A_b", 'x < "y" & z') + page(2, "C", "", 10, 'A "b"')
    several = (
        "<page><ns>0</ns><id>3</id><title>D e</title>"
        "<revision><text>old</text></revision><revision><id>9</id><text>&#110;ew</text></revision></page>"
    )
    empty = "<page><title>F</title><ns>1</ns><id>4</id><revision><id>9</id></revision></page>"
    none = "<page><title /><ns>0</ns><id>5</id></page>"
    path.write_text(f"{HEAD}{usual}{several} \n {empty}{none}</mediawiki>\n", encoding="utf-8")
    site = Site()
    assert list(read_pages(path, site)) == [
        WikiPage(1, 0, "A_b", None, 'x < "y" & z', ""),
        WikiPage(2, 10, "C", 'A "b"', "", ""),
        WikiPage(3, 0, "D_e", None, "new", ""),
        WikiPage(4, 1, "F", None, "", ""),
        WikiPage(5, 0, "", None, "", ""),
    ]
    assert site == SITE


def test_a_dump_may_have_no_pages(tmp_path: Path) -> None:
    path = tmp_path / "w-1-pages-articles.xml"
    path.write_text(f"{HEAD}</mediawiki>\n", encoding="utf-8")
    site = Site()
    assert list(read_pages(path, site)) == []
    assert site == SITE


def test_text_between_two_pages_is_no_dump(tmp_path: Path) -> None:
    path = tmp_path / "w-1-pages-articles.xml"
    for odd in (f"{page(1, 'A', '')}x{page(2, 'B', '')}", f"{page(1, 'A', '')}x"):
        path.write_text(f"{HEAD}{odd}</mediawiki>\n", encoding="utf-8")
        with pytest.raises(InputError, match="is not a dump of a wiki: there is something between its pages"):
            list(read_pages(path, Site()))


def test_a_packed_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    directory = write_articles(tmp_path, name="pages-articles.xml.bz2")
    path = directory / f"{PREFIX}-pages-articles.xml.bz2"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"pages-articles\.xml\.bz2: is cut off: fetch it again"):
        list(read_pages(path, Site()))


def test_only_pages_of_the_namespace_of_templates_are_templates() -> None:
    # A colon includes an article, and another namespace a page that is no template.
    assert read_links("{{Cite}} {{:Avon}} {{Category:Rivers}}", SITE).templates == {"Cite"}
