"""A build whose names and commonness come from dumps, and the rest from the wiki and the web."""

from __future__ import annotations

import json
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from build_world import Small, citing, made, small
from dump_world import COUNTED, DROPPED, PAGES, PREFIX, write_tables
from refusals import outcome
from web_pages import Web
from wiki_standin import StandIn

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.status import read_funnels
from shadowprobe.errors import InputError

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")

CITED = {"Mercury (planet)": "/planet", "Mercury-Redstone": "/rocket", "Venus": "/venus", "O'Neill (band)": "/band"}
SAID = {
    "/planet": ["Craters of every size cover Mercury (planet) from the one end to the other."],
    "/rocket": ["The fire under Mercury-Redstone was seen by all who were on the beach."],
    "/venus": ["The clouds of Venus are so thick that no one has seen the ground."],
    "/band": ["The last song that O'Neill (band) played was one of their first."],
}


def wiki(served: Web) -> StandIn:
    """The wiki of the dumps, as far as a build asks it: it lists no page and knows no link."""
    standin = StandIn(extensions=("Disambiguator",))
    for number, namespace, key, redirect in PAGES:
        title = key.replace("_", " ")
        if namespace == 0:
            standin.add(title, number, **({"redirect": True} if redirect else {}))
            standin.texts[title] = citing([served.url(CITED[title])] if title in CITED else [])
    for title in ("Mercury (disambiguation)", "O'Neill", "Mercury", "Lone"):
        standin.pages[title]["pageprops"] = {"disambiguation": ""}
    return standin


def forms(world: Small) -> list[dict[str, str]]:
    return [asked.form for asked in world.service.requests]


FUNNELS = [
    Funnel("spaces", 4, 2, DROPPED),
    Funnel("commonness", 5, 5),
    # The element and the man cite nothing.
    Funnel("references", 5, 3, {"an article without references": 2}),
    Funnel("crawl", 3, 3),
    Funnel("snippets", 3, 3),
    # Seventeen pages; a town, a title of quotes and a title of an emoji cite nothing, and nothing is too common.
    Funnel(
        "tail",
        17,
        1,
        {
            "a disambiguation page": 4,
            "a list": 1,
            "a redirect": 3,
            "an entity of a space": 5,
            "no snippet was found": 3,
        },
    ),
    # To the band there is one link, and to the man.
    Funnel("assemble", 2, 1, {"no entity is more common than every other": 1}),
]


def test_names_and_commonness_come_from_the_dumps_and_the_rest_from_the_wiki(tmp_path: Path) -> None:
    dumps = write_tables(tmp_path / "dumps")
    with small(wiki, SAID) as world:
        dataset = world.build(tmp_path / "out", dumps=str(dumps))
        assert dataset is not None
        assert not [form for form in forms(world) if "list" in form or form.get("prop") in {"links", "linkshere"}]
    assert {name: space.entities for name, space in dataset.spaces.items()} == {
        "Mercury": ("Mercury (planet)", "Mercury (element)", "Mercury-Redstone")
    }
    for title in dataset.spaces["Mercury"].entities:
        entity, counted = dataset.entities[title], COUNTED[title]
        assert (entity.page_id, entity.commonness, entity.qid) == (counted.page_id, counted.commonness, counted.qid)
    (top,), (shadow,), (tail,) = (list(dataset.snippets(subset)) for subset in ("top", "shadow", "tail"))
    assert (top.gold, shadow.gold, tail.gold) == ("Mercury (planet)", "Mercury-Redstone", "Venus")
    assert shadow.text == "The fire under Mercury was seen by all who were on the beach."
    # Of the tail too: one page of the dumps links to it, and none that the wiki would tell of.
    assert dataset.entities["Venus"].commonness == 1
    assert read_funnels(tmp_path / "out") == FUNNELS


def write_texts(directory: Path, served: Web) -> None:
    """Writes the texts of the articles, with their references, beside the tables."""
    texts = {title: f"Text.<ref>[{served.url(path)} source]</ref>" for title, path in CITED.items()}
    pages = "".join(
        f"<page><title>{escape(key.replace('_', ' '))}</title><ns>{namespace}</ns><id>{number}</id><revision>"
        f"<text>{escape(texts.get(key.replace('_', ' '), ''))}</text></revision></page>\n"
        for number, namespace, key, _ in PAGES
    )
    content = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">\n{pages}</mediawiki>\n'
    (directory / f"{PREFIX}-pages-articles.xml").write_text(content, encoding="utf-8")


def test_with_the_texts_of_the_pages_the_wiki_is_asked_for_nothing_but_its_name(tmp_path: Path) -> None:
    dumps, by_api = write_tables(tmp_path / "dumps"), tmp_path / "api"
    with small(wiki, SAID) as world:
        world.build(by_api, dumps=str(dumps))
        assert [form for form in forms(world) if form["action"] == "parse"]
        world.forget()
        write_texts(dumps, world.web)
        dataset = world.build(tmp_path / "out", dumps=str(dumps))
        assert dataset is not None
        assert [form for form in forms(world) if form.get("meta") != "siteinfo"] == []
    assert read_funnels(tmp_path / "out") == FUNNELS
    for name in ("top", "shadow", "tail"):
        assert (tmp_path / "out" / f"{name}.jsonl").read_bytes() == (by_api / f"{name}.jsonl").read_bytes()


def test_the_card_says_what_the_dumps_may_miss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dumps, out = write_tables(tmp_path / "dumps"), tmp_path / "out"
    with small(wiki, SAID) as world:
        given = ["--dumps", str(dumps), "--out", str(out), "--contact", "me", "--allow-private", "--delay", "0"]
        code, _, err = outcome(capsys, "build", "--wiki", world.url, *given)
    assert code == 0, err
    (note,) = json.loads((out / "dataset.json").read_text())["build"]["notes"]
    assert note.startswith("disambiguation pages are known by their property alone")


def test_from_archive_and_dumps_comes_the_same_dataset_though_the_wiki_is_gone(tmp_path: Path) -> None:
    dumps, out = write_tables(tmp_path / "dumps"), tmp_path / "out"
    with small(wiki, SAID) as world:
        world.build(out, dumps=str(dumps))
    before = made(out)
    assert before["build/dumps.duckdb"]
    world.build(out, dumps=str(dumps), from_archive=True)
    assert made(out) == before
    # The database is made anew where it is lost.
    (out / "build" / "dumps.duckdb").unlink()
    world.build(out, dumps=str(dumps), from_archive=True)
    del before["build/dumps.duckdb"]
    assert {name: content for name, content in made(out).items() if name != "build/dumps.duckdb"} == before


@pytest.mark.parametrize("version", [None, 1])
def test_a_build_goes_on_if_its_database_is_lost_or_of_an_earlier_version(tmp_path: Path, version: int | None) -> None:
    dumps, out = write_tables(tmp_path / "dumps"), tmp_path / "out"
    database = out / "build" / "dumps.duckdb"
    with small(wiki, SAID) as world:
        world.build(out, "spaces", dumps=str(dumps))
        database.unlink()
        if version is not None:
            with duckdb.connect(database) as connection:
                contents = f'{{"version":{version},"files":[],"wanted":{{}},"notes":[]}}'
                connection.execute("CREATE TABLE said AS SELECT ? AS contents", [contents])
        world.build(out, dumps=str(dumps))
    assert read_funnels(out) == FUNNELS


def test_dumps_that_are_gone_are_named(tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    with small(wiki, SAID) as world, pytest.raises(InputError, match=str(dumps)):
        world.build(tmp_path / "out", dumps=str(dumps))
    assert read_funnels(tmp_path / "out") == []


def test_only_so_many_names_as_wanted_are_taken_from_the_dumps(tmp_path: Path) -> None:
    dumps = write_tables(tmp_path / "dumps")
    server: list[tuple[str, int, int | None]] = []
    with small(wiki, SAID) as world:
        world.build(tmp_path / "out", "spaces", dumps=str(dumps), limit=1, progress=lambda *step: server.append(step))
    assert read_funnels(tmp_path / "out") == [Funnel("spaces", 1, 1)]
    assert server[-1] == ("spaces", 1, 1)
    # Each file that is read has a bar of its own.
    assert {name.partition("20260101-")[2] for name, _, _ in server[:-1]} == {
        f"{table}.sql.gz" for table in ("page", "redirect", "page_props", "linktarget", "pagelinks")
    }
