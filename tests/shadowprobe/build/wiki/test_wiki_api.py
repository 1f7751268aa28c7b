"""The API client: finds a wiki, puts answers together, waits when asked to, and asks nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from service import Asked, Reply
from wiki_standin import RunningStandIn, StandIn, running

from shadowprobe.build.archive import Archive
from shadowprobe.build.wiki.wiki_api import Wiki, batches
from shadowprobe.errors import BuildError


def titles(server: RunningStandIn, wiki: Wiki, *asked: str) -> list[str]:
    return [page["title"] for page in wiki.pages(asked, prop="info")]


def test_what_the_wiki_says_of_itself_is_known(tmp_path: Path) -> None:
    standin = StandIn(language="de-formal", extensions=("Cite", "Disambiguator"))
    standin.add("Harlow", 1)
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
    assert (wiki.language, wiki.generator, wiki.name, wiki.pages_in_all) == ("de", "MediaWiki 1.39.0", "Stand-in", 1)
    assert wiki.extensions == {"Cite", "Disambiguator"}


@pytest.mark.parametrize("place", ["/w/api.php", "/api.php", "/wiki/api.php", "/mediawiki/api.php"])
def test_the_api_is_found_at_its_usual_places(place: str, tmp_path: Path) -> None:
    standin = StandIn()
    standin.place = place
    with running(standin, tmp_path) as server:
        assert server.wiki().name == "Stand-in"


@pytest.mark.parametrize("given", ["/deep/down", "/deep/down/", "/deep/down/api.php"])
def test_a_place_that_is_given_is_tried_first(given: str, tmp_path: Path) -> None:
    standin = StandIn()
    standin.place = "/deep/down/api.php"
    with running(standin, tmp_path) as server:
        server.wiki(path=given)
        assert server.service.requests[0].path == "/deep/down/api.php"


def test_where_there_is_no_wiki_an_error_names_the_places_that_were_tried(tmp_path: Path) -> None:
    standin = StandIn()
    standin.place = "/nowhere"
    with (
        running(standin, tmp_path) as server,
        pytest.raises(BuildError, match=r"no MediaWiki was found here \(/w/api.php: HTTPError: 404"),
    ):
        server.wiki()


def test_a_wiki_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as server:
        url = server.url
    archive = Archive(tmp_path / "wiki.warc.gz", software="tests")
    with pytest.raises(BuildError, match=rf"^{url}: no connection; is the address right\?$"):
        Wiki(url, archive, user_agent="tests")
    archive.close()


@pytest.mark.parametrize(
    "url",
    [
        "ftp://wiki.example",
        "file:///etc/passwd",
        "https://",
        "",
        "http://[::1",
        "http://wiki.example:99999",
        "http://a／b",
        "wiki example",
    ],
)
def test_what_is_no_address_of_a_wiki_is_refused(url: str, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "wiki.warc.gz", software="tests")
    with pytest.raises(BuildError, match="is no address of a wiki"):
        Wiki(url, archive, user_agent="tests")
    archive.close()


@pytest.mark.parametrize(
    "url", ["http://user:secret@wiki.example", "user:secret@wiki.example/w/", "http://user:secret@["]
)
def test_a_password_in_the_address_is_refused_and_not_shown(url: str, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "wiki.warc.gz", software="tests")
    with pytest.raises(BuildError, match="address") as error:
        Wiki(url, archive, user_agent="tests")
    assert "secret" not in str(error.value)
    archive.close()


def test_a_wiki_whose_titles_begin_with_small_letters_is_refused_at_once(tmp_path: Path) -> None:
    standin = StandIn()
    standin.general = {"case": "case-sensitive"}
    with (
        running(standin, tmp_path) as server,
        pytest.raises(BuildError, match=r"titles can begin with a small letter here \(\$wgCapitalLinks is false\)"),
    ):
        server.wiki()


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("https://wiki.example/w/api.php", "https://wiki.example"),
        ("https://wiki.example/deep/api.php", "https://wiki.example/deep/"),
        ("http://user:secret@wiki.example/api.php?a=b", "http://wiki.example"),
    ],
)
def test_a_wiki_that_has_moved_tells_its_new_address(target: str, address: str, tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as server:
        server.service.behaviour = lambda number, asked: (301, {"Location": target}, b"")
        with pytest.raises(BuildError, match=rf"^{server.url}: the wiki is at {address}: give that address$"):
            server.wiki()
        assert [asked.method for asked in server.service.requests] == ["POST"]


@pytest.mark.parametrize("target", ["/wiki/Main_Page", "/index.php/W/api.php", "http://[1:2", "mailto:a@b.example"])
def test_a_place_that_leads_elsewhere_is_not_the_api_and_the_others_are_tried(target: str, tmp_path: Path) -> None:
    standin = StandIn()
    standin.place = "/api.php"

    def behaviour(number: int, asked: Asked) -> Reply:
        return standin(number, asked) if asked.path == standin.place else (302, {"Location": target}, b"")

    with running(standin, tmp_path) as server:
        server.service.behaviour = behaviour
        assert server.wiki().name == "Stand-in"


def test_the_wiki_is_told_who_asks(tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as server:
        server.wiki()
        assert {asked.headers["user-agent"] for asked in server.service.requests} == {"tests (+nobody)"}


def test_items_are_asked_for_fifty_at_a_time(tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as server:
        names = [f"Page {number}" for number in range(120)]
        assert titles(server, server.wiki(), *names) == names
        assert [len(form["titles"].split("|")) for form in server.forms] == [50, 50, 20]
    assert list(batches([])) == []


def test_the_parts_of_an_answer_are_put_together(tmp_path: Path) -> None:
    standin = StandIn(part=2)
    standin.add("Long", 1, links=[{"title": name} for name in "abcde"])
    standin.add("Short", 2, links=[{"title": "z"}])
    standin.lists["allpages"] = [{"title": name} for name in "vwxyz"]
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        pages = {page["title"]: page for page in wiki.pages(["Long", "Short"], prop="links")}
        assert [link["title"] for link in pages["Long"]["links"]] == list("abcde")
        assert [link["title"] for link in pages["Short"]["links"]] == ["z"]
        assert [item["title"] for item in wiki.read_list("allpages")] == list("vwxyz")
        assert len(server.forms) == 3 + 3


def test_only_the_first_part_can_be_asked_for(tmp_path: Path) -> None:
    standin = StandIn(part=1)
    standin.add("Long", 1, revisions=[{"timestamp": "2001"}, {"timestamp": "2002"}])
    with running(standin, tmp_path) as server:
        assert server.wiki().first(titles="Long")["pages"][0]["revisions"] == [{"timestamp": "2001"}]
        assert len(server.forms) == 1


def test_a_title_leads_through_redirects_to_its_page(tmp_path: Path) -> None:
    standin = StandIn()
    standin.add("Harlow Bridge", 1)
    standin.leads = {
        "harlow_crossing": "Harlow Crossing",
        "Harlow Crossing": "Old Bridge",
        "Old Bridge": "Harlow Bridge",
    }
    standin.leads |= {"Round": "About", "About": "Round"}
    with running(standin, tmp_path) as server:
        asked = ["harlow_crossing", "Harlow Bridge", "Nowhere", "Round"]
        found = dict(server.wiki().follow_titles(asked, prop="info"))
    assert [found[title].get("pageid") for title in asked] == [1, 1, None, None]


def test_an_answer_that_the_archive_has_is_not_asked_for_again(tmp_path: Path) -> None:
    standin = StandIn()
    # Not where it is looked for first.
    standin.place = "/mediawiki/api.php"
    standin.add("Harlow", 1)
    standin.texts["Harlow"] = "<p>A town.</p>"
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        first = (titles(server, wiki, "Harlow", "Gone"), wiki.html("Harlow"), wiki.html("Gone"))
        before = len(server.service.requests)
        again = server.wiki()
        assert (titles(server, again, "Harlow", "Gone"), again.html("Harlow"), again.html("Gone")) == first
        assert first == (["Harlow", "Gone"], "<p>A town.</p>", None)
        assert len(server.service.requests) == before


def test_from_the_archive_alone_all_is_answered_though_the_wiki_is_gone(tmp_path: Path) -> None:
    standin = StandIn()
    # Of the first place that was tried, in vain, the archive has nothing.
    standin.place = "/mediawiki/api.php"
    standin.add("Harlow", 1)
    with running(standin, tmp_path) as server:
        titles(server, server.wiki(), "Harlow")
    wiki = server.wiki(read_only=True)
    assert titles(server, wiki, "Harlow") == ["Harlow"]
    with pytest.raises(BuildError, match=r"has no answer of .*api.php to this question; build without --from-archive"):
        titles(server, wiki, "Kestrel")
    server.close()


def test_of_a_wiki_that_it_never_saw_the_archive_says_so(tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as server:
        server.wiki()
    server.url = "http://other.example"
    with pytest.raises(BuildError, match=r"has no answer of http://other.example/.*build without --from-archive"):
        server.wiki(read_only=True)
    server.close()
