"""New AmbER sets: the rules of the paper's section 3, one by one."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping, Sequence

import pytest

from shadowprobe.queries.amber_sets import AmberQuery, AmberSet
from shadowprobe.queries.query import Document
from shadowprobe.sets.amber_rules import (
    MadeSets,
    Namesake,
    Property,
    Value,
    make_sets,
    measure_gap,
    read_properties,
)

PROPERTIES = {
    "P1303": Property("instrument", ("What does $name play?",), ("$name plays the $object.",)),
    "P641": Property("sport", ("Which sport does $name do?",), ("$name does $object.",)),
    "P54": Property("team", ("Whom does $name play for?",), ("$name plays for $object.",)),
}


def namesake(entity: str, text: str, facts: Mapping[str, Sequence[Value]], popularity: float | None = None) -> Namesake:
    document = Document(entity, entity.title(), text)
    return Namesake(entity, (document,), {number: tuple(values) for number, values in facts.items()}, popularity)


def trombonist(popularity: float | None = None) -> Namesake:
    return namesake("trombonist", "He plays the trombone.", {"P1303": [("trombone",)]}, popularity)


def boxer(popularity: float | None = None, text: str = "A champion of boxing.") -> Namesake:
    return namesake("boxer", text, {"P641": [("boxing", "pugilism")]}, popularity)


def made(*entities: Namesake) -> MadeSets:
    return make_sets({"Abe": entities}, PROPERTIES)


def queries(found: MadeSets, task: str) -> dict[str, list[AmberQuery]]:
    (one,) = found.sets[task]
    return {entity: list(each.queries) for entity, each in one.qids.items()}


def test_a_fact_becomes_a_question_a_slot_and_two_claims() -> None:
    found = made(trombonist(), boxer())
    assert [one.input for one in queries(found, "qa")["trombonist"]] == ["What does Abe play?"]
    assert [one.input for one in queries(found, "sf")["trombonist"]] == ["Abe [SEP] instrument"]
    assert [one.input for one in queries(found, "fc")["boxer"]] == ["Abe does boxing."]
    assert found.dropped == {}


def test_a_query_has_its_answers_its_gold_document_and_its_property() -> None:
    (asked,) = queries(made(trombonist(), boxer()), "qa")["boxer"]
    assert asked.output.answer == ["boxing", "pugilism"]
    assert [(page.wikipedia_id, page.title) for page in asked.output.provenance] == [("boxer", "Boxer")]
    assert asked.meta == {"pid": "P641"}


def test_the_first_entity_is_the_head_and_the_only_one() -> None:
    (found,) = made(trombonist(2.0), boxer(1.0)).sets["qa"]
    assert {entity: (one.is_head, one.popularity) for entity, one in found.qids.items()} == {
        "trombonist": (True, 2.0),
        "boxer": (False, 1.0),
    }


def test_a_property_that_two_entities_have_is_dropped_whatever_its_values() -> None:
    first = namesake(
        "first", "He plays the trombone and football.", {"P1303": [("trombone",)], "P641": [("football",)]}
    )
    second = namesake("second", "She plays tuba, for Lyon.", {"P1303": [("tuba",)], "P54": [("Lyon",)]})
    found = made(first, second)
    assert {entity: [one.meta["pid"] for one in many] for entity, many in queries(found, "qa").items()} == {
        "first": ["P641"],
        "second": ["P54"],
    }
    assert found.dropped == {"facts whose property a namesake has too": 2}


def test_an_unknown_property_is_ignored() -> None:
    first = namesake("first", "He plays the trombone. Born 1809.", {"P1303": [("trombone",)], "P569": [("1809",)]})
    found = made(first, boxer())
    assert [one.meta["pid"] for one in queries(found, "qa")["first"]] == ["P1303"]
    assert found.dropped == {}


def test_a_value_may_be_the_350th_word_of_an_article_and_not_the_351st() -> None:
    words = ["word"] * 349
    assert queries(made(trombonist(), boxer(text=" ".join([*words, "boxing"]))), "qa")["boxer"]
    late = made(trombonist(), boxer(text=" ".join([*words, "word", "boxing"])))
    assert late.sets["qa"] == []
    assert late.dropped == {
        "facts that the beginning of no article states": 1,
        "names of which fewer than two entities have a fact left": 1,
    }


def test_a_value_of_two_words_must_end_before_the_351st() -> None:
    def team(before: int) -> Namesake:
        return namesake("team", " ".join([*["word"] * before, "Red Sox"]), {"P54": [("Red Sox",)]})

    assert made(trombonist(), team(348)).sets["qa"]
    assert made(trombonist(), team(349)).sets["qa"] == []


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("A champion of BOXING!", True),
        ("Famous for pugilism alone.", True),
        ("A boxing-ring manager.", True),
        ("He was kickboxing.", False),
        ("A boxer.", False),
    ],
)
def test_an_article_states_a_value_in_any_of_its_forms_as_whole_words(text: str, stated: bool) -> None:
    assert bool(made(trombonist(), boxer(text=text)).sets["qa"]) == stated


@pytest.mark.parametrize(
    ("head", "second", "kept"),
    [
        # Shares of the mean of both: 1 / 10, a little less, a little more.
        (10.5, 9.5, True),
        (10.4, 9.5, False),
        (10.6, 9.5, True),
        # Exactly a tenth again, which binary fractions miss by a little.
        (6.3, 5.7, True),
        (5.0, 5.0, False),
        # Where one is not known, nothing can be said against the head.
        (None, 5.0, True),
        (5.0, None, True),
        (None, None, True),
    ],
)
def test_a_head_must_be_a_tenth_more_popular_than_the_next(
    head: float | None, second: float | None, kept: bool
) -> None:
    found = made(trombonist(head), boxer(second))
    assert bool(found.sets["qa"]) == kept
    assert bool(found.dropped) != kept


def test_only_the_most_popular_tail_counts_for_the_gap() -> None:
    third = namesake("third", "He is with Lyon.", {"P54": [("Lyon",)]}, 1.9)
    assert made(trombonist(4.0), boxer(2.0), third).sets["qa"]


def test_the_gap_of_zero_popularities_is_zero() -> None:
    assert measure_gap(0.0, 0.0) == 0.0
    assert measure_gap(3.0, 1.0) == 1.0


def test_a_name_whose_head_has_no_fact_left_is_dropped() -> None:
    silent = namesake("silent", "Nothing is known.", {"P1303": [("trombone",)]}, 9.0)
    third = namesake("third", "He is with Lyon.", {"P54": [("Lyon",)]}, 1.0)
    found = made(silent, boxer(5.0), third)
    assert found.sets["qa"] == []
    assert found.dropped["names whose head has no fact left"] == 1


def test_a_name_of_one_entity_is_no_set() -> None:
    found = made(trombonist())
    assert found.sets["qa"] == []
    assert found.dropped == {"names of one entity": 1}


def test_a_tail_without_a_fact_stays_a_namesake_as_long_as_it_has_an_article() -> None:
    silent = namesake("silent", "Nothing is known.", {})
    lost = Namesake("lost", (), {})
    (found,) = made(trombonist(), boxer(), silent, lost).sets["qa"]
    assert list(found.qids) == ["trombonist", "boxer", "silent"]
    assert found.qids["silent"].queries == ()
    assert found.qids["silent"].documents == {"silent"}


def test_every_article_that_states_a_value_is_gold_and_no_other() -> None:
    documents = (
        Document("one", "One", "He plays the trombone."),
        Document("two", "Two", "His trombone is lost."),
        Document("three", "Three", "His other life."),
    )
    many = Namesake("many", documents, {"P1303": (("trombone",),)})
    (found,) = made(many, boxer()).sets["qa"]
    assert found.qids["many"].queries[0].gold == {"one", "two"}
    assert found.qids["many"].documents == {"one", "two", "three"}


def test_the_passages_of_an_article_are_one_gold_document() -> None:
    passages = tuple(Document(f"p{n}", "One", "He plays the trombone.", page="one") for n in (1, 2))
    (found,) = made(Namesake("one", passages, {"P1303": (("trombone",),)}), boxer()).sets["qa"]
    assert [page.wikipedia_id for page in found.qids["one"].queries[0].output.provenance] == ["one"]
    assert [page.wikipedia_id for page in found.qids["one"].wikipedia] == ["one"]


def musician(entity: str, text: str, *values: Value) -> Namesake:
    return namesake(entity, text, {"P1303": values})


def band(*heads: Namesake) -> MadeSets:
    """Names each with a head of its own and a boxer."""
    names = {f"Name {number}": (head, boxer()) for number, head in enumerate(heads)}
    return make_sets(names, PROPERTIES)


def claims(found: MadeSets, number: int) -> dict[str, str]:
    """The claims about the head of a name, by what is true of them."""
    said = found.sets["fc"][number].qids
    head = next(one for one in said.values() if one.is_head)
    return {"".join(one.output.answer): one.input for one in head.queries}


def test_a_false_claim_has_the_most_common_value_that_is_not_true() -> None:
    found = band(
        musician("a", "The piano.", ("piano",)),
        musician("b", "The piano.", ("piano",)),
        musician("c", "The tuba.", ("tuba",)),
        musician("d", "The tuba and the piano.", ("tuba",), ("piano",)),
        musician("e", "The zither.", ("zither",)),
    )
    # Piano three times, tuba twice, zither once.
    assert claims(found, 0) == {"SUPPORTS": "Name 0 plays the piano.", "REFUTES": "Name 0 plays the tuba."}
    assert claims(found, 2) == {"SUPPORTS": "Name 2 plays the tuba.", "REFUTES": "Name 2 plays the piano."}
    # Neither of what it plays can be false.
    assert claims(found, 3) == {"SUPPORTS": "Name 3 plays the tuba.", "REFUTES": "Name 3 plays the zither."}


def test_a_false_claim_is_not_another_form_of_a_true_value() -> None:
    found = band(
        musician("a", "The fiddle.", ("fiddle", "violin")),
        musician("b", "The violin.", ("violin",)),
        musician("c", "The tuba.", ("tuba",)),
    )
    assert claims(found, 0)["REFUTES"] == "Name 0 plays the tuba."


def test_among_equally_common_values_the_alphabet_decides() -> None:
    found = band(*(musician(value, f"The {value}.", (value,)) for value in ("tuba", "oboe", "harp")))
    assert claims(found, 0)["REFUTES"] == "Name 0 plays the harp."
    assert claims(found, 2)["REFUTES"] == "Name 2 plays the oboe."


def test_where_every_entity_has_the_same_value_there_is_no_false_claim() -> None:
    assert claims(band(musician("a", "The tuba.", ("tuba",))), 0) == {"SUPPORTS": "Name 0 plays the tuba."}


def test_a_true_claim_has_a_value_that_the_article_states() -> None:
    head = musician("a", "Known for the tuba.", ("harp",), ("bass tuba", "tuba"))
    found = band(head)
    # Of the value that is stated the form that is shown, as the release does it.
    assert claims(found, 0)["SUPPORTS"] == "Name 0 plays the bass tuba."


def everything(found: MadeSets) -> list[AmberSet]:
    return [one for sets in found.sets.values() for one in sets]


def test_ids_are_unique_over_all_tasks_and_say_the_fact_and_the_words() -> None:
    found = band(*(musician(value, f"The {value}.", (value,)) for value in ("tuba", "oboe", "harp")))
    asked = [query for one in everything(found) for _, query in one.queries()]
    ids = [query.id for query in asked]
    # Of each name two questions, two slots, and three claims: no value of a sport but boxing could make a fourth.
    assert len(set(ids)) == len(ids) == 3 * (2 + 2 + 3)
    for query in asked:
        fact, _, words = query.id.partition("=")
        assert len(fact) == 32
        assert words == hashlib.sha256(query.input.encode()).hexdigest()[:32]


def test_the_queries_of_one_fact_have_the_same_first_half_of_an_id() -> None:
    found = made(trombonist(), boxer())
    halves = {query.id.partition("=")[0] for one in everything(found) for qid, query in one.queries() if qid == "boxer"}
    assert len(halves) == 1


TEMPLATES = Property("sport", tuple(f"Q{n} $name?" for n in range(50)), tuple(f"C{n} $name $object" for n in range(50)))


def inputs() -> list[str]:
    names = {
        f"N{n}": (namesake("a", "golf", {"P641": [("golf",)]}), namesake("b", "Lyon", {"P54": [("Lyon",)]}))
        for n in range(8)
    }
    found = make_sets(names, {"P641": TEMPLATES, "P54": TEMPLATES})
    return [query.input for one in everything(found) for _, query in one.queries()]


def test_templates_are_drawn_and_always_the_same() -> None:
    first = inputs()
    assert first == inputs()
    # Sixteen facts draw from fifty templates: it would be strange if they were all the same one.
    assert len({text.split()[0] for text in first}) > 5


def test_templates_do_not_hang_on_the_seed_of_hashes() -> None:
    script = f"import sys; sys.path.insert(0, {str(__file__.rpartition('/')[0])!r}); import test_amber_rules as t"
    script += "; print('|'.join(t.inputs()))"
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {"|".join(inputs()) + "\n"}


def test_the_properties_are_those_of_tables_3_and_10() -> None:
    known = read_properties()
    people = {number for kind in known.types["human"].values() for number in kind.properties}
    # Table 3.
    assert people == {"P1303", "P135", "P1441", "P157", "P185", "P241", "P413", "P54", "P607", "P641"}
    things = {number for kind in known.types["nonhuman"].values() for number in kind.properties}
    assert things == {"P175", "P264", "P658", "P452", "P1082", "P161", "P58", "P50", "P2437"}
    # Table 10.
    assert known.properties["P1303"].questions == (
        "Which musical instrument did $name play?",
        "What musical instrument does $name play?",
        "What instrument does $name play?",
    )
    assert known.properties["P413"].claims == ("$name plays the $object position.", "$name plays as a $object.")


def test_every_property_has_questions_and_claims() -> None:
    known = read_properties()
    for kinds in known.types.values():
        for kind in kinds.values():
            for number in kind.properties:
                found = known.properties[number]
                assert all("$name" in text for text in (*found.questions, *found.claims)), number
                assert all("$object" in text for text in found.claims), number
                assert len(set(found.questions)) == len(found.questions) >= 2, number
