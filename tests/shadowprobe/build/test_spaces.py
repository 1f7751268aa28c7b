"""Stage 1 on a stand-in: which pages are asked for, which links are articles, and what is counted as lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from collected_spaces import collect_spaces
from msgspec.structs import replace
from wiki_standin import StandIn, running

from shadowprobe.base.languages import Language, read_language
from shadowprobe.build.funnel import Funnel, ignore_progress
from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import (
    DisambiguationPage,
    find_creation_date,
    find_spaces,
    list_disambiguation_pages,
    make_article_query,
    parse_article,
    select_spaces,
)
from shadowprobe.errors import BuildError

ENGLISH = read_language("en")
SETTINGS = BuildSettings(wiki="", name="")


def linking(*titles: str) -> list[dict[str, Any]]:
    return [{"ns": 0, "title": title} for title in titles]


def wiki_of(spaces: dict[str, list[str]], **options: Any) -> StandIn:
    """A wiki whose disambiguation pages, by their property, link to these articles."""
    standin = StandIn(extensions=("Disambiguator",), **options)
    standin.lists["pageswithprop"] = [{"ns": 0, "title": page} for page in spaces]
    for page, titles in spaces.items():
        standin.add(page, len(standin.pages) + 1, links=linking(*titles), pageprops={"disambiguation": ""})
        for title in titles:
            if title not in standin.pages:
                revisions = [{"timestamp": "2010-01-01T00:00:00Z"}, {"timestamp": "2020-01-01T00:00:00Z"}]
                standin.add(title, len(standin.pages) + 1, revisions=revisions)
    return standin


def test_with_the_extension_pages_are_found_by_their_property(tmp_path: Path) -> None:
    standin = wiki_of({"Harlow (disambiguation)": ["Harlow Bridge", "Mount Harlow"]}, part=1)
    standin.lists["pageswithprop"].insert(0, {"ns": 4, "title": "Project:Harlow"})
    funnel = Funnel("spaces")
    with running(standin, tmp_path) as server:
        found = collect_spaces(find_spaces(server.wiki(), ENGLISH, funnel, SETTINGS))
        assert server.forms[0]["list"] == "pageswithprop"
    assert found.spaces == [FoundSpace("Harlow", "Harlow (disambiguation)", ("Harlow Bridge", "Mount Harlow"))]
    assert list(found.entities.values()) == [FoundEntity("Harlow Bridge", 2), FoundEntity("Mount Harlow", 3)]
    assert (funnel.seen, funnel.kept, funnel.dropped) == (1, 1, {})


def test_a_category_that_is_named_goes_before_the_property(tmp_path: Path) -> None:
    standin = wiki_of({"Harlow": ["Harlow Bridge", "Mount Harlow"]})
    standin.lists["categorymembers"] = [{"ns": 0, "title": "Kestrel"}]
    with running(standin, tmp_path) as server:
        pages = list(list_disambiguation_pages(server.wiki(), ENGLISH, "Category:Many meanings"))
        assert server.forms[0]["cmtitle"] == "Category:Many meanings"
    assert pages == ["Kestrel"]


def test_without_the_extension_the_first_usual_category_that_has_pages_is_taken(tmp_path: Path) -> None:
    standin = StandIn()
    standin.add("Category:Disambiguation pages", 9, ns=14, categoryinfo={"pages": 3})
    standin.lists["categorymembers"] = [{"ns": 0, "title": "Kestrel"}]
    with running(standin, tmp_path) as server:
        assert list(list_disambiguation_pages(server.wiki(), ENGLISH)) == ["Kestrel"]
        assert server.forms[-1]["cmtitle"] == "Category:Disambiguation pages"


def test_without_a_category_the_error_asks_for_the_option(tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as server:
        wiki = server.wiki()
        with pytest.raises(BuildError, match=r"\(tried: All disambiguation pages, .*\); name it with --category"):
            list(list_disambiguation_pages(wiki, ENGLISH))
        with pytest.raises(BuildError, match="none is known for the language"):
            list(list_disambiguation_pages(wiki, Language("xx")))


def test_a_category_without_pages_is_an_error_and_not_an_empty_dataset(tmp_path: Path) -> None:
    with (
        running(StandIn(), tmp_path) as server,
        pytest.raises(BuildError, match="the category `Kategorie:X` has no pages; give --category without"),
    ):
        list(list_disambiguation_pages(server.wiki(), ENGLISH, "Kategorie:X"))


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ({"pageid": 5}, FoundEntity("Harlow Bridge", 5)),
        ({"pageid": 5, "pageprops": {"wikibase_item": "Q42"}}, FoundEntity("Harlow Bridge", 5, qid="Q42")),
        ({"missing": True}, "no such page"),
        ({"pageid": 5, "ns": 4}, "no such page"),
        ({"pageid": 5, "redirect": True}, "a redirect"),
        ({"pageid": 5, "pageprops": {"disambiguation": ""}}, "a disambiguation page"),
        ({"pageid": 5, "categories": [{"title": "Category:Disambiguation pages"}]}, "a disambiguation page"),
        ({"pageid": 5, "title": "List of bridges in Harlow"}, "a list"),
    ],
)
def test_articles_are_distinguished_from_other_pages(page: dict[str, Any], found: FoundEntity | str) -> None:
    assert parse_article({"ns": 0, "title": "Harlow Bridge", **page}, ENGLISH) == found


def test_only_the_categories_of_disambiguation_are_requested() -> None:
    asked = make_article_query(Language("xx", categories=("A", "B")), "Category:C")
    assert asked["clcategories"] == "Category:C|Category:A|Category:B"
    assert "categories" not in make_article_query(Language("xx"))["prop"]


def test_what_is_lost_is_counted_under_its_reason(tmp_path: Path) -> None:
    standin = wiki_of(
        {
            "Kestrel (disambiguation)": ["Kestrel Line", "SS Kestrel", "Kestrel Railway"],
            "Kestrel": ["SS Kestrel", "Kestrel Railway"],
            "Cart": ["Cartwright Mill", "Carter Hall"],
            "Rowan": ["River Rowan", "Rowan Lane", "Rowan Road"],
            "Vesper": ["Vesper Theatre"],
        }
    )
    standin.pages["Rowan Lane"]["redirect"] = standin.pages["Rowan Road"]["redirect"] = True
    standin.pages["Kestrel Line"]["redirect"] = True
    funnel = Funnel("spaces")
    with running(standin, tmp_path) as server:
        found = collect_spaces(find_spaces(server.wiki(), ENGLISH, funnel, SETTINGS))
    assert [space.entities for space in found.spaces] == [("SS Kestrel", "Kestrel Railway")]
    assert funnel.dropped == {
        "the name of another disambiguation page": 1,
        "no linked article bears the name": 1,
        "fewer than two articles bear the name: a redirect": 1,
        "fewer than two articles bear the name": 1,
    }
    assert (funnel.seen, funnel.kept) == (5, 1)


def test_a_name_in_other_letters_is_another_name(tmp_path: Path) -> None:
    standin = wiki_of({"Light": ["Mount Light", "Bud light", "LIGHT", "Lights Out", "Light & Sound", "Light-year"]})
    with running(standin, tmp_path) as server:
        found = collect_spaces(find_spaces(server.wiki(), ENGLISH, Funnel("spaces"), SETTINGS))
    assert found.spaces[0].entities == ("Mount Light", "Light & Sound", "Light-year")


def test_after_so_many_spaces_as_wanted_it_stops(tmp_path: Path) -> None:
    names = [f"Name{number}" for number in range(60)]
    standin = wiki_of({name: [f"{name} Bridge", f"Mount {name}"] for name in names})
    seen: list[tuple[str, int, int | None]] = []
    with running(standin, tmp_path) as server:
        found = collect_spaces(
            find_spaces(
                server.wiki(),
                ENGLISH,
                Funnel("spaces"),
                replace(SETTINGS, limit=3),
                lambda *progress: seen.append(progress),
            )
        )
        # The list, the links of fifty pages, and their hundred articles in two questions.
        assert len(server.forms) == 4
    assert [space.name for space in found.spaces] == names[:3]
    assert list(found.entities) == [title for name in names[:3] for title in (f"{name} Bridge", f"Mount {name}")]
    assert seen == [("spaces", 1, 3), ("spaces", 2, 3), ("spaces", 3, 3)]


def test_young_articles_are_left_out_and_the_day_itself_is_in_time(tmp_path: Path) -> None:
    standin = wiki_of({"Orrin": ["Mount Orrin", "Orrin Falls", "Orrin Hall"], "Pell": ["Pell Bridge", "Mount Pell"]})
    standin.pages["Orrin Falls"]["revisions"] = [{"timestamp": "2016-12-31T23:59:59Z"}]
    standin.pages["Orrin Hall"]["revisions"] = [{"timestamp": "2017-01-01T00:00:00Z"}]
    # It went away while we were asking.
    del standin.pages["Pell Bridge"]["revisions"]
    funnel = Funnel("spaces")
    with running(standin, tmp_path) as server:
        found = collect_spaces(
            find_spaces(server.wiki(), ENGLISH, funnel, replace(SETTINGS, created_before="2016-12-31"))
        )
    assert [space.entities for space in found.spaces] == [("Mount Orrin", "Orrin Falls")]
    assert funnel.dropped == {"fewer than two articles are old enough": 1}


def test_only_the_first_of_many_revisions_is_requested(tmp_path: Path) -> None:
    standin = StandIn(part=1)
    standin.add("Pell Bridge", 1, revisions=[{"timestamp": f"20{year}-01-01T00:00:00Z"} for year in range(10, 90)])
    with running(standin, tmp_path) as server:
        assert find_creation_date(server.wiki(), "Pell Bridge") == "2010-01-01T00:00:00Z"
        assert len(server.forms) == 1


def test_an_entity_of_two_names_is_new_only_once() -> None:
    road, lane = FoundEntity("Elm Oak Road", 1), FoundEntity("Oak Lane", 2)
    mill, hill = FoundEntity("Elm Mill", 3), FoundEntity("Elm Hill", 4)
    pages = [DisambiguationPage("Oak", [road, lane], str), DisambiguationPage("Elm", [mill, road, hill], str)]
    found = list(select_spaces(pages, ENGLISH, Funnel("spaces"), SETTINGS, ignore_progress))
    assert [space.space.entities for space in found] == [
        ("Elm Oak Road", "Oak Lane"),
        ("Elm Mill", "Elm Oak Road", "Elm Hill"),
    ]
    assert [space.new_entities for space in found] == [[road, lane], [mill, hill]]
