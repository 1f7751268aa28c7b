"""Titles that are followed in the dumps of a wiki."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dump_database import new_database
from wiki_standin import StandIn, running

from shadowprobe.build.archive import Archive
from shadowprobe.build.dumps import dumped_wiki
from shadowprobe.build.dumps.dumped_wiki import DumpedWiki
from shadowprobe.build.machine import ALL

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[DumpedWiki]:
    """Avon (1), ßa (2) and redirects: A to B to Avon, C to nowhere, D and E to each other."""
    database = tmp_path / "dumps.duckdb"
    redirects = {3: ("A", "B"), 4: ("B", "Avon"), 5: ("C", "Gone"), 6: ("D", "E"), 7: ("E", "D")}
    with new_database(database) as connection:
        connection.execute("INSERT INTO page VALUES (1, 'Avon', FALSE), (2, 'ßa', FALSE), (8, 'Old_Avon', FALSE)")
        for number, (source, target) in redirects.items():
            connection.execute("INSERT INTO page VALUES (?, ?, TRUE)", [number, source])
            connection.execute("INSERT INTO redirect VALUES (?, ?)", [number, target])
    with running(StandIn(), tmp_path) as server:
        archive = Archive(tmp_path / "own.warc.gz", software="tests")
        yield DumpedWiki(server.url, archive, user_agent="tests", database=database, machine=ALL)
        archive.close()


def follow(wiki: DumpedWiki, *titles: str) -> dict[str, int | None]:
    return {title: page.get("pageid") for title, page in wiki.follow_titles(titles)}


def test_titles_lead_through_redirects_to_pages_or_nowhere(wiki: DumpedWiki) -> None:
    titles = ("Avon", "A", "avon", " Old Avon ", "ßa", "C", "D", "Nobody")
    assert follow(wiki, *titles) == dict(zip(titles, (1, 1, 1, 8, 2, None, None, None), strict=True))
    ((_, page),) = wiki.follow_titles(["A"])
    assert page == {"title": "Avon", "pageid": 1}
    ((_, gone),) = wiki.follow_titles(["nobody at all"])
    assert gone == {"title": "Nobody at all", "missing": True}


def test_any_number_of_titles_is_looked_up_in_order(wiki: DumpedWiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumped_wiki, "TITLES", 2)
    assert list(follow(wiki, "A", "C", "Avon", "B", "D")) == ["A", "C", "Avon", "B", "D"]
    assert follow(wiki, "A", "C", "Avon") == {"A": 1, "C": None, "Avon": 1}


def test_only_so_many_redirects_in_a_row_are_followed(wiki: DumpedWiki, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumped_wiki, "MOST_STEPS", 1)
    assert follow(wiki, "A", "B") == {"A": None, "B": 1}


def test_what_the_dumps_do_not_have_is_asked_of_the_wiki(wiki: DumpedWiki) -> None:
    ((title, page),) = wiki.follow_titles(["Avon"], prop="info")
    assert (title, page.get("pageid")) == ("Avon", None)
