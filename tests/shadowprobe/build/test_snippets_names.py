"""Names in a snippet that tell its answer, or another's, however they are written."""

from __future__ import annotations

import pytest
from cutting import BEFORE, around, cut

from shadowprobe.build import snippets


@pytest.mark.parametrize(
    ("entity", "written"),
    [
        ("Paul Smith", "PAUL\u00a0SMITH"),
        ("Paul Smith", "PAUL  Smith"),
        ("Paul Smith", "Paul\u00a0Smith-led"),
        ("Paul Smith", "Paul_Smith"),
        ("Paul Smith", "Paul Sm\u00adith"),
        ("Paul O'Brien", "PAUL O’BRIEN"),
        ("Paul O’Brien", "PAUL O'BRIEN"),
        ("Paul O'Brien", "Paul O‘Brien"),
        ("Große Straße", "GROSSE STRASSE"),
    ],
)
def test_a_full_name_that_stays_in_the_text_is_seen_however_it_is_written(entity: str, written: str) -> None:
    space = entity.rsplit(maxsplit=1)[-1]
    found, dropped = cut(around(f"{entity} at the {written} works"), entity, space)
    assert found == []
    assert dropped[snippets.GIVEN_AWAY] == 1


def test_a_part_of_the_full_name_may_stay() -> None:
    [found], _ = cut(around("Paul Smith at the PAUL works of SMITH"))
    assert found.text == around("Smith at the PAUL works of SMITH")


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("ADAM SMITH", "Adam Smith"),
        ("adam smith", "Adam Smith"),
        ("Adam\u00a0Smith", "Adam Smith"),
        ("Adam_Smith", "Adam Smith"),
        ("Adam Smith", "Adam Smith (economist)"),
        ("ADAM SMITH’s son", "Adam Smith (economist)"),
        ("Adam Smith (economist)", "Adam Smith (economist)"),
        ("PAUL SMITH GROUP", "Paul Smith Group (company)"),
    ],
)
def test_another_entity_is_named_whatever_the_case_and_without_its_brackets(written: str, other: str) -> None:
    assert cut(around(f"{written} and Paul Smith"), others=["Paul Smith", other]) == ([], {snippets.OTHER_NAMED: 1})


@pytest.mark.parametrize("other", ["Smith (band)", "Paul Smith (band)", "SMITH", "Adam Smithson (band)", "(band)"])
def test_a_title_without_brackets_that_is_the_name_of_the_space_or_the_entity_names_no_other(other: str) -> None:
    [found], _ = cut(around("Smith, that is Paul Smith, and Adam"), others=[other])
    assert found.text == around("Smith, that is Smith, and Adam")


@pytest.mark.parametrize("other", ["Paul Smith (bishop)", "Paul Smith"])
def test_the_name_that_an_entity_shares_with_another_but_for_the_brackets_may_be_repeated(other: str) -> None:
    [found], _ = cut(around("Paul Smith (poet), for Paul Smith it was,"), "Paul Smith (poet)", "Smith", [other])
    assert found.text == around("Smith, for Smith it was,")
    assert found.written == "Paul Smith (poet)"
    assert found.also == ((len(BEFORE) + len(" Smith, for "), "Paul Smith"),)


def test_another_name_within_each_of_two_mentions_is_not_another() -> None:
    twice = around("Paul Smith Group, or Paul Smith Group,")
    assert len(cut(twice, "Paul Smith Group", "Smith", ["Paul Smith"])[0]) == 1
    thrice = around("Paul Smith Group, or Paul Smith Group, or PAUL SMITH,")
    assert cut(thrice, "Paul Smith Group", "Smith", ["Paul Smith"])[1][snippets.OTHER_NAMED] == 1


def test_a_common_word_is_not_taken_for_a_title() -> None:
    [found], _ = cut(around("Paul Smith, who was late,"), others=["Who (album)"])
    assert found.text == around("Smith, who was late,")


@pytest.mark.parametrize(
    ("entity", "written"),
    [
        ("'Til Tuesday", "'Til Tuesday"),
        ("'Til Tuesday", "’Til Tuesday"),
        ("'N Sync", "'N Sync"),
        ("’N Sync", "'N Sync"),
    ],
)
def test_a_title_that_begins_with_an_apostrophe_is_found(entity: str, written: str) -> None:
    [found], _ = cut(around(written), entity, entity[1:])
    assert (found.written, found.text) == (written, around(entity[1:]))


def test_a_common_word_is_no_name_without_its_qualifier_and_a_title_may_be_one() -> None:
    assert cut(around("It"), "It (novel)", "It") == ([], {snippets.COMMON_WORD: 1})
    [found], dropped = cut(around("It (novel)"), "It (novel)", "It")
    assert (found.text, found.written, dropped) == (around("It"), "It (novel)", {})
    [found], dropped = cut(around("Who"), "Who", "Who")
    assert (found.text, dropped) == (around("Who"), {})


def test_a_name_without_its_qualifier_is_not_used_if_another_entity_cites_the_page() -> None:
    others = ["Avon (ship)"]
    assert cut(around("Avon"), "Avon (river)", "Avon", others, citing=others) == ([], {snippets.CITED_BY_ANOTHER: 1})
    # The full title can mean no other entity.
    [found], _ = cut(around("Avon (river)"), "Avon (river)", "Avon", others, citing=others)
    assert found.written == "Avon (river)"
    assert cut("It rained.", "Avon (river)", "Avon", others, citing=others) == ([], {snippets.NOT_NAMED: 1})
