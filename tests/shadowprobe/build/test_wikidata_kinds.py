"""Kinds from Wikidata's *instance of*, on a stand-in: the mapping, the ranks, and what is counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from wiki_standin import StandIn, as_json, running

from shadowprobe import Card, Dataset, Entity, EntitySpace, Snippet, open_dataset, write_dataset
from shadowprobe.build.wikidata_kinds import CLASSES, WIKIDATA, FoundKinds, find_kinds, find_repository
from shadowprobe.cli import main
from shadowprobe.errors import BuildError

CITY, TOWN, FILM, HUMAN, OTHER = "Q515", "Q3957", "Q11424", "Q5", "Q999001"


def says(qid: str, rank: str = "normal") -> dict[str, Any]:
    """A statement that an item is an instance of a class, as Wikidata writes it."""
    value = {"entity-type": "item", "numeric-id": int(qid[1:]), "id": qid}
    return {
        "mainsnak": {
            "snaktype": "value",
            "property": "P31",
            "datavalue": {"value": value, "type": "wikibase-entityid"},
        },
        "type": "statement",
        "rank": rank,
    }


def item(qid: str, *statements: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "item", "id": qid, "claims": {"P31": list(statements)} if statements else [], **more}


def wikibase(*items: dict[str, Any]) -> StandIn:
    standin = StandIn()
    standin.items = {one["id"]: one for one in items}
    return standin


def found(standin: StandIn, tmp_path: Path, *qids: str) -> FoundKinds:
    with running(standin, tmp_path) as server:
        return find_kinds(server.wiki(), qids)


def test_the_kind_of_an_item_is_that_of_its_class(tmp_path: Path) -> None:
    standin = wikibase(item("Q64", says(CITY)), item("Q42", says(HUMAN)), item("Q7", says(FILM)))
    assert found(standin, tmp_path, "Q64", "Q42", "Q7").kinds == {"Q64": "place", "Q42": "person", "Q7": "work"}


def test_preferred_statements_come_first_and_deprecated_ones_do_not_count(tmp_path: Path) -> None:
    standin = wikibase(
        item("Q1", says(FILM), says(CITY, "preferred")),
        item("Q2", says(FILM, "deprecated"), says(TOWN)),
        item("Q3", says(FILM, "deprecated")),
    )
    kinds = found(standin, tmp_path, "Q1", "Q2", "Q3")
    assert (kinds.kinds, kinds.without_class) == ({"Q1": "place", "Q2": "place"}, 1)


def test_of_several_classes_the_first_that_has_a_kind_decides(tmp_path: Path) -> None:
    standin = wikibase(item("Q1", says(OTHER), says(FILM), says(CITY)))
    kinds = found(standin, tmp_path, "Q1")
    assert (kinds.kinds, kinds.other_classes) == ({"Q1": "work"}, Counter())


def test_what_has_no_kind_is_counted_by_reason(tmp_path: Path) -> None:
    no_value = {"mainsnak": {"snaktype": "somevalue", "property": "P31"}, "type": "statement", "rank": "normal"}
    standin = wikibase(
        item("Q1", says(OTHER)), item("Q2", says(OTHER), says("Q999002")), item("Q3"), item("Q4", no_value)
    )
    kinds = found(standin, tmp_path, "Q1", "Q2", "Q3", "Q4", "Q404", "Q99999999999")
    assert kinds == FoundKinds({}, 2, 2, Counter({OTHER: 2, "Q999002": 1}))


def test_an_item_that_was_merged_into_another_has_its_kind(tmp_path: Path) -> None:
    merged = item("Q64", says(CITY), redirects={"from": "Q63", "to": "Q64"})
    standin = wikibase(merged)
    standin.items["Q63"] = merged
    assert found(standin, tmp_path, "Q63").kinds == {"Q63": "place"}


def test_items_are_asked_for_in_batches_and_each_once(tmp_path: Path) -> None:
    qids = [f"Q{number}" for number in range(1, 46)]
    with running(wikibase(*(item(qid, says(CITY)) for qid in qids)), tmp_path) as server:
        assert len(find_kinds(server.wiki(), [*qids, "Q1"]).kinds) == 45
        assert [len(form["ids"].split("|")) for form in server.forms] == [20, 20, 5]
        assert {form["props"] for form in server.forms} == {"claims"}


def test_a_number_that_no_item_can_have_is_not_asked_for(tmp_path: Path) -> None:
    with running(wikibase(item("Q2147483647", says(CITY))), tmp_path) as server:
        kinds = find_kinds(server.wiki(), ["Q2147483647", "Q2147483648", "Q2147483648", "Q7"])
        assert [form["ids"] for form in server.forms] == ["Q2147483647|Q7"]
    # Two of them are not there, the one that was asked for and the one that was not.
    assert (kinds.kinds, kinds.not_found) == ({"Q2147483647": "place"}, 2)


def test_a_wiki_that_has_no_items_is_named(tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as server, pytest.raises(BuildError, match="this wiki has no items"):
        find_kinds(server.wiki(), ["Q1"])


@pytest.mark.parametrize(
    "entities",
    [{"Q1": 5}, {"Q1": {"id": "Q1", "claims": 7}}, {"Q1": {"id": "Q1", "claims": {"P31": [3, {"mainsnak": []}]}}}, []],
)
def test_an_item_of_another_shape_has_no_kind(entities: Any, tmp_path: Path) -> None:
    standin = wikibase(item("Q1", says(CITY)))
    standin.instead = [as_json({"entities": entities})]
    kinds = found(standin, tmp_path, "Q1")
    assert kinds.kinds == {}
    assert kinds.not_found + kinds.without_class == 1


def test_an_answer_without_items_is_an_error(tmp_path: Path) -> None:
    standin = wikibase(item("Q1", says(CITY)))
    standin.instead = [as_json({"success": 1})] * 20
    with pytest.raises(BuildError, match="no `entities`"):
        found(standin, tmp_path, "Q1")


@pytest.mark.parametrize(
    ("extensions", "repository", "expected"),
    [
        (("WikibaseClient",), "//www.wikidata.org", WIKIDATA),
        (("WikibaseClient",), "https://www.wikidata.org", WIKIDATA),
        # Its QIDs are not those of Wikidata.
        (("WikibaseClient",), "https://items.example", None),
        (("WikibaseClient",), "https://www.wikidata.org.example", None),
        ((), "https://www.wikidata.org", None),
    ],
)
def test_wikidata_is_asked_only_if_the_wiki_says_that_its_items_are_there(
    extensions: tuple[str, ...], repository: str, expected: str | None, tmp_path: Path
) -> None:
    standin = StandIn(extensions=extensions)
    standin.repository = repository
    with running(standin, tmp_path) as server:
        assert find_repository(server.wiki()) == expected


@pytest.mark.parametrize(
    "reply", [{"repo": 5}, {"repo": {"url": {"base": "//["}}}, {"repo": {"url": {"base": None}}}, {}]
)
def test_a_wiki_that_says_it_otherwise_is_taken_to_say_nothing(reply: Any, tmp_path: Path) -> None:
    standin = StandIn(extensions=("WikibaseClient",))
    standin.instead = [as_json({"batchcomplete": True, "query": {"wikibase": reply}})]
    with running(standin, tmp_path) as server:
        assert find_repository(server.wiki()) is None


def test_the_mapping_has_the_kinds_of_mini_and_every_class_once() -> None:
    assert set(CLASSES) == {entity.kind for entity in open_dataset("mini").entities.values()}
    qids = [qid for classes in CLASSES.values() for qid in classes.values()]
    assert len(qids) == len(set(qids))
    assert all(re.fullmatch("Q[1-9][0-9]*", qid) for qid in qids)


def harlow(path: Path) -> Dataset:
    """A bridge that the wiki knows, a castle with its own kind, a tower without a QID, and an odd thing."""
    entities = [
        Entity("Harlow Bridge"),
        Entity("Harlow Castle", qid="Q12", kind="fortress"),
        Entity("Harlow Tower"),
        Entity("Harlow Oddity", qid="Q14"),
    ]
    space = EntitySpace("Harlow", tuple(entity.title for entity in entities))
    snippets = [Snippet("1", "top", "Harlow is wide.", 0, 6, space="Harlow", gold="Harlow Bridge")]
    return write_dataset(path, Card(name="harlow"), entities, [space], {"top": snippets})


def describe(tmp_path: Path, wiki: str, *options: str) -> int:
    command = ["describe", "--dataset", str(tmp_path / "dataset"), "--wiki", wiki, "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--contact", "tests@example.org", *options])
    return int(str(ended.value.code))


def test_describe_fills_kinds_and_keeps_those_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harlow(tmp_path / "dataset")
    wiki = StandIn()
    wiki.add("Harlow Bridge", 11, pageprops={"wikibase_item": "Q11"})
    bridge = item("Q11", says("Q12280"))
    items = wikibase(bridge, item("Q12", says(CITY)), item("Q14", says(OTHER)))
    with running(wiki, tmp_path / "one") as server, running(items, tmp_path / "two") as repository:
        assert describe(tmp_path, server.url, "--wikidata", repository.url) == 0
        # The castle has a kind, and the tower no QID.
        assert [form["ids"] for form in repository.forms] == ["Q11|Q14"]
        out = capsys.readouterr().out
        assert describe(tmp_path, server.url, "--wikidata", repository.url, "--force", "--json") == 0
        assert len(repository.forms) == 1
    written = Dataset.read(tmp_path / "out")
    assert [entity.kind for entity in written.entities.values()] == ["place", "fortress", None, None]
    assert written.card.made == f"described from {server.url} and {repository.url}"
    assert "redirects 0, kind 1\n" in out
    assert "entities without a kind and without a QID to ask for: 1\n" in out
    assert f"classes without a kind: 1, most often {OTHER} (1)\n" in out
    found = json.loads(capsys.readouterr().out)
    assert (found["filled"]["kind"], found["without_qid"]) == (1, 1)
    assert found["kinds"] == {
        "kinds": {"place": 1}, "not_found": 0, "without_class": 0, "other_classes": {OTHER: 1}
    }  # fmt: skip


def test_without_a_wikibase_describe_says_how_to_name_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harlow(tmp_path / "dataset")
    with running(StandIn(), tmp_path) as server:
        assert describe(tmp_path, server.url) == 0
        assert "kinds: not asked for; --wikidata URL names the Wikibase" in capsys.readouterr().out
        assert describe(tmp_path, server.url, "--force", "--json") == 0
    assert json.loads(capsys.readouterr().out)["kinds"] is None


def test_a_wikibase_that_cannot_be_reached_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harlow(tmp_path / "dataset")
    with running(StandIn(), tmp_path) as server:
        assert describe(tmp_path, server.url, "--wikidata", "http://127.0.0.1:9") == 2
    assert "http://127.0.0.1:9: no connection; is the address right?" in capsys.readouterr().err
    assert not (tmp_path / "out" / "dataset.json").exists()
