"""Stage 1 on a stand-in: which pages are asked for, which links are articles, and what is counted as lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from wiki_standin import StandIn, running

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.languages import Language, read_language
from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.spaces import as_article, created, disambiguation_pages, find_spaces, what_tells_articles
from shadowprobe.errors import BuildError

ENGLISH = read_language("en")


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
    with running(standin, tmp_path) as told:
        found = find_spaces(told.wiki(), ENGLISH, funnel)
        assert told.forms[0]["list"] == "pageswithprop"
    assert found.spaces == [FoundSpace("Harlow", "Harlow (disambiguation)", ("Harlow Bridge", "Mount Harlow"))]
    assert list(found.entities.values()) == [FoundEntity("Harlow Bridge", 2), FoundEntity("Mount Harlow", 3)]
    assert (funnel.seen, funnel.kept, funnel.dropped) == (1, 1, {})


def test_a_category_that_is_named_goes_before_the_property(tmp_path: Path) -> None:
    standin = wiki_of({"Harlow": ["Harlow Bridge", "Mount Harlow"]})
    standin.lists["categorymembers"] = [{"ns": 0, "title": "Kestrel"}]
    with running(standin, tmp_path) as told:
        pages = list(disambiguation_pages(told.wiki(), ENGLISH, "Category:Many meanings"))
        assert told.forms[0]["cmtitle"] == "Category:Many meanings"
    assert pages == ["Kestrel"]


def test_without_the_extension_the_first_usual_category_that_has_pages_is_taken(tmp_path: Path) -> None:
    standin = StandIn()
    standin.add("Category:Disambiguation pages", 9, ns=14, categoryinfo={"pages": 3})
    standin.lists["categorymembers"] = [{"ns": 0, "title": "Kestrel"}]
    with running(standin, tmp_path) as told:
        assert list(disambiguation_pages(told.wiki(), ENGLISH)) == ["Kestrel"]
        assert told.forms[-1]["cmtitle"] == "Category:Disambiguation pages"


def test_where_no_category_is_found_the_user_is_asked_for_it(tmp_path: Path) -> None:
    with running(StandIn(), tmp_path) as told:
        wiki = told.wiki()
        with pytest.raises(BuildError, match=r"\(tried: All disambiguation pages, .*\); name it with --category"):
            list(disambiguation_pages(wiki, ENGLISH))
        with pytest.raises(BuildError, match="none is known for the language"):
            list(disambiguation_pages(wiki, Language("xx")))


def test_a_category_without_pages_is_an_error_and_not_an_empty_dataset(tmp_path: Path) -> None:
    with (
        running(StandIn(), tmp_path) as told,
        pytest.raises(BuildError, match="the category `Kategorie:X` has no pages; give --category without"),
    ):
        list(disambiguation_pages(told.wiki(), ENGLISH, "Kategorie:X"))


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
def test_an_article_is_told_from_what_is_none(page: dict[str, Any], found: FoundEntity | str) -> None:
    assert as_article({"ns": 0, "title": "Harlow Bridge", **page}, ENGLISH) == found


def test_only_the_categories_of_disambiguation_are_asked_for() -> None:
    asked = what_tells_articles(Language("xx", categories=("A", "B")), "Category:C")
    assert asked["clcategories"] == "Category:C|Category:A|Category:B"
    assert "categories" not in what_tells_articles(Language("xx"))["prop"]


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
    with running(standin, tmp_path) as told:
        found = find_spaces(told.wiki(), ENGLISH, funnel)
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
    with running(standin, tmp_path) as told:
        found = find_spaces(told.wiki(), ENGLISH, Funnel("spaces"))
    assert found.spaces[0].entities == ("Mount Light", "Light & Sound", "Light-year")


def test_after_so_many_spaces_as_wanted_it_stops(tmp_path: Path) -> None:
    names = [f"Name{number}" for number in range(60)]
    standin = wiki_of({name: [f"{name} Bridge", f"Mount {name}"] for name in names})
    seen: list[tuple[int, int | None]] = []
    with running(standin, tmp_path) as told:
        found = find_spaces(
            told.wiki(), ENGLISH, Funnel("spaces"), limit=3, progress=lambda done, total: seen.append((done, total))
        )
        # The list, the links of fifty pages, and their hundred articles in two questions.
        assert len(told.forms) == 4
    assert [space.name for space in found.spaces] == names[:3]
    assert list(found.entities) == [title for name in names[:3] for title in (f"{name} Bridge", f"Mount {name}")]
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_young_articles_are_left_out_and_the_day_itself_is_in_time(tmp_path: Path) -> None:
    standin = wiki_of({"Orrin": ["Mount Orrin", "Orrin Falls", "Orrin Hall"], "Pell": ["Pell Bridge", "Mount Pell"]})
    standin.pages["Orrin Falls"]["revisions"] = [{"timestamp": "2016-12-31T23:59:59Z"}]
    standin.pages["Orrin Hall"]["revisions"] = [{"timestamp": "2017-01-01T00:00:00Z"}]
    # It went away while we were asking.
    del standin.pages["Pell Bridge"]["revisions"]
    funnel = Funnel("spaces")
    with running(standin, tmp_path) as told:
        found = find_spaces(told.wiki(), ENGLISH, funnel, created_before="2016-12-31")
    assert [space.entities for space in found.spaces] == [("Mount Orrin", "Orrin Falls")]
    assert funnel.dropped == {"fewer than two articles are old enough": 1}


def test_of_a_page_with_many_revisions_only_the_first_is_asked_for(tmp_path: Path) -> None:
    standin = StandIn(part=1)
    standin.add("Pell Bridge", 1, revisions=[{"timestamp": f"20{year}-01-01T00:00:00Z"} for year in range(10, 90)])
    with running(standin, tmp_path) as told:
        assert created(told.wiki(), "Pell Bridge") == "2010-01-01T00:00:00Z"
        assert len(told.forms) == 1
