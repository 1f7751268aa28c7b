"""Entities by the API of a Wikibase, played by a stand-in on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from service import Asked, Reply, serving
from service import Service as Standing
from wikibase_standin import Wikibase as StandIn
from wikibase_standin import as_json, refused
from wikidata_world import entity, item, statement

from shadowprobe.errors import BuildError, UsageError
from shadowprobe.sets import wikibase_api as module
from shadowprobe.sets.fact_source import open_service
from shadowprobe.sets.fact_store import open_store
from shadowprobe.sets.wikibase_api import CUT, GONE, NAMES, WHOLE, Wikibase, api_address, load_names


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made; time does not pass in them."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", lambda seconds: pauses.append(round(seconds)) if seconds > 0 else None)
    return pauses


@contextmanager
def asking(standin: StandIn, directory: Path) -> Iterator[tuple[Wikibase, Standing]]:
    """A Wikibase that answers while the block runs, through an archive in a directory."""
    with (
        serving(standin) as running,
        closing(open_service(directory, "entities.warc.gz", "tests (+nobody@example.org)")) as service,
    ):
        yield Wikibase(running.url.removesuffix("/api"), service, "en"), running


def test_a_search_goes_on_to_its_end(tmp_path: Path) -> None:
    with asking(StandIn(part=2), tmp_path) as (wikibase, running):
        assert wikibase.search("Ada Quill") == ["Q1001", "Q1002", "Q1003", "Q1051"]
    assert [asked.query["continue"] for asked in running.requests] == ["0", "2"]
    assert {asked.query["limit"] for asked in running.requests} == {"50"}


def test_only_exact_names_are_hits_and_aliases_are_names(tmp_path: Path) -> None:
    with asking(StandIn(), tmp_path) as (wikibase, _):
        assert wikibase.search("Bo Tarn") == ["Q1071", "Q1072"]
        # VARN is found too, and so would be whatever begins with the word.
        assert wikibase.search("Varn") == ["Q1061", "Q1062"]
        assert wikibase.search("Var") == []
        assert wikibase.search("Nobody") == []


def test_a_search_that_does_not_end_is_cut_off_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HITS", 4)
    many = [entity(f"Q{number}", "Varn") for number in range(1, 8)]
    with asking(StandIn(many), tmp_path) as (wikibase, _):
        assert wikibase.search("Varn") == ["Q1", "Q2", "Q3", "Q4"]
        assert wikibase.dropped == {CUT: 1}


def test_a_search_that_goes_on_where_it_began_ends_there(tmp_path: Path) -> None:
    standin = StandIn()
    standin.instead = [as_json({"search": [], "search-continue": 0})] * 9
    with asking(standin, tmp_path) as (wikibase, running):
        assert wikibase.search("Varn") == []
    assert len(running.requests) == 1


def test_every_request_says_who_asks_and_waits_its_turn(tmp_path: Path) -> None:
    with asking(StandIn(), tmp_path) as (wikibase, running):
        wikibase.search("Varn")
    assert {asked.headers["user-agent"] for asked in running.requests} == {"tests (+nobody@example.org)"}
    assert {asked.query["maxlag"] for asked in running.requests} == {"5"}
    assert running.most_at_once == 1


def test_entities_are_asked_for_fifty_at_a_time(tmp_path: Path) -> None:
    many = [entity(f"Q{number}", f"Name {number}") for number in range(1, 121)]
    with asking(StandIn(many), tmp_path) as (wikibase, running):
        found = list(wikibase.items([each["id"] for each in many], (), NAMES))
    assert [qid for qid, _ in found] == [each["id"] for each in many]
    assert [len(asked.query["ids"].split("|")) for asked in running.requests] == [50, 50, 20]


def test_an_id_that_was_merged_leads_to_the_other_entity(tmp_path: Path) -> None:
    standin = StandIn()
    standin.leads = {"Q9001": "Q1002"}
    with asking(standin, tmp_path) as (wikibase, _):
        ((asked, found),) = wikibase.items(["Q9001"], (), WHOLE)
    assert (asked, found.qid, found.title) == ("Q9001", "Q1002", "Ada Quill (judoka)")


def test_an_answer_under_the_new_id_is_found_by_the_old_one(tmp_path: Path) -> None:
    standin = StandIn()
    moved = {"type": "item", "id": "Q7", "redirects": {"from": "Q9", "to": "Q7"}, "labels": []}
    standin.instead = [as_json({"entities": {"Q7": moved}})]
    with asking(standin, tmp_path) as (wikibase, _):
        assert [(qid, found.qid) for qid, found in wikibase.items(["Q9"], (), NAMES)] == [("Q9", "Q7")]


def test_an_entity_that_is_gone_is_left_out(tmp_path: Path) -> None:
    with asking(StandIn(), tmp_path) as (wikibase, _):
        assert [qid for qid, _ in wikibase.items(["Q9002", "Q1001"], (), WHOLE)] == ["Q1001"]


@pytest.mark.parametrize(
    ("reply", "pauses"),
    [
        (refused("maxlag", "Waiting for db: 7 seconds lagged."), [2]),
        (refused("maxlag", "Waiting for db: 7 seconds lagged.", {"Retry-After": "5"}), [5]),
        ((429, {"Retry-After": "7"}, b"slow down"), [7]),
        ((503, {"Content-Type": "text/html"}, b"<h1>broken</h1>"), [2]),
    ],
)
def test_a_busy_wiki_is_asked_again_when_it_wants(
    reply: Reply, pauses: list[int], tmp_path: Path, slept: list[float]
) -> None:
    standin = StandIn()
    standin.instead = [reply]
    with asking(standin, tmp_path) as (wikibase, _):
        assert wikibase.search("Bo Tarn") == ["Q1071", "Q1072"]
    assert slept == pauses


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (refused("maxlag", "Lagged."), r"/w/api\.php: the API says maxlag: Lagged\.; the same command goes on later$"),
        ((429, {"Retry-After": "7"}, b""), r"/w/api\.php: 429 Too Many Requests; the same command goes on later$"),
        ((500, {}, b""), r"/w/api\.php: 500 Internal Server Error; the same command goes on later$"),
        ((502, {}, b""), r"/w/api\.php: 502 Bad Gateway; the same command goes on later$"),
    ],
)
def test_patience_with_a_busy_wiki_ends(reply: Reply, problem: str, tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    standin.instead = [reply] * 9
    with asking(standin, tmp_path) as (wikibase, running), pytest.raises(BuildError, match=problem):
        wikibase.search("Bo Tarn")
    assert (len(running.requests), len(slept)) == (5, 4)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (refused("long", "y" * 201), r"the API says long: y{200}$"),
        (refused("unknown_language", "No such\nlanguage."), r"the API says unknown_language: No such language\.$"),
        (
            (200, {"Content-Type": "text/html"}, b"<html>Log in</html>"),
            r"no answer that a MediaWiki gives \(JSON is mal",
        ),
        (
            (200, {}, b'{"searchinfo": {}}'),
            r"no answer that a MediaWiki gives \(Object missing required field `search`",
        ),
        ((403, {"Content-Type": "text/html"}, b"<p>No.</p>"), r"no answer that a MediaWiki gives \(status 403\)"),
        ((301, {"Location": "https://other.example/w/api.php"}, b""), r"leads on to https://other\.example/w/api\.php"),
    ],
)
def test_an_answer_that_is_none_is_told_in_one_line_and_not_kept(
    reply: Reply, problem: str, tmp_path: Path, slept: list[float]
) -> None:
    standin = StandIn()
    standin.instead = [reply]
    with asking(standin, tmp_path) as (wikibase, _):
        with pytest.raises(BuildError, match=problem) as caught:
            wikibase.search("Bo Tarn")
        assert "\n" not in str(caught.value)
        assert wikibase.search("Bo Tarn") == ["Q1071", "Q1072"]
    assert slept == []


def test_a_strange_entity_is_an_answer_that_is_none(tmp_path: Path) -> None:
    standin = StandIn()
    standin.instead = [as_json({"entities": {"Q1": {"id": "Q1", "labels": {"en": {"value": 7}}}}})]
    with asking(standin, tmp_path) as (wikibase, _), pytest.raises(BuildError, match="Expected `str`, got `int`"):
        list(wikibase.items(["Q1"], (), NAMES))


def test_nobody_there_is_told_at_once(tmp_path: Path, slept: list[float]) -> None:
    with asking(StandIn(), tmp_path) as (wikibase, _):
        pass
    with closing(open_service(tmp_path, "entities.warc.gz", "tests")) as service:
        gone = Wikibase(wikibase.url, service, "en")
        with pytest.raises(BuildError, match=r"/w/api\.php: no connection; is the address right\?$"):
            gone.search("Varn")
    assert slept == []


def test_a_wiki_that_dies_is_given_half_a_minute(tmp_path: Path, slept: list[float]) -> None:
    def die(number: int, asked: Asked) -> Reply:
        raise ConnectionError

    with asking(StandIn(), tmp_path) as (wikibase, running):
        wikibase.search("Varn")
        running.behaviour = die
        with pytest.raises(BuildError, match=r"breaks off .*; the same command goes on later"):
            wikibase.search("Ada Quill")
    assert slept == [2, 4, 8, 16]


def test_names_bring_their_items_their_classes_and_the_names_of_their_values(tmp_path: Path) -> None:
    standin, store = StandIn(), tmp_path / "facts.sqlite"
    # The search finds the judoka under an older id too, and somebody who is no longer there.
    standin.leads, standin.stale = {"Q9001": "Q1002"}, {"Q9001": "Ada Quill", "Q9002": "Ada Quill"}
    with asking(standin, tmp_path) as (wikibase, _):
        steps: list[tuple[str, int, int | None]] = []
        names, properties = ["Ada Quill", "Her Lantern"], {"P641", "P658"}
        load_names(wikibase, names, store, properties, subclasses=True, progress=lambda *step: steps.append(step))
        assert wikibase.dropped == {GONE: 1}
    assert steps[:2] == [("names searched for", 1, 2), ("names searched for", 2, 2)]
    assert steps[-2:] == [("names of values", 1, None), ("names of values", 2, None)]
    assert [name for name, _, _ in steps if name == "classes"]
    with open_store(store) as facts:
        assert facts.execute("SELECT count(*) FROM label WHERE qid < 2000").fetchone() == (7,)
        assert facts.execute("SELECT qid, item FROM claim ORDER BY qid").fetchall() == [(1002, 2002), (1013, 2016)]
        labels = facts.execute("SELECT qid, forms FROM label WHERE qid > 2000").fetchall()
        assert labels == [(2002, '["judo"]'), (2016, '["Marsh Lights"]')]
        above = facts.execute("SELECT class, parent FROM subclass ORDER BY class").fetchall()
        assert above == [(24862, 11424), (208569, 482994), (482994, 2188189), (2188189, 482994)]


def test_values_and_classes_that_were_merged_are_found_under_their_old_ids(tmp_path: Path) -> None:
    made = [
        entity("Q1", "Dusk", statement("P175", item("Q901")), statement("P31", item("Q902")), title="Dusk"),
        entity("Q2", "The Owls"),
        entity("Q3", "song"),
    ]
    standin, store = StandIn(made), tmp_path / "facts.sqlite"
    standin.leads = {"Q901": "Q2", "Q902": "Q3"}
    with asking(standin, tmp_path) as (wikibase, _):
        load_names(wikibase, ["Dusk"], store, {"P175"}, subclasses=True)
    with open_store(store) as facts:
        assert facts.execute("SELECT forms FROM label WHERE qid = 901").fetchall() == [('["The Owls"]',)]
        assert facts.execute("SELECT class, parent FROM subclass").fetchall() == [(902, 3)]


def test_without_subclasses_nothing_is_asked_about_classes(tmp_path: Path) -> None:
    with asking(StandIn(), tmp_path) as (wikibase, running):
        load_names(wikibase, ["Her Lantern"], tmp_path / "facts.sqlite", {"P658"})
    assert [asked.query.get("props") for asked in running.requests if "ids" in asked.query] == [WHOLE, NAMES]
    # Titles are wanted of one Wikipedia only.
    assert [asked.query.get("sitefilter") for asked in running.requests if "ids" in asked.query] == ["enwiki", None]


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    with asking(StandIn(), tmp_path) as (wikibase, running):
        load_names(wikibase, ["Varn"], tmp_path / "facts.sqlite", {"P452"}, subclasses=True)
        asked = len(running.requests)
    assert asked > 0
    with closing(open_service(tmp_path, "entities.warc.gz", "tests")) as service:
        # Nobody listens there any more.
        again = Wikibase(wikibase.url, service, "en")
        load_names(again, ["Varn"], tmp_path / "facts.sqlite", {"P452"}, subclasses=True)
    with open_store(tmp_path / "facts.sqlite") as facts:
        assert facts.execute("SELECT count(*) FROM label WHERE qid < 2000").fetchone() == (2,)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://www.wikidata.org", "https://www.wikidata.org/w/api.php"),
        ("https://www.wikidata.org/", "https://www.wikidata.org/w/api.php"),
        ("http://localhost:8181/mw/api.php", "http://localhost:8181/mw/api.php"),
    ],
)
def test_the_address_is_that_of_the_wiki_or_of_its_api(given: str, address: str) -> None:
    assert api_address(given) == address


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("www.wikidata.org", "--api www.wikidata.org: is no address such as https://www.wikidata.org"),
        ("https://", "--api https://: is no address"),
        ("https://host:99999999", "is no address"),
        ("https://me:secret@wiki.example", "--api: the address must not hold a user or password$"),
    ],
)
def test_what_is_no_address_is_refused(given: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        api_address(given)
    assert "secret" not in str(caught.value)
