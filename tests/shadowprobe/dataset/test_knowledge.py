"""What a linker may see of a dataset: its entities, and which of them a name can mean."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from shadowprobe.base.model import Entity, EntitySpace, Snippet
from shadowprobe.dataset.knowledge import Knowledge, base_name


def knowledge(*entities: Entity, spaces: tuple[EntitySpace, ...] = ()) -> Knowledge:
    return Knowledge({entity.title: entity for entity in entities}, spaces)


def titles(known: Knowledge, name: str) -> list[str]:
    return [entity.title for entity in known.candidates(name)]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Mercury (planet)", "Mercury"),
        ("Lincoln, England", "Lincoln"),
        ("Paris, Lamar County, Texas", "Paris"),
        ("Venus", "Venus"),
        ("Smith & Co.", "Smith & Co."),
        ("Me, Myself & I (song)", "Me, Myself & I"),
        ("(I Can't Get No) Satisfaction", "(I Can't Get No) Satisfaction"),
        ("Love (Band) (album)", "Love (Band)"),
        ("1,000", "1,000"),
        ("Sin(x)", "Sin(x)"),
    ],
)
def test_the_base_name_is_the_title_without_its_qualifier(title: str, name: str) -> None:
    assert base_name(title) == name


def test_a_name_means_the_entities_of_its_space_in_the_order_of_the_space() -> None:
    known = knowledge(
        Entity("Mercury (planet)", commonness=1),
        Entity("Mercury (element)", commonness=9),
        spaces=(EntitySpace("Mercury", ("Mercury (planet)", "Mercury (element)")),),
    )
    assert titles(known, "Mercury") == ["Mercury (planet)", "Mercury (element)"]


def test_a_space_is_complete_as_it_stands() -> None:
    known = knowledge(
        Entity("Mercury (planet)"),
        Entity("Mercury (god)", commonness=99),
        Entity("Freddie", redirects=("Mercury",)),
        spaces=(EntitySpace("Mercury", ("Mercury (planet)",)),),
    )
    assert titles(known, "Mercury") == ["Mercury (planet)"]
    assert titles(known, "Mercury (god)") == ["Mercury (god)"]


def test_an_entity_can_stand_in_two_spaces() -> None:
    spaces = (EntitySpace("NYC", ("New York City",)), EntitySpace("Big Apple", ("New York City", "Apple")))
    known = knowledge(Entity("Apple"), Entity("New York City"), spaces=spaces)
    assert titles(known, "NYC") == ["New York City"]
    assert titles(known, "Big Apple") == ["New York City", "Apple"]


def test_outside_a_space_title_base_name_and_redirects_are_names_most_common_first() -> None:
    known = knowledge(
        Entity("Lincoln (film)"),
        Entity("Lincoln, England", commonness=5),
        Entity("Lincoln", commonness=3),
        Entity("Abraham Lincoln", commonness=8, redirects=("Lincoln", "Honest Abe")),
    )
    assert titles(known, "Lincoln") == ["Abraham Lincoln", "Lincoln, England", "Lincoln", "Lincoln (film)"]
    assert titles(known, "Honest Abe") == ["Abraham Lincoln"]
    assert titles(known, "Lincoln, England") == ["Lincoln, England"]


def test_entities_equally_common_keep_the_order_of_the_dataset() -> None:
    known = knowledge(Entity("Avon (b)", commonness=0), Entity("Avon (a)"), Entity("Avon (c)", commonness=0))
    assert titles(known, "Avon") == ["Avon (b)", "Avon (a)", "Avon (c)"]
    known = knowledge(Entity("Avon (a)"), Entity("Avon (b)", commonness=1))
    assert titles(known, "Avon") == ["Avon (b)", "Avon (a)"]


def test_a_word_that_stands_in_for_a_name_means_what_the_name_does() -> None:
    known = knowledge(Entity("Avon (river)"), Entity("Bath"))
    snippet = Snippet(id="one", subset="top", text="We saw this.", start=7, end=11, space="Avon", gold="Avon (river)")
    assert [entity.title for entity in known.candidates_of(snippet)] == ["Avon (river)"]
    named = replace(snippet, text="We saw Bath.")
    assert [entity.title for entity in known.candidates_of(named)] == ["Bath"]
    assert known.candidates_of(replace(snippet, space=None)) == ()


def test_an_entity_comes_once_however_many_of_its_names_agree() -> None:
    known = knowledge(Entity("Avon", redirects=("Avon", "avon")))
    assert titles(known, "Avon") == ["Avon"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Mercury (planet)", "MERCURY"),
        ("Straße", "STRASSE"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("Москва", "москва"),
        ("Café", "Cafe\u0301"),
        ("Café", "CAFE\u0301"),
        ("\u1f80", "\u1f08\u0399"),
    ],
)
def test_a_name_unknown_as_written_is_sought_without_regard_to_case_and_composition(title: str, name: str) -> None:
    assert titles(knowledge(Entity(title)), name) == [title]


def test_a_name_as_written_goes_before_one_of_another_case() -> None:
    known = knowledge(Entity("US", commonness=9), Entity("Us (film)", commonness=1))
    assert titles(known, "Us") == ["Us (film)"]
    assert titles(known, "US") == ["US"]


def test_a_space_goes_before_a_more_common_title_that_differs_only_in_case() -> None:
    known = knowledge(
        Entity("us", commonness=99),
        Entity("United States", commonness=1),
        spaces=(EntitySpace("US", ("United States",)),),
    )
    assert titles(known, "Us") == ["United States"]
    assert titles(known, "us") == ["us"]


@pytest.mark.parametrize("name", ["Venus", "", " ", "Merc", "Mercury (", "Mercury (planet) "])
def test_an_unknown_name_has_no_candidates(name: str) -> None:
    assert knowledge(Entity("Mercury (planet)")).candidates(name) == ()


def test_knowledge_of_nothing_has_no_candidates() -> None:
    nothing = Knowledge({})
    assert len(nothing) == 0
    assert nothing.candidates("Mercury") == ()
    assert nothing.without_description == 0


def test_candidates_are_the_entities_themselves_with_all_that_is_known_of_them() -> None:
    planet = Entity("Mercury (planet)", page_id=19694, qid="Q308", description="The planet nearest to the sun.")
    assert knowledge(planet).candidates("Mercury") == (planet,)


def test_entities_are_counted_with_and_without_a_description() -> None:
    known = knowledge(
        Entity("A", description="First letter."), Entity("B"), Entity("C"), Entity("D", description=""), Entity("E")
    )
    assert len(known) == 5
    assert known.without_description == 3


def test_what_the_caller_does_to_its_own_table_later_changes_nothing() -> None:
    table = {"A": Entity("A")}
    known = Knowledge(table, iter([EntitySpace("A", ("A",))]))
    table.clear()
    assert titles(known, "A") == ["A"]
    assert [space.name for space in known.spaces] == ["A"]


@pytest.mark.parametrize(
    ("commonness", "priors"),
    [
        # One is added to each: 51, 6 and 1 of 58.
        ((50, 5, 0), [51 / 58, 6 / 58, 1 / 58]),
        ((7,), [1.0]),
        # Where one is unknown, the rank decides: 1, 1/2 and 1/3 of 11/6.
        ((50, None, 0), [6 / 11, 3 / 11, 2 / 11]),
        ((), []),
    ],
)
def test_a_prior_is_the_share_of_the_commonness_or_of_the_rank(
    commonness: tuple[int | None, ...], priors: list[float]
) -> None:
    candidates = [Entity(f"Avon {number}", commonness=known) for number, known in enumerate(commonness)]
    assert Knowledge.priors(candidates) == pytest.approx(priors)
