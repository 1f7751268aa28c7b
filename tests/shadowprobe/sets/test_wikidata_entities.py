"""An entity of Wikidata, as its JSON says it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from wikidata_world import PROPERTY, amount, entity, in_language, item, statement, text

from shadowprobe.sets.wikidata_entities import StatementValue, WikidataItem, read_item


def read(made: dict[str, Any], *properties: str, language: str = "en") -> WikidataItem:
    found = read_item(json.dumps(made).encode(), language, properties)
    assert found is not None
    return found


def values(*statements: dict[str, Any]) -> list[StatementValue]:
    return list(read(entity("Q1", "Anna", *statements), "P1").claims.get("P1", ()))


def test_an_item_has_its_names_the_title_of_its_article_and_its_claims() -> None:
    made = entity("Q1", "Anna", statement("P31", item("Q5")), aliases=("Annie", "Anna"), title="Anna (singer)")
    assert read(made, "P31") == WikidataItem("Q1", ("Anna", "Annie"), "Anna (singer)", {"P31": (StatementValue("Q5"),)})


def test_of_properties_that_are_not_wanted_nothing_is_read() -> None:
    assert read(entity("Q1", "Anna", statement("P31", item("Q5"))), "P19").claims == {}


def test_without_a_label_an_item_goes_by_its_aliases() -> None:
    assert read(entity("Q1", None, aliases=("Annie", "Nan"))).names == ("Annie", "Nan")


def test_names_of_another_language_are_none() -> None:
    made = entity("Q1", "Anna", aliases=("Annie",), title="Anna")
    assert read(made, language="de") == WikidataItem("Q1", (), "Anna (de)", {})


def test_a_name_for_every_language_counts_where_the_language_has_none() -> None:
    assert read(entity("Q1", "Anna", aliases=("Nan",), language="mul")).names == ("Anna", "Nan")


def test_a_label_of_the_language_goes_before_the_one_for_every_language() -> None:
    made = entity("Q1", "Munich", aliases=("Monaco di Baviera",))
    made["labels"]["mul"] = {"language": "mul", "value": "München"}
    made["aliases"]["mul"] = [{"language": "mul", "value": "Minga"}]
    assert read(made).names == ("Munich", "Monaco di Baviera", "Minga")


def test_an_article_of_another_wiki_is_ignored() -> None:
    made = entity("Q1", "Anna", title="Anna")
    del made["sitelinks"]["enwiki"]
    assert read(made).title is None


def test_preferred_statements_hide_the_others() -> None:
    shown = values(
        statement("P1", item("Q2")),
        statement("P1", item("Q3"), "preferred"),
        statement("P1", item("Q4"), "deprecated"),
        statement("P1", item("Q5"), "preferred"),
    )
    assert shown == [StatementValue("Q3"), StatementValue("Q5")]


def test_without_preferred_statements_the_normal_ones_count() -> None:
    assert values(statement("P1", item("Q2")), statement("P1", item("Q4"), "deprecated")) == [StatementValue("Q2")]


def test_deprecated_statements_alone_are_none() -> None:
    assert values(statement("P1", item("Q4"), "deprecated")) == []


def test_unknown_values_and_none_are_passed_over() -> None:
    shown = values(statement("P1", "somevalue"), statement("P1", item("Q2")), statement("P1", "novalue"))
    assert shown == [StatementValue("Q2")]


def test_a_preferred_unknown_value_hides_the_other_values() -> None:
    assert values(statement("P1", "somevalue", "preferred"), statement("P1", item("Q2"))) == []


def test_a_repeated_value_is_kept_once() -> None:
    assert values(statement("P1", item("Q2")), statement("P1", item("Q2"))) == [StatementValue("Q2")]


@pytest.mark.parametrize(
    ("said", "forms"),
    [
        ("+20405", ("20,405", "20405")),
        ("+7", ("7",)),
        ("-1500", ("-1,500", "-1500")),
        ("+12.50", ("12.5",)),
        ("+3.000", ("3",)),
        ("0", ("0",)),
    ],
)
def test_a_number_is_shown_as_people_write_it(said: str, forms: tuple[str, ...]) -> None:
    assert values(statement("P1", amount(said))) == [StatementValue(None, forms)]


def test_texts_are_values() -> None:
    shown = values(statement("P1", text("B-flat")), statement("P1", in_language("Die Möwe", "de")))
    assert shown == [StatementValue(None, ("B-flat",)), StatementValue(None, ("Die Möwe",))]


def test_values_that_answer_nothing_are_passed_over() -> None:
    moment = {"value": {"time": "+1879-03-14T00:00:00Z"}, "type": "time"}
    assert values(statement("P1", moment)) == []


def test_a_value_that_is_a_property_is_no_item() -> None:
    other = {"value": {"entity-type": "property", "numeric-id": 31, "id": "P31"}, "type": "wikibase-entityid"}
    assert values(statement("P1", other)) == []


def test_an_old_dump_gives_items_by_their_numbers() -> None:
    old = {"value": {"entity-type": "item", "numeric-id": 42}, "type": "wikibase-entityid"}
    assert values(statement("P1", old)) == [StatementValue("Q42")]


def test_a_property_is_no_item() -> None:
    assert read_item(json.dumps(PROPERTY).encode(), "en", ()) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"type": "item"}', "missing required field `id`"),
        (b'{"id": "L7", "type": "item"}', "'L7' is not the id of an item"),
        (b'{"id": "Q%s", "type": "item"}' % (b"9" * 19), "'Q9{19}' is not the id of an item"),
        (json.dumps(entity("Q1", "A", statement("P1", amount("1e999999999")))).encode(), "of at most 200 digits"),
        (json.dumps(entity("Q1", "A", statement("P1", amount("1e-999999")))).encode(), "of at most 200 digits"),
        (b'{"id": "Q1", "labels": {"en": {"value": 7}}}', "Expected `str`, got `int`"),
        (json.dumps(entity("Q1", "A", statement("P1", amount("many")))).encode(), "'many' is not a number"),
        (json.dumps(entity("Q1", "A", statement("P1", amount("NaN")))).encode(), "'NaN' is not a number"),
    ],
)
def test_junk_is_refused_with_a_reason(content: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_item(content, "en", ("P1",))


def test_a_value_whose_number_no_item_has_is_skipped() -> None:
    described = entity("Q1", "A", statement("P1", item("Q2")), statement("P1", item(f"Q{'9' * 25}")))
    read = read_item(json.dumps(described).encode(), "en", ("P1",))
    assert read is not None
    assert read.items("P1") == ["Q2"]
