"""Snippets: what is cut around a mention, and what is left out, on sentences written by hand."""

from __future__ import annotations

import unicodedata

import pytest
from cutting import BEFORE, URL, around, cut
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from shadowprobe.base.languages import Language
from shadowprobe.base.spans import find_name
from shadowprobe.build import snippets
from shadowprobe.build.snippets import Cutter, is_restorable
from shadowprobe.dataset.kept_pages import Cut


def test_the_full_name_is_replaced_by_the_name_of_the_space() -> None:
    found, dropped = cut(f"It rained. {around('Paul Smith')} He left.")
    assert found == [
        Cut(
            entity="Paul Smith",
            space="Smith",
            text=around("Smith"),
            start=len(BEFORE) + 1,
            end=len(BEFORE) + 6,
            written="Paul Smith",
            original=around("Paul Smith"),
            url=URL,
            place=0,
        )
    ]
    assert dropped == {}


def test_a_name_across_a_line_break_is_one_mention_in_one_sentence() -> None:
    [found], _ = cut(f"A heading\n{around('Paul' + chr(10) + 'Smith')}\nAnother line")
    assert found.text == around("Smith")
    assert found.written == "Paul\nSmith"
    assert found.restored() == found.original == around("Paul\nSmith")


def test_a_second_mention_across_a_line_break_does_not_end_the_sentence() -> None:
    [found], _ = cut(around("Paul Smith, who was Paul\nSmith,"))
    assert found.text == around("Smith, who was Smith,")
    assert found.also == ((len(BEFORE) + len(" Smith, who was "), "Paul\nSmith"),)


def test_all_mentions_are_replaced_and_the_first_is_the_mention_of_the_snippet() -> None:
    text = "The shop of Paul Smith was in the town, and Paul Smith’s flat was over it; Paul Smith slept well."
    [found], dropped = cut(text)
    assert found.text == "The shop of Smith was in the town, and Smith’s flat was over it; Smith slept well."
    # "The shop of " has 12 characters; the second name stands behind 27 more than "Smith" ends, the third behind 24.
    assert (found.start, found.end) == (12, 17)
    assert found.also == ((39, "Paul Smith"), (65, "Paul Smith"))
    assert found.restored() == text
    assert dropped == {snippets.IN_SNIPPET: 2}


def test_mentions_in_two_sentences_make_two_snippets_that_tell_their_place() -> None:
    found, _ = cut(f"{around('Paul Smith')} It rained.\n{around('Paul Smith’s shop')}")
    assert [(each.text, each.place) for each in found] == [(around("Smith"), 0), (around("Smith’s shop"), 1)]


def test_an_emoji_and_an_umlaut_before_the_mention_count_as_one_character_each() -> None:
    [found], _ = cut("Schön 😀 was the town on that day ❤️Paul Smith came to it.")
    # 5 + 1 + 1 + 1 characters up to "was", 26 of "was the town on that day ", two of the heart.
    assert (found.start, found.end) == (8 + 25 + 2, 8 + 25 + 2 + 5)
    assert found.text[found.start : found.end] == "Smith"


def test_the_mention_may_be_the_first_and_the_last_word() -> None:
    [first], _ = cut("Paul Smith was in the town on that day.")
    assert (first.text, first.start) == ("Smith was in the town on that day.", 0)
    [last], _ = cut("On that day in the town they all met Apple Inc.", "Apple Inc.", "Apple")
    assert (last.text, last.end) == ("On that day in the town they all met Apple", 42)


def test_a_sentence_is_not_cut_at_an_abbreviation() -> None:
    [found], _ = cut(
        f"It rained. In the U.S. Dr. Paul Smith was seen by all of them at No. 5 of the road. {around('he')}"
    )
    assert found.text == "In the U.S. Dr. Smith was seen by all of them at No. 5 of the road."


def test_a_sentence_that_ends_in_an_abbreviation_ends_there() -> None:
    [found], _ = cut("On that day all of them saw Paul Smith at the works of Acme Inc. The sun was up.")
    assert found.text == "On that day all of them saw Smith at the works of Acme Inc."


def test_a_stop_in_the_name_does_not_cut_it() -> None:
    [found], _ = cut(around("Yahoo! Music"), "Yahoo! Music", "Music")
    assert found.text == around("Music")


def test_sentences_on_each_side_are_added_up_to_the_end_of_the_paragraph() -> None:
    text = f"No part.\nIt rained. They came. {around('Paul Smith')} He left. She left.\nNo part."
    for sentences, expected, count in (
        (0, around("Smith"), 1),
        (1, f"They came. {around('Smith')} He left.", 3),
        (9, f"It rained. They came. {around('Smith')} He left. She left.", 5),
    ):
        [found], _ = cut(text, cutter=Cutter(Language("en"), sentences=sentences))
        assert (found.text, found.sentences) == (expected, count)
        assert found.text[found.start : found.end] == "Smith"
        assert found.restored() in text


def test_a_mention_in_the_sentence_before_is_replaced_and_is_not_the_mention_of_the_snippet() -> None:
    [found], dropped = cut(f"Paul Smith left. {around('Paul Smith')}", cutter=Cutter(Language("en"), sentences=1))
    assert found.text == f"Smith left. {around('Smith')}"
    assert (found.start, found.place) == (len(f"Smith left. {BEFORE} "), 1)
    assert found.also == ((0, "Paul Smith"),)
    assert dropped == {snippets.SHORT: 1}


@pytest.mark.parametrize(("sentences", "expected"), [(0, ["1", "3", "4"]), (1, ["012", "34"]), (2, ["0123", "456"])])
def test_no_two_snippets_share_a_sentence(sentences: int, expected: list[str]) -> None:
    # Seven sentences, each with its number; the second, the fourth and the fifth name him.
    numbered = [around(f"{'Paul Smith' if number in {1, 3, 4} else 'her'} {number}") for number in range(7)]
    found, _ = cut(" ".join(numbered), cutter=Cutter(Language("en"), sentences=sentences))
    assert ["".join(char for char in each.text if char.isdecimal()) for each in found] == expected
    assert [each.sentences for each in found] == [len(numbers) for numbers in expected]


def test_the_bullet_of_a_list_is_no_part_of_a_sentence() -> None:
    [found], _ = cut(f"- {around('Paul Smith')}")
    assert found.original == around("Paul Smith")


FILLER = "The people of the town were there and it was cold in the hall.\n"


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("The shop of Paul Smith was cold.", snippets.SHORT),
        ("It was cold " + "and it was cold " * 20 + "at Paul Smith.", snippets.LONG),
        ("The day on which all of us met Paul Smith in the town", snippets.NO_SENTENCE),
        ("Anna Miller Peter Brown Paul Smith Maria Jones and Karl Weber.", snippets.LIST),
        ("shirts, ties, socks, Paul Smith, hats, shoes, belts, bags, rings, cups.", snippets.LIST),
        ("Designer Paul Smith opens twelfth London shop selling striped shirts.", snippets.NOT_RUNNING),
        ("By the use of this site of Paul Smith you accept all of our cookies.", snippets.BOILERPLATE),
        ("This is the site of Paul Smith and all rights reserved are his.", snippets.BOILERPLATE),
        ("The people of the town saw Paul Smith and also the shop that is Paul Smith-led.", snippets.GIVEN_AWAY),
        ("The people of the town saw Paul Smith below a sign with PAUL SMITH on it.", snippets.GIVEN_AWAY),
    ],
)
def test_an_unsuitable_sentence_is_left_out_and_counted(sentence: str, why: str) -> None:
    found, dropped = cut(FILLER * 3 + sentence)
    assert found == []
    dropped.pop(snippets.IN_WORD, None)
    assert dropped == {why: 1}


@pytest.mark.parametrize(
    "sentence",
    [
        "The wife of Paul Smith was the first in the town who baked cookies of this kind.",
        "The copyright of the book was sold to Paul Smith in the year of the flood.",
        "It was Paul Smith who wrote the JavaScript of the old clock in the hall.",
        "In the newsletter of the club Paul Smith was called the best of them all.",
    ],
)
def test_a_word_that_sites_use_of_themselves_may_be_the_subject(sentence: str) -> None:
    assert len(cut(sentence)[0]) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "If you like what Paul Smith says in this book you can subscribe at once.",
        "To find out more of Paul Smith and the shop, please open the newsletter.",
        "With our cookies the page of Paul Smith knows what is in the bag.",
    ],
)
def test_the_same_words_to_the_reader_are_boilerplate(sentence: str) -> None:
    assert cut(sentence) == ([], {snippets.BOILERPLATE: 1})


def test_a_paragraph_that_ends_with_a_colon_is_a_sentence() -> None:
    [found], _ = cut("It rained. This is what Paul Smith had in his bag on that day:\n- a hat")
    assert found.original == "This is what Paul Smith had in his bag on that day:"


def test_german_nouns_with_capital_letters_are_not_a_list() -> None:
    # Of the nine words besides the name, six have a capital letter.
    sentence = "Neuer Leiter des Knabenchores Berge wird Bläser Paul Smith aus Ulm."
    [found], _ = cut(sentence, cutter=Cutter(Language("de")))
    assert found.original == sentence
    # Eight of ten.
    names = "Dort saßen Anna Peter Maria Karl Otto Ida Paul Smith und Emil."
    assert cut(names, cutter=Cutter(Language("de"))) == ([], {snippets.LIST: 1})


def test_six_words_besides_the_name_are_enough_and_five_are_not() -> None:
    assert len(cut("He saw Paul Smith in the town.")[0]) == 0
    assert len(cut("He saw Paul Smith in the old town.")[0]) == 1


def test_six_of_ten_words_may_have_a_capital_letter_and_seven_are_a_list() -> None:
    assert len(cut("On That Day Anna Paul Smith Saw the Old town hall there.")[0]) == 1
    assert cut("On That Day Anna Paul Smith Saw the Old Town hall there.") == ([], {snippets.LIST: 1})


def test_a_third_of_the_words_may_have_a_separator() -> None:
    # Eight words besides the name.
    assert len(cut("He saw, with her, Paul Smith in the old hall.")[0]) == 1
    assert cut("He saw, with her, Paul Smith, in the old hall.") == ([], {snippets.LIST: 1})


def test_eighty_words_are_not_too_many_and_eighty_one_are() -> None:
    # "Paul Smith" and 78 or 79 others.
    assert len(cut("Paul Smith was " + "in the " * 38 + "town.")[0]) == 1
    assert cut("Paul Smith was " + "in the " * 38 + "old town.")[1] == {snippets.LONG: 1}


def test_a_sentence_that_names_two_entities_of_the_space_is_left_out() -> None:
    text = around("Paul Smith and John Smith")
    assert cut(text, others=["Paul Smith", "John Smith"]) == ([], {snippets.OTHER_NAMED: 1})
    assert len(cut(text, others=["John Smi", "Maria Smith"])[0]) == 1


def test_a_name_within_the_longer_name_of_another_entity_is_not_taken_for_it() -> None:
    assert cut(around("Paul Smith Group"), others=["Paul Smith Group"]) == ([], {snippets.OTHER_NAMED: 1})


def test_an_entity_whose_title_holds_the_title_of_another_is_itself() -> None:
    [found], _ = cut(around("Paul Smith Group"), "Paul Smith Group", "Smith", ["Paul Smith", "Smith"])
    assert found.text == around("Smith")


def test_the_bare_name_of_the_space_may_stand_beside_the_mention() -> None:
    [found], _ = cut(around("Smith, that is Paul Smith,"), others=["Smith"])
    assert found.text == around("Smith, that is Smith,")
    assert found.start == len(BEFORE) + 1 + len("Smith, that is ")
    assert found.restored() == found.original


def test_an_entity_that_bears_the_name_of_the_space_keeps_its_text() -> None:
    [found], _ = cut(around("Berlin"), "Berlin", "Berlin", ["Berlin, Maryland"])
    assert found.text == found.original == around("Berlin")
    assert cut(around("Berlin, Maryland,"), "Berlin", "Berlin", ["Berlin, Maryland"])[0] == []


def test_a_page_in_another_language_is_left_out() -> None:
    text = "An diesem Tag sahen die Leute der Stadt Paul Smith in der alten Halle, in der es sehr kalt war."
    assert cut(text) == ([], {snippets.FOREIGN: 1})
    [found], _ = cut(text, cutter=Cutter(Language("de")))
    assert found.text == text.replace("Paul Smith", "Smith")


def test_no_more_than_the_most_are_cut_from_one_page() -> None:
    found, dropped = cut(f"{around('Paul Smith')}\n" * 5, cutter=Cutter(Language("en"), most=2))
    assert [each.place for each in found] == [0, 1]
    assert dropped == {snippets.ENOUGH: 3}


def test_a_snippet_restores_only_with_the_names_that_stood_in_the_page() -> None:
    [found], _ = cut(around("Paul\nSmith and Paul Smith’s son"))
    assert is_restorable(found)
    assert not is_restorable(replace(found, original=around("Paul Smith")))
    assert not is_restorable(replace(found, written="Smith", original=around("Smith and Paul Smith’s son")))
    assert not is_restorable(replace(found, also=()))


CUTTERS = [Cutter(Language("en"), sentences=sentences) for sentences in range(3)]
SENTENCE = "And it was in the town of the day that Paul Smith saw them all."
NAMES = ["Paul Smith", "Paul\nSmith", "Paul\u00a0Smith", "Smith", "John Smith", " was in the town of "]
MARKS = [". ", "! ", "\n", " ", " ", " ", ", ", "-", "- ", "’s", "'", "(", ")", "Dr. ", "U.S. ", "…", "x", "1"]
PIECES = st.lists(st.sampled_from([SENTENCE, *NAMES, *MARKS, "Zoë", "e\u0301", "😀", "❤️"]), max_size=12).map("".join)


@settings(max_examples=300, deadline=None)
@given(PIECES, PIECES, st.integers(0, 2))
@example("", f" {SENTENCE}", 1)
@example("- Paul\nSmith was in the town of the Paul Smith. ", "", 0)
def test_what_is_cut_is_a_piece_of_the_page_with_the_name_of_the_space_in_it(
    before: str, after: str, sentences: int
) -> None:
    text = before + SENTENCE + after
    found, dropped = cut(text, others=["John Smith"], cutter=CUTTERS[sentences])
    for each in found:
        assert each.text[each.start : each.end] == "Smith"
        assert not each.text[: each.start][-1:].isalnum()
        assert not each.text[each.end :][:1].isalnum()
        assert is_restorable(each)
        assert each.original in unicodedata.normalize("NFC", text)
        assert each.written.split() == ["Paul", "Smith"]
        assert "Paul Smith" not in each.text
        assert not find_name(each.original, "John Smith")
        assert each.original == each.original.strip() != ""
    assert found or dropped
