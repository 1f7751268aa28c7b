"""The lottery of the tail on a stand-in: every article once, in an order that the seed decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from service import Asked, Reply
from wiki_standin import StandIn, as_json, running

from shadowprobe.base.languages import read_language
from shadowprobe.build import tail
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.tail import _find_highest_page_id, draw_articles

ENGLISH = read_language("en")


def wiki_of(articles: int, *, apart: int = 1) -> StandIn:
    """A wiki of so many articles; where their ids stand apart, pages between them were deleted."""
    standin = StandIn()
    for number in range(1, articles + 1):
        standin.add(
            f"Page {number}", number * apart, revisions=[{"timestamp": f"{2000 + number % 20}-05-05T00:00:00Z"}]
        )
    return standin


def drawn(
    standin: StandIn,
    directory: Path,
    funnel: Funnel,
    *,
    seed: int = 7,
    taken: frozenset[str] = frozenset(),
    created_before: str = "",
) -> list[str]:
    directory.mkdir(exist_ok=True)
    with running(standin, directory) as server:
        settings = BuildSettings(wiki="", name="", seed=seed, created_before=created_before)
        batches = draw_articles(server.wiki(), ENGLISH, funnel, settings, set(taken))
        return [entity.title for batch in batches for entity in batch]


def test_every_article_is_drawn_once_and_then_the_lottery_ends(tmp_path: Path) -> None:
    titles = drawn(wiki_of(120), tmp_path, Funnel("tail"))
    assert sorted(titles) == sorted(f"Page {number}" for number in range(1, 121))
    assert titles != [f"Page {number}" for number in range(1, 121)]


def test_the_seed_decides_the_order(tmp_path: Path) -> None:
    one, again, other = (
        drawn(wiki_of(60), tmp_path / f"{number}", Funnel("tail"), seed=seed) for number, seed in enumerate((7, 7, 8))
    )
    assert one == again
    assert one != other


def test_articles_whose_ids_are_far_above_their_number_are_drawn_too(tmp_path: Path) -> None:
    titles = drawn(wiki_of(80, apart=9), tmp_path, Funnel("tail"))
    assert "Page 80" in titles
    assert len(titles) == 80


def test_the_last_article_is_drawn_though_it_stands_between_the_ids_that_are_tried_first(tmp_path: Path) -> None:
    # Of 300 pages with the ids 101 to 400, every sixth id above 300 is tried: 396 is the last that is there.
    standin = StandIn()
    for page_id in range(101, 401):
        standin.add(f"Page {page_id}", page_id)
    assert "Page 400" in drawn(standin, tmp_path, Funnel("tail"))


def test_a_wiki_that_has_not_counted_its_pages_is_searched_in_growing_steps(tmp_path: Path) -> None:
    # From the 50 on that are taken for granted, the steps are 1, 50 and 2,500 ids wide, and then small again.
    standin = wiki_of(20_000)
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        wiki.pages_in_all = 0
        assert _find_highest_page_id(wiki) == 20_000
        assert len(server.forms) < 20


def test_a_server_that_has_every_page_there_could_be_comes_to_an_end(tmp_path: Path) -> None:
    standin = wiki_of(60)

    def behaviour(number: int, asked: Asked) -> Reply:
        if "pageids" not in asked.form:
            return standin(number, asked)
        ids = [int(page_id) for page_id in asked.form["pageids"].split("|")]
        return as_json({"query": {"pages": [{"pageid": each, "ns": 0, "title": f"Page {each}"} for each in ids]}})

    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        server.service.behaviour = behaviour
        assert _find_highest_page_id(wiki) == 2**32 - 1


def test_other_pages_and_used_entities_are_counted_and_left_out(tmp_path: Path) -> None:
    standin = wiki_of(8)
    standin.pages["Page 1"]["redirect"] = True
    standin.pages["Page 2"]["pageprops"] = {"disambiguation": ""}
    standin.pages["Page 3"]["categories"] = [{"title": "Category:Disambiguation pages"}]
    standin.add("List of pages", 9)
    standin.add("Talk:Page 1", 10, ns=1)
    funnel = Funnel("tail")
    titles = drawn(standin, tmp_path, funnel, taken=frozenset({"Page 4", "Page 5"}))
    assert sorted(titles) == ["Page 6", "Page 7", "Page 8"]
    assert funnel.dropped == {
        "a redirect": 1,
        "a disambiguation page": 2,
        "a list": 1,
        "an entity of a space": 2,
    }


def test_young_articles_are_left_out(tmp_path: Path) -> None:
    funnel = Funnel("tail")
    # Of the years 2001 to 2010, nine are over before the tenth begins.
    titles = drawn(wiki_of(10), tmp_path, funnel, created_before="2009-12-31")
    assert sorted(titles) == [f"Page {number}" for number in range(1, 10)]
    assert funnel.dropped == {"younger than the limit": 1}


def test_a_wiki_without_articles_ends_the_lottery(tmp_path: Path) -> None:
    assert drawn(StandIn(), tmp_path, Funnel("tail")) == []


def test_a_category_of_the_users_tells_disambiguation_pages_too(tmp_path: Path) -> None:
    with running(wiki_of(3), tmp_path) as server:
        settings = BuildSettings(wiki="", name="", category="Many meanings")
        list(draw_articles(server.wiki(), ENGLISH, Funnel("tail"), settings, set()))
        assert server.forms[-1]["clcategories"].startswith("Category:Many meanings|")


class EmptyWiki:
    """Says that it has many pages, and has none."""

    pages_in_all = 10_000

    def __init__(self) -> None:
        self.requests: list[list[int]] = []

    def pages(self, *, page_ids: list[int], **query: Any) -> list[dict[str, Any]]:
        """Finds nothing; a request for articles has a query."""
        if query:
            self.requests.append(page_ids)
        return []


def test_an_article_in_between_starts_the_count_of_empty_requests_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_EMPTY_REQUESTS", 2)
    wiki: Any = EmptyWiki()
    search = wiki.pages

    def find(*, page_ids: list[int], **query: Any) -> list[dict[str, Any]]:
        search(page_ids=page_ids, **query)
        is_second = query and len(wiki.requests) in {2, 4}
        return [{"pageid": page_ids[0], "ns": 0, "title": f"Article {page_ids[0]}"}] if is_second else []

    wiki.pages = find
    drawn = list(draw_articles(wiki, ENGLISH, Funnel("tail"), BuildSettings(wiki="", name=""), set()))
    # One without an article, one with, and the same again; then two without.
    assert [len(articles) for articles in drawn] == [1, 1]
    assert len(wiki.requests) == 6


def test_the_lottery_is_given_up_after_so_many_requests_without_an_article(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_EMPTY_REQUESTS", 3)
    wiki: Any = EmptyWiki()
    settings = BuildSettings(wiki="", name="")
    assert list(draw_articles(wiki, ENGLISH, Funnel("tail"), settings, set())) == []
    # Three times fifty different ids.
    assert [len(ids) for ids in wiki.requests] == [50, 50, 50]
    assert len({page_id for ids in wiki.requests for page_id in ids}) == 150
