"""Stage 3: the links of references, and of nothing else in an article."""

from __future__ import annotations

from collections import Counter

import pytest

from shadowprobe.base.languages import Language, read_language
from shadowprobe.build import references as module
from shadowprobe.build.records import WebReference
from shadowprobe.build.references import explain_unwanted, find_references, is_archived

ENGLISH = read_language("en")
WIKI = "wiki.example:8080"
COPY = "https://web.archive.org/web/20150203040506/"


def a(url: str, kind: str = "external text") -> str:
    return f'<a rel="nofollow" class="{kind}" href="{url}">link</a>'


def cited(*notes: str) -> str:
    """An article with these notes, as Cite renders them."""
    items = "".join(
        f'<li id="cite_note-{number}"><span class="mw-cite-backlink"><a href="#cite_ref-{number}">↑</a></span>'
        f' <span class="reference-text">{note}</span></li>'
        for number, note in enumerate(notes, start=1)
    )
    return f'<p>Text.</p><div class="mw-references-wrap"><ol class="references">{items}</ol></div>'


def found(html: str, language: Language = ENGLISH) -> list[tuple[str, str | None]]:
    return [(each.url, each.archived) for each in find_references(html, "E", language, WIKI, Counter())]


def test_the_links_of_notes_are_found_in_their_order() -> None:
    html = cited(a("http://one.example/1"), a("http://two.example/2") + a("http://three.example/3"))
    references = list(find_references(html, "Harlow Bridge", ENGLISH, WIKI, Counter()))
    assert references == [
        WebReference("Harlow Bridge", f"http://{host}.example/{number}")
        for number, host in enumerate(("one", "two", "three"), start=1)
    ]


def test_links_of_the_body_and_inner_links_of_notes_are_none() -> None:
    body = f"<p>{a('http://body.example/')}</p><ul><li>{a('http://list.example/')}</li></ul>"
    html = body + cited(a("/wiki/Harlow", "mw-redirect") + a("http://note.example/"))
    assert found(html) == [("http://note.example/", None)]


def test_no_references_are_no_error() -> None:
    assert found("") == []
    assert found("<p>Text.</p><h2>References</h2>") == []


HEADING_OLD = (
    '<h{level}><span class="mw-headline" id="x">{text}</span><span class="mw-editsection">[edit]</span></h{level}>'
)
HEADING_NEW = '<div class="mw-heading mw-heading{level}"><h{level} id="x">{text}</h{level}><span>[edit]</span></div>'


@pytest.mark.parametrize("heading", [HEADING_OLD, HEADING_NEW, "<h{level}>{text}</h{level}>"])
def test_lists_under_a_heading_for_references_count_up_to_the_next_of_its_rank(heading: str) -> None:
    html = "".join(
        [
            heading.format(level=2, text="History"),
            f"<ul><li>{a('http://before.example/')}</li></ul>",
            heading.format(level=2, text="References"),
            f"<ul><li>{a('http://one.example/')}</li></ul>",
            heading.format(level=3, text="Books"),
            f"<div><ul><li>{a('http://two.example/')}</li></ul></div>",
            heading.format(level=2, text="Gallery"),
            f"<ul><li>{a('http://after.example/')}</li></ul>",
        ]
    )
    assert found(html) == [("http://one.example/", None), ("http://two.example/", None)]


def test_headings_are_those_of_the_language() -> None:
    html = f"<h2>Einzelnachweise</h2><ul><li>{a('http://one.example/')}</li></ul>"
    assert found(html, read_language("de")) == [("http://one.example/", None)]
    assert found(html) == []


def test_boxes_of_links_below_the_references_are_none() -> None:
    box = f'<div class="navbox"><ul><li>{a("http://box.example/")}</li></ul></div>'
    html = f"<h2>References</h2><ul><li>{a('http://one.example/')}</li></ul>{box}"
    assert found(html) == [("http://one.example/", None)]


def test_a_list_inside_a_note_is_a_part_of_the_note() -> None:
    inner = f"Two sources: <ul><li>{a('http://one.example/')}</li><li>{a('http://two.example/')}</li></ul>"
    dropped: Counter[str] = Counter()
    html = f"<h2>References</h2><ul><li>{inner}</li></ul>"
    assert len(list(find_references(html, "E", ENGLISH, WIKI, dropped))) == 2
    assert dropped == {}


def test_a_page_counts_once_whatever_place_in_it_is_named() -> None:
    dropped: Counter[str] = Counter()
    html = cited(a("http://one.example/p"), a("http://one.example/p#x"), a("http://one.example/p?x=1"))
    assert [each.url for each in find_references(html, "E", ENGLISH, WIKI, dropped)] == [
        "http://one.example/p",
        "http://one.example/p?x=1",
    ]
    assert dropped == {"the same page again": 1}


def test_a_link_without_a_scheme_goes_by_https() -> None:
    assert found(cited(a("//one.example/p"))) == [("https://one.example/p", None)]


@pytest.mark.parametrize(
    ("links", "pairs"),
    [
        # Dead, as citations show it: the copy first, then `the original`.
        (
            [COPY + "http://one.example/p", "http://one.example/p"],
            [("http://one.example/p", COPY + "http://one.example/p")],
        ),
        (
            ["https://www.one.example/p/", COPY + "http://one.example/p"],
            [("https://www.one.example/p/", COPY + "http://one.example/p")],
        ),
        # A copy whose address does not name its original belongs to the only page beside it.
        (
            ["http://one.example/p", "https://archive.today/AbCd"],
            [("http://one.example/p", "https://archive.today/AbCd")],
        ),
        # Alone, it tells its original where it can.
        ([COPY + "http://one.example/p"], [("http://one.example/p", COPY + "http://one.example/p")]),
        (["https://archive.ph/AbCd"], [("https://archive.ph/AbCd", "https://archive.ph/AbCd")]),
        (
            ["http://one.example/p", "http://two.example/q", COPY + "http://two.example/q"],
            [("http://one.example/p", None), ("http://two.example/q", COPY + "http://two.example/q")],
        ),
    ],
)
def test_a_page_has_the_copy_that_stands_beside_it(links: list[str], pairs: list[tuple[str, str | None]]) -> None:
    assert found(cited("".join(map(a, links)))) == pairs


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://one.example/news/2011/bridge.html", ""),
        ("http://one.example/", ""),
        ("http://one.example/national-register-of-bridges", ""),
        ("http://one.example/register-office/history", ""),
        ("http://one.example/blogin/catalogin", ""),
        ("http://one.example/pdf/about", ""),
        ("http://wiki.example/page", ""),
        ("http://one.example/report.pdf", "a document such as PDF"),
        ("http://one.example/report.PDF?download=1", "a document such as PDF"),
        ("http://one.example/a%2Edoc", "a document such as PDF"),
        ("http://one.example/Bridge.JPG", "a media file"),
        ("http://one.example/film.webm", "a media file"),
        ("http://one.example/login", "a login page"),
        ("http://one.example/accounts/login/?next=/", "a login page"),
        ("http://one.example/sign-in.aspx", "a login page"),
        ("http://one.example/wp-login.php", "a login page"),
        ("http://one.example/user/register", "a login page"),
        ("http://WIKI.example:8080/index.php/Harlow", "a page of a wiki"),
        ("https://de.wikipedia.org/wiki/Harlow", "a page of a wiki"),
        ("https://www.wikidata.org/wiki/Q42", "a page of a wiki"),
        ("https://notwikipedia.org/wiki/Harlow", ""),
        ("ftp://one.example/list", "neither http nor https"),
        ("mailto:someone@one.example", "neither http nor https"),
        ("javascript:alert(1)", "neither http nor https"),
        ("http:///path", "neither http nor https"),
        ("http://[one/", "not a URL"),
    ],
)
def test_the_reason_is_given_for_links_that_cannot_be_read(url: str, why: str) -> None:
    assert explain_unwanted(url, WIKI) == why


@pytest.mark.parametrize(
    "broken",
    ["http://[one/", "http://[1:2]/x#a", "http://example.com／foo#bar", "http://[1:2]/web/2010/http://one.example/"],
)
def test_a_broken_address_is_dropped_and_no_error(broken: str) -> None:
    dropped: Counter[str] = Counter()
    html = cited(a(broken) + a("http://one.example/"), a("http://two.example/"))
    references = list(find_references(html, "E", ENGLISH, WIKI, dropped))
    assert references == [WebReference("E", "http://one.example/"), WebReference("E", "http://two.example/")]
    assert dropped == {"not a URL": 1}
    assert not is_archived("http://[one/")


def test_thousands_of_links_and_copies_are_paired_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [f"http://one.example/{number}" for number in range(2500)]
    compared: list[str] = []
    plain = module.simplify_url

    def counted(url: str) -> str:
        compared.append(url)
        return plain(url)

    monkeypatch.setattr(module, "simplify_url", counted)
    html = cited("".join(map(a, [*pages, *(COPY + page for page in reversed(pages))])))
    assert found(html) == [(page, COPY + page) for page in pages]
    # Every link once, and the original of every copy once.
    assert len(compared) == 5000


def test_of_two_copies_of_a_page_the_first_is_its_own_and_the_other_tells_the_page_again() -> None:
    later = COPY.replace("2015", "2016")
    dropped: Counter[str] = Counter()
    page = "http://one.example/p"
    html = cited("".join(map(a, [page, COPY + page, later + page])))
    assert list(find_references(html, "E", ENGLISH, WIKI, dropped)) == [WebReference("E", page, COPY + page)]
    assert dropped == {"the same page again": 1}
