"""Stage 2 on a stand-in: every article that links to an entity counts once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wiki_standin import StandIn, running

from shadowprobe.build.backlinks import count_backlinks
from shadowprobe.build.records import FoundEntity


def links(*page_ids: int) -> list[dict[str, Any]]:
    return [{"pageid": page_id} for page_id in page_ids]


def counted(standin: StandIn, tmp_path: Path, *entities: FoundEntity) -> dict[str, FoundEntity]:
    with running(standin, tmp_path) as server:
        return {entity.title: entity for entity in count_backlinks(server.wiki(), entities)}


def test_links_to_an_entity_and_to_its_redirects_count_once_for_each_article(tmp_path: Path) -> None:
    standin = StandIn(part=2)
    redirects = [{"title": "Old Line"}, {"title": "Kestrel Line"}, {"title": "KR"}]
    standin.add("Kestrel Railway", 1, linkshere=links(10, 11, 12, 13, 14), redirects=redirects)
    # The third links to both, and the railway itself to its own redirect.
    standin.add("Kestrel Line", 2, linkshere=links(12, 15, 1), redirect=True)
    standin.add("Old Line", 3, linkshere=[], redirect=True)
    standin.add("KR", 4, linkshere=links(16), redirect=True)
    standin.add("SS Kestrel", 5)
    found = counted(standin, tmp_path, FoundEntity("Kestrel Railway", 1, qid="Q1"), FoundEntity("SS Kestrel", 5))
    assert found["Kestrel Railway"] == FoundEntity(
        "Kestrel Railway", 1, commonness=7, qid="Q1", redirects=("KR", "Kestrel Line", "Old Line")
    )
    assert found["SS Kestrel"].commonness == 0


def test_an_entity_that_went_away_has_no_links(tmp_path: Path) -> None:
    assert counted(StandIn(), tmp_path, FoundEntity("Gone", 1))["Gone"].commonness == 0


def test_entities_are_requested_in_batches_and_keep_their_order(tmp_path: Path) -> None:
    standin = StandIn()
    for number in range(1, 121):
        standin.add(f"Page {number}", number, linkshere=links(*range(1000, 1000 + number % 7)))
    entities = [FoundEntity(f"Page {number}", number) for number in range(1, 121)]
    with running(standin, tmp_path) as server:
        found = list(count_backlinks(server.wiki(), entities))
        # Redirects and links, for each of three batches.
        assert len(server.forms) == 6
        assert {form["lhnamespace"] for form in server.forms if form["prop"] == "linkshere"} == {"0"}
        assert {form["lhshow"] for form in server.forms if form["prop"] == "linkshere"} == {"!redirect"}
    assert [entity.title for entity in found] == [entity.title for entity in entities]
    assert [entity.commonness for entity in found[:8]] == [1, 2, 3, 4, 5, 6, 0, 1]
