"""What is a mention of an entity in the text of a page."""

from __future__ import annotations

import unicodedata

import pytest
from cutting import BEFORE, around, cut

from shadowprobe.build import snippets
from shadowprobe.build.mentions import MentionFinder


def is_mention(written: str, entity: str, code: str = "en") -> bool:
    """True where the words are taken for a mention; they stand in brackets, which are no part of a word."""
    return bool(MentionFinder(code).find(f"the ({written}) of it", [entity]).spans)


def test_a_page_that_does_not_name_the_entity_is_counted_once() -> None:
    assert cut(around("John Smith")) == ([], {snippets.NOT_NAMED: 1})


@pytest.mark.parametrize(
    "written", ["Paul Smithson", "xPaul Smith", "Paul Smith2", "Paul Smith\u0301", "x\u0301Paul Smith"]
)
def test_a_name_in_a_longer_word_is_no_mention(written: str) -> None:
    assert cut(around(written)) == ([], {snippets.IN_WORD: 1})


@pytest.mark.parametrize("written", ["Stratford-upon-Avon", "Avon-led", "Avon–Severn", "Avon‑like"])
def test_a_name_in_a_compound_is_no_mention(written: str) -> None:
    assert cut(around(written), "Avon", "Avon") == ([], {snippets.IN_WORD: 1})


@pytest.mark.parametrize("written", ["–Avon–,", "– Avon–", "-Avon –", "(-Avon)", "Avon–"])
def test_the_dash_of_an_insertion_is_no_part_of_a_name(written: str) -> None:
    assert len(cut(around(written), "Avon", "Avon")[0]) == 1


@pytest.mark.parametrize("written", ["Avon- and Severn-side", "x-Avon", "x–Avon", "Avon–x", "Avon‐", "Avon-"])
def test_a_dash_beside_a_letter_and_a_hyphen_behind_the_name_belong_to_a_compound(written: str) -> None:
    assert cut(around(written), "Avon", "Avon") == ([], {snippets.IN_WORD: 1})


@pytest.mark.parametrize(
    "written",
    [
        "https://example.org/Avon",
        "Avon.example.org",
        "www.Avon.org",
        "me@Avon",
        "#Avon",
        "?q=Avon&a",
        "the_Avon",
        "Avon/",
    ],
)
def test_a_name_in_an_address_is_no_mention(written: str) -> None:
    assert cut(around(written), "Avon", "Avon") == ([], {snippets.IN_WORD: 1})


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_of_a_possessive_the_name_is_the_mention_and_the_ending_stays(apostrophe: str) -> None:
    [found], _ = cut(around(f"Paul Smith{apostrophe}s shop"))
    assert found.text == around(f"Smith{apostrophe}s shop")
    assert found.written == "Paul Smith"


def test_a_name_behind_an_apostrophe_is_a_mention_only_where_articles_are_shortened() -> None:
    assert not is_mention("O'Brien", "Brien")
    assert not is_mention("O'Brien", "Brien", "fr")
    assert not is_mention("l'Avon", "Avon")
    assert is_mention("l'Avon", "Avon", "fr")
    assert is_mention("d’Avon", "Avon", "it")
    assert is_mention("'Avon'", "Avon")
    assert not is_mention("Avon'ish", "Avon")


@pytest.mark.parametrize(
    "text", ["Avon", ".Avon", "x .Avon", "-Avon", "x -Avon", "Avon.", "Avon. x", "Avon–", "Avon– x"]
)
def test_a_mark_beside_the_name_counts_only_with_a_letter_on_its_other_side(text: str) -> None:
    assert len(MentionFinder("en").find(text, ["Avon"]).spans) == 1


@pytest.mark.parametrize("text", ["'Avon", "x 'Avon", "Avon'", "Avon' x", "Avon's", "Avon'S x", "\u0301Avon x"])
def test_an_apostrophe_alone_and_an_accent_without_a_letter_are_no_part_of_the_name(text: str) -> None:
    assert len(MentionFinder("en").find(text, ["Avon"]).spans) == 1


@pytest.mark.parametrize(
    "text", ["x.Avon", " x.Avon", "x-Avon", " x-Avon", "Avon.x", "Avon–x", "x'Avon", " x'Avon", "Avon'd"]
)
def test_a_single_letter_behind_a_mark_is_enough_for_a_longer_word(text: str) -> None:
    assert MentionFinder("en").find(text, ["Avon"]) == ([], 1)


def test_letters_with_and_without_accents_are_different() -> None:
    assert cut(around("Koln Cathedral"), "Köln Cathedral", "Cathedral")[0] == []
    assert len(cut(around("Köln Cathedral"), "Köln Cathedral", "Cathedral")[0]) == 1


def test_an_accent_apart_from_its_letter_is_the_same_name() -> None:
    apart = unicodedata.normalize("NFD", f"Für Zoë. {around('Köln Cathedral')}")
    [found], _ = cut(apart, unicodedata.normalize("NFD", "Köln Cathedral"), "Cathedral")
    assert found.original == around("Köln Cathedral")
    assert found.written == "Köln Cathedral"
    assert found.original in unicodedata.normalize("NFC", apart)


@pytest.mark.parametrize(
    ("written", "entity", "same"),
    [
        ("Paul Smith", "Paul Smith", True),
        ("PAUL SMITH", "Paul Smith", False),
        ("paul smith", "Paul Smith", False),
        ("the Beatles", "The Beatles", True),
        ("The Beatles", "The Beatles", True),
        ("iPod", "IPod", True),
        ("IPod", "iPod", True),
        ("The Lord of the Rings", "the Lord of the Rings", True),
        ("black hole", "Black hole", True),
        ("Black Hole", "Black hole", False),
        ("queen", "Queen", False),
        ("will Smith", "Will Smith", False),
        ("Paul\u00a0Smith", "Paul Smith", True),
        ("Paul  Smith", "Paul Smith", True),
        ("Paul\nSmith", "Paul Smith", True),
        ("Paul\n\nSmith", "Paul Smith", False),
        ("PaulSmith", "Paul Smith", False),
        ("Hawke’s Bay", "Hawke's Bay", True),
        ("Hawke's Bay", "Hawke’s Bay", True),
        ("C++", "C++", True),
        ("A.C. Milan", "A.C. Milan", True),
        ("AxC. Milan", "A.C. Milan", False),
    ],
)
def test_a_name_is_as_written_but_for_what_its_place_in_the_text_changes(written: str, entity: str, same: bool) -> None:
    assert is_mention(written, entity) is same


def test_articles_are_those_of_the_language() -> None:
    assert is_mention("die Ärzte", "Die Ärzte", "de")
    assert not is_mention("die Hard", "Die Hard", "en")


def test_names_that_overlap_are_one_mention() -> None:
    [found], dropped = cut(around("Duran Duran Duran"), "Duran Duran", "Duran Duran")
    assert (found.start, found.also, dropped) == (len(BEFORE) + 1, (), {})


def test_of_two_names_at_one_place_the_longer_is_the_mention() -> None:
    found = MentionFinder("en").find("Ely, Iowa, is not Ely, Iowan Ely or Elys.", ["Ely, Iowa", "Ely"])
    # "Ely, Iowan" has the longer name inside a longer word, and the shorter one as it should be.
    assert [(span.start, span.end) for span in found.spans] == [(0, 9), (18, 21), (29, 32)]
    assert found.in_words == 1


def test_an_empty_title_names_nothing() -> None:
    assert cut(around("Paul Smith"), "", "") == ([], {snippets.NOT_NAMED: 1})
