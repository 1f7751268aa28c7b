"""Titles with a qualifier: the name without it, and what shows that another entity is meant."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from cutting import around, cut
from msgspec.structs import replace

from shadowprobe.build import snippets
from shadowprobe.build.qualifiers import (
    SharedSentences,
    list_names,
    list_namesakes,
    points_elsewhere,
)
from shadowprobe.dataset.kept_pages import Cut

COMMON = {"the", "of", "and", "or", "in"}


@pytest.mark.parametrize(
    ("title", "space", "names"),
    [
        ("Mercury (planet)", "Mercury", ["Mercury (planet)", "Mercury"]),
        ("John Orrin (politician)", "Orrin", ["John Orrin (politician)", "John Orrin"]),
        ("Lincoln, England", "Lincoln", ["Lincoln, England", "Lincoln"]),
        ("Fort Lincoln, Ohio", "Lincoln", ["Fort Lincoln, Ohio", "Fort Lincoln"]),
        # Before brackets, a comma is part of the name.
        ("Lincoln, England (song)", "Lincoln", ["Lincoln, England (song)", "Lincoln, England"]),
        ("Salt & Iron, Ohio", "Salt & Iron", ["Salt & Iron, Ohio", "Salt & Iron"]),
        # No qualifier.
        ("Abraham Lincoln", "Lincoln", ["Abraham Lincoln"]),
        ("Lincoln", "Lincoln", ["Lincoln"]),
        ("(What's the Story) Morning Glory", "Morning Glory", ["(What's the Story) Morning Glory"]),
        # The comma is part of a name, or of a list of names.
        ("Henry, Prince of Orrin", "Orrin", ["Henry, Prince of Orrin"]),
        ("Emerson, Lake & Palmer", "Emerson", ["Emerson, Lake & Palmer"]),
        ("Peter, Paul and Mary", "Peter", ["Peter, Paul and Mary"]),
        ("Earth, Wind, Fire", "Earth", ["Earth, Wind, Fire"]),
        # Without its qualifier it does not have the name that would be put in its place.
        ("The Expanse (Enterprise episode)", "Enterprise", ["The Expanse (Enterprise episode)"]),
        # The tail has no ambiguous names: the space of an entity there is its own title.
        ("Mercury (planet)", "Mercury (planet)", ["Mercury (planet)"]),
    ],
)
def test_the_names_of_an_entity_are_its_title_with_and_without_the_qualifier(
    title: str, space: str, names: Sequence[str]
) -> None:
    assert list(list_names(title, space)) == names


def test_a_name_without_its_qualifier_can_mean_all_whose_title_has_it() -> None:
    others = ["Orrin", "Orrin (film)", "Mount Orrin", "Orrington"]
    assert list_namesakes("Orrin", "Orrin (band)", "Orrin", others) == ["Orrin", "Orrin (film)", "Mount Orrin"]
    assert list_namesakes("John Orrin", "John Orrin (poet)", "Orrin", [*others, "John Orrin"]) == ["John Orrin"]


def test_a_whole_title_can_mean_only_those_that_are_written_the_same_way() -> None:
    others = ["Orrin (film)", "Orrin, Ohio", "Mount Orrin"]
    assert list_namesakes("Orrin", "Orrin", "Orrin", others) == ["Orrin (film)", "Orrin, Ohio"]
    assert list_namesakes("Mount Orrin", "Mount Orrin", "Orrin", ["Orrin", "Orrin (film)"]) == []


@pytest.mark.parametrize(
    ("text", "title", "other", "elsewhere"),
    [
        ("The band called Orrin.", "Orrin (film)", "Orrin (band)", True),
        ("The band called Orrin.", "Orrin (band)", "Orrin (film)", False),
        # Nothing is said of either.
        ("We liked Orrin.", "Orrin (film)", "Orrin (band)", False),
        # Both words: the entity's own is there.
        ("The band in the film Orrin.", "Orrin (film)", "Orrin (band)", False),
        ("The ascent of Orrin was slow, and the mount was cold.", "Orrin (band)", "Mount Orrin", True),
        # A word of both, or a common word, tells nothing.
        ("The film of Orrin.", "Orrin (2004 film)", "Orrin (2013 film)", False),
        ("The film Orrin of 2013.", "Orrin (2004 film)", "Orrin (2013 film)", True),
        ("The end of Orrin.", "Orrin (film)", "Orrin (Lord of the Hills)", False),
        ("In the U.S. we saw Orrin.", "Orrin (Canada)", "Orrin (U.S.)", True),
        ("Canada's Orrin.", "Orrin (U.S.)", "Orrin (Canada)", True),
        ("It was Orrin's day.", "Orrin (Canada)", "Orrin (U.S.)", False),
        # Whole words, in any case.
        ("A FILM that is named Orrin.", "Orrin (band)", "Orrin (film)", True),
        ("The bandages of Orrin.", "Orrin (film)", "Orrin (band)", False),
        # The name alone means the one that needs no qualifier.
        ("We liked Orrin.", "Orrin (band)", "Orrin", True),
        ("We liked the band Orrin.", "Orrin (band)", "Orrin", False),
        ("We liked the band Orrin.", "Orrin", "Orrin (band)", True),
        ("We liked Orrin.", "Orrin", "Orrin (band)", False),
    ],
)
def test_a_snippet_points_elsewhere_by_the_words_that_tell_two_titles_apart(
    text: str, title: str, other: str, elsewhere: bool
) -> None:
    assert points_elsewhere(text, "Orrin", title, [other], COMMON) is elsewhere


def test_the_title_without_its_qualifier_is_a_mention() -> None:
    text = around("John Orrin and the wife of John Orrin")
    [found], dropped = cut(text, "John Orrin (politician)", "Orrin", ["Adam Orrin"])
    assert found.text == around("Orrin and the wife of Orrin")
    assert (found.written, [name for _, name in found.also]) == ("John Orrin", ["John Orrin"])
    assert found.restored() == found.original == text
    assert dropped == {snippets.IN_SNIPPET: 1}


def test_two_places_that_are_written_the_same_way_each_get_their_snippet() -> None:
    parks = ["Orrin Park (Ostland)", "Orrin Park (Brennia)"]
    for own, other in (parks, parks[::-1]):
        [found], dropped = cut(around("Orrin Park"), own, "Orrin Park", [other])
        assert (found.text, found.entity, dropped) == (around("Orrin Park"), own, {})


def test_a_qualifier_after_a_comma_may_be_left_out_too() -> None:
    [found], _ = cut(around("Orrin, Ohio, and then Orrin"), "Orrin, Ohio", "Orrin", ["Orrin, Iowa"])
    assert found.text == around("Orrin, and then Orrin")
    [found], _ = cut(around("Orrin"), "Orrin, Ohio", "Orrin", ["Orrin, Iowa"])
    assert found.written == "Orrin"


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("the band Orrin", snippets.ELSEWHERE),
        ("Orrin (band)", snippets.OTHER_NAMED),
        ("Mount Orrin", snippets.OTHER_NAMED),
        ("Orrin and its mount", snippets.ELSEWHERE),
    ],
)
def test_words_of_another_entity_drop_the_snippet_with_a_counted_reason(sentence: str, why: str) -> None:
    others = ["Orrin (band)", "Mount Orrin"]
    assert cut(around(sentence), "Orrin (novel)", "Orrin", others) == ([], {why: 1})


def test_a_word_of_its_own_keeps_a_snippet() -> None:
    [found], _ = cut(around("the band in the novel Orrin"), "Orrin (novel)", "Orrin", ["Orrin (band)"])
    assert found.text == found.original


def test_words_of_another_entity_do_not_matter_where_the_title_is_written_in_full() -> None:
    for title in ("Orrin, Ohio", "Mount Orrin"):
        [found], _ = cut(around(f"the band at {title}"), title, "Orrin", ["Orrin (band)"])
        assert found.text == around("the band at Orrin")


def test_a_page_that_another_entity_of_the_space_cites_gives_no_mention_without_qualifier() -> None:
    page, others = around("Orrin"), ["Orrin (film)", "Mount Orrin"]
    for citing in others:
        found = cut(page, "Orrin (novel)", "Orrin", others, citing=[citing])
        assert found == ([], {snippets.CITED_BY_ANOTHER: 1})
    # The full title is clear on every page.
    [found_in_full], _ = cut(around("Orrin, Ohio,"), "Orrin, Ohio", "Orrin", others, citing=others)
    assert found_in_full.written == "Orrin, Ohio"
    assert len(cut(around("Mount Orrin"), "Mount Orrin", "Orrin", ["Orrin"], citing=["Orrin"])[0]) == 1


def test_a_title_without_qualifier_is_not_clear_on_a_page_of_one_that_has_the_same_name() -> None:
    others = ["Orrin (film)", "Mount Orrin"]
    assert cut(around("Orrin"), "Orrin", "Orrin", others, citing=["Orrin (film)"])[0] == []
    assert len(cut(around("Orrin"), "Orrin", "Orrin", others, citing=["Mount Orrin"])[0]) == 1


def test_a_page_of_several_that_does_not_have_the_name_is_counted_as_such() -> None:
    assert cut(around("her"), "Orrin (novel)", "Orrin", citing=["Orrin"]) == ([], {snippets.NOT_NAMED: 1})


def test_a_common_word_is_no_name_without_its_qualifier() -> None:
    assert cut(around("them. It was"), "It (novel)", "It") == ([], {snippets.COMMON_WORD: 1})
    [found], _ = cut(around("It (novel)"), "It (novel)", "It")
    assert found.text == around("It")


def test_the_first_word_of_a_sentence_is_no_name_where_the_page_has_it_as_a_common_word() -> None:
    first = "Heat is what the people of the town had in the old hall."
    assert cut(f"They had no heat. “{first}", "Heat (magazine)", "Heat") == ([], {snippets.FIRST_WORD: 1})
    assert len(cut(first, "Heat (magazine)", "Heat")[0]) == 1
    assert len(cut(f"They had no heat. {around('Heat')}", "Heat (magazine)", "Heat")[0]) == 1


def test_a_name_that_stays_in_the_text_reveals_the_answer_without_its_qualifier_too() -> None:
    found, dropped = cut(around("John Orrin at the JOHN ORRIN works"), "John Orrin (poet)", "Orrin")
    assert (found, dropped) == ([], {snippets.GIVEN_AWAY: 1})


def test_a_sentence_that_the_pages_of_two_entities_have_belongs_to_neither() -> None:
    [film], [band], [other] = (
        cut(around(written), title, "Orrin")[0]
        for written, title in (("Orrin", "Orrin (film)"), ("Orrin", "Orrin (band)"), ("old Orrin", "Orrin (band)"))
    )
    shared = SharedSentences()
    for each in (film, band, other, other):
        shared.add(each)
    assert [each in shared for each in (film, band, other)] == [True, True, False]


def test_a_sentence_in_two_spaces_is_not_shared() -> None:
    space, other = (Cut("Heat", name, "", 0, 0, "", "All saw it.", "", 0) for name in ("Heat", "Warmth"))
    shared = SharedSentences()
    shared.add(space)
    shared.add(replace(other, entity="Warmth"))
    assert space not in shared
    assert other not in shared


def test_without_snippets_no_sentence_is_shared() -> None:
    assert Cut("Heat", "Heat", "", 0, 0, "", "All saw it.", "", 0) not in SharedSentences()
