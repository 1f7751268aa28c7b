"""`describe` on a stand-in: it fills what is missing, writes over nothing, and asks nothing twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from wiki_standin import RunningStandIn, StandIn, running

from shadowprobe import Card, Dataset, Entity, EntitySpace, Snippet, write_dataset
from shadowprobe.build.describe import describe
from shadowprobe.cli import main


def dataset(path: Path, *entities: Entity) -> Dataset:
    """A dataset of these entities, with a snippet of the first."""
    title = entities[0].title
    snippets = [Snippet("top-1", "top", "Harlow is wide.", 0, 6, space="Harlow", gold=title)]
    space = EntitySpace("Harlow", tuple(entity.title for entity in entities))
    return write_dataset(path, Card(name="harlow", made="by hand"), entities, [space], {"top": snippets})


def wiki_of_two() -> StandIn:
    standin = StandIn(extensions=("TextExtracts",))
    standin.add(
        "Harlow Bridge",
        11,
        extract="Harlow Bridge is a bridge.\nIt is  wide.",
        pageprops={"wikibase_item": "Q11"},
        redirects=[{"title": "The Bridge"}, {"title": "Harlow Crossing"}],
    )
    standin.add("Harlow Castle", 12, extract="Harlow Castle is a ruin.", pageprops={"wikibase_item": "Q12"})
    return standin


def described(standin: StandIn, tmp_path: Path, *entities: Entity) -> tuple[list[Entity], int, dict[str, int]]:
    with running(standin, tmp_path) as server:
        found = describe(dataset(tmp_path / "dataset", *entities), server.wiki())
    return found.entities, found.found, found.filled


def test_what_is_missing_is_filled(tmp_path: Path) -> None:
    entities, found, filled = described(wiki_of_two(), tmp_path, Entity("Harlow Bridge"), Entity("Harlow Tower"))
    description = "Harlow Bridge is a bridge. It is wide."
    redirects = ("Harlow Crossing", "The Bridge")
    assert entities[0] == Entity("Harlow Bridge", 11, "Q11", description=description, redirects=redirects)
    assert entities[1] == Entity("Harlow Tower")
    assert (found, filled) == (1, {"description": 1, "qid": 1, "page_id": 1, "redirects": 1, "kind": 0})


def test_what_the_dataset_has_stays(tmp_path: Path) -> None:
    full = Entity("Harlow Bridge", 99, "Q99", 5, "bridge", "A description of our own.", ("Our Bridge",))
    entities, found, filled = described(wiki_of_two(), tmp_path, full)
    assert entities == [full]
    assert (found, sum(filled.values())) == (1, 0)


def test_a_page_that_moved_is_found_by_its_id(tmp_path: Path) -> None:
    standin = wiki_of_two()
    # The wiki knows no way from the old title any more but that in the list of the page itself.
    entities, found, _ = described(standin, tmp_path, Entity("The Bridge", page_id=11))
    assert entities[0].qid == "Q11"
    assert entities[0].redirects == ("Harlow Bridge", "Harlow Crossing")
    assert found == 1


def test_an_id_that_is_another_articles_leaves_the_title_and_is_counted(tmp_path: Path) -> None:
    with running(wiki_of_two(), tmp_path) as server:
        entities = [Entity("Harlow Castle", page_id=11), Entity("Harlow Tower", page_id=12), Entity("Harlow Bridge")]
        found = describe(dataset(tmp_path / "dataset", *entities), server.wiki())
    assert [entity.qid for entity in found.entities] == ["Q12", None, "Q11"]
    assert [entity.description for entity in found.entities] == [
        "Harlow Castle is a ruin.",
        None,
        "Harlow Bridge is a bridge. It is wide.",
    ]
    # That of the bridge is taken, if wrongly, by the castle.
    assert [entity.page_id for entity in found.entities] == [11, 12, None]
    assert (found.found, found.other_ids) == (2, 2)


def test_an_id_that_is_gone_or_a_redirect_leaves_the_title(tmp_path: Path) -> None:
    standin = wiki_of_two()
    standin.add("Merged", 50, redirect=True)
    entities, found, _ = described(
        standin, tmp_path, Entity("Harlow Bridge", page_id=404), Entity("Harlow Castle", page_id=50)
    )
    assert [entity.qid for entity in entities] == ["Q11", "Q12"]
    # What the dataset says of ids is not for us to mend.
    assert [entity.page_id for entity in entities] == [404, 50]
    assert found == 2


def test_a_title_that_is_a_redirect_is_followed(tmp_path: Path) -> None:
    standin = wiki_of_two()
    standin.leads = {"The Bridge": "Harlow Bridge"}
    entities, _, _ = described(standin, tmp_path, Entity("The Bridge"))
    assert (entities[0].title, entities[0].page_id) == ("The Bridge", 11)
    assert entities[0].redirects == ("Harlow Bridge", "Harlow Crossing")


def test_two_titles_of_one_page_do_not_get_one_id(tmp_path: Path) -> None:
    standin = wiki_of_two()
    standin.leads = {"The Bridge": "Harlow Bridge"}
    entities, found, filled = described(standin, tmp_path, Entity("The Bridge"), Entity("Harlow Bridge"))
    assert [(entity.page_id, entity.qid) for entity in entities] == [(11, "Q11"), (None, None)]
    assert (found, filled["page_id"], filled["description"]) == (2, 1, 2)


def test_a_name_leads_to_one_entity_only(tmp_path: Path) -> None:
    standin = wiki_of_two()
    standin.leads = {"The Bridge": "Harlow Bridge", "Old Bridge": "Harlow Bridge"}
    standin.pages["Harlow Bridge"]["redirects"] += [
        {"title": name} for name in ("Old Bridge", "Harlow Castle", "H. B.")
    ]
    entities, _, filled = described(
        standin,
        tmp_path,
        Entity("The Bridge"),
        Entity("Harlow Bridge"),
        Entity("Old Bridge"),
        Entity("Harlow Castle", redirects=("H. B.",)),
    )
    assert [entity.redirects for entity in entities] == [("Harlow Crossing",), (), (), ("H. B.",)]
    assert filled["redirects"] == 1


@pytest.mark.parametrize(
    "page",
    [
        {"pageprops": {"disambiguation": ""}},
        {"categories": [{"title": "Category:Disambiguation pages"}]},
        {"ns": 4},
    ],
)
def test_a_page_that_is_no_article_says_nothing(page: dict[str, Any], tmp_path: Path) -> None:
    standin = StandIn(extensions=("TextExtracts",))
    standin.add("Harlow", 10, extract="Harlow may refer to:", **page)
    entities, found, _ = described(standin, tmp_path, Entity("Harlow"))
    assert (entities, found) == ([Entity("Harlow")], 0)


def test_without_the_extension_descriptions_are_not_requested(tmp_path: Path) -> None:
    standin = wiki_of_two()
    standin.extensions = ()
    with running(standin, tmp_path) as server:
        describe(dataset(tmp_path / "dataset", Entity("Harlow Bridge")), server.wiki())
        assert ["extracts" in form["prop"] for form in server.forms] == [False]


def run(server: RunningStandIn, tmp_path: Path, *more: str, out: str = "out") -> int:
    arguments = ["describe", "--dataset", str(tmp_path / "dataset"), "--wiki", server.url, "--out", str(tmp_path / out)]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--contact", "tests@wiki.example", *more])
    return int(ended.value.code or 0)


def test_the_command_writes_a_new_dataset_with_the_same_snippets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = dataset(tmp_path / "dataset", Entity("Harlow Bridge"), Entity("Harlow Tower"))
    with running(wiki_of_two(), tmp_path) as server:
        assert run(server, tmp_path) == 0
    after = Dataset.read(tmp_path / "out")
    assert after.entities["Harlow Bridge"].qid == "Q11"
    assert list(after.snippets()) == list(before.snippets())
    assert after.spaces == before.spaces
    assert after.digest != before.digest
    assert (after.card.name, after.card.made) == ("harlow", f"by hand; described from {server.url}")
    assert Dataset.read(tmp_path / "dataset").digest == before.digest
    out = capsys.readouterr().out
    assert "found 1 of 2 entities" in out
    assert "filled: description 1, qid 1, page_id 1, redirects 1, kind 0" in out
    assert "another article" not in out


@pytest.mark.parametrize("out", ["ds[/x]", "ds[red]x"])
def test_a_directory_may_be_named_like_markup(out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset(tmp_path / "dataset", Entity("Harlow Bridge"))
    with running(wiki_of_two(), tmp_path) as server:
        assert run(server, tmp_path, out=out) == 0
    assert f"{tmp_path / out}: found 1 of 1 entities\n" in capsys.readouterr().out


def test_ids_of_other_articles_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset(tmp_path / "dataset", Entity("Harlow Castle", page_id=11))
    with running(wiki_of_two(), tmp_path) as server:
        run(server, tmp_path)
        assert "page ids that belong to another article in this wiki: 1\n" in capsys.readouterr().out
        run(server, tmp_path, "--force", "--json")
    assert json.loads(capsys.readouterr().out)["other_ids"] == 1


def test_a_second_run_asks_the_wiki_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset(tmp_path / "dataset", Entity("Harlow Bridge"))
    with running(wiki_of_two(), tmp_path) as server:
        run(server, tmp_path)
        asked, digest = len(server.service.requests), Dataset.read(tmp_path / "out").digest
        capsys.readouterr()
        assert run(server, tmp_path, "--force", "--json") == 0
        assert len(server.service.requests) == asked
    found = json.loads(capsys.readouterr().out)
    assert (found["digest"], found["found"], found["entities"]) == (digest, 1, 1)


def test_an_existing_dataset_is_not_overwritten_and_no_request_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset(tmp_path / "dataset", Entity("Harlow Bridge"))
    dataset(tmp_path / "out", Entity("Harlow Castle"))
    with running(wiki_of_two(), tmp_path) as server:
        assert run(server, tmp_path) == 2
        assert server.service.requests == []
    assert "holds a dataset already; --force writes over it" in capsys.readouterr().err


def test_without_a_contact_no_request_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHADOWPROBE_CONTACT", raising=False)
    dataset(tmp_path / "dataset", Entity("Harlow Bridge"))
    with running(wiki_of_two(), tmp_path) as server:
        assert run(server, tmp_path, "--contact", "") == 2
        assert server.service.requests == []
    assert "--contact: say who is asking" in capsys.readouterr().err
