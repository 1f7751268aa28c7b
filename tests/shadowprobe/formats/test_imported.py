"""What all imports share: entities with several names and numbers, remarks, and the language."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from shadowprobe import Card, Entity, Snippet, UsageError
from shadowprobe.formats.imported import Entities, Imported, PageId, Remark, find_trimmed_spans, list_files

APART = "two QIDs of one title kept apart"
JOINED = "two titles of one page made one entity"
NUMBERS = "two page ids of one title made one entity"


def collect(*items: tuple[str, int | None, str | None]) -> tuple[list[Entity], list[Remark]]:
    """The entities of these titles, page ids and QIDs, and the remarks about them."""
    remarks: list[Remark] = []
    entities = Entities(remarks)
    for number, (title, page_id, qid) in enumerate(items):
        entities.add(title, page_id, str(number), qid)
    return list(entities), remarks


def test_a_page_id_has_at_most_18_digits_and_is_positive() -> None:
    assert msgspec.convert(10**18 - 1, PageId) == 999_999_999_999_999_999
    assert msgspec.convert(1, PageId) == 1
    for number in (0, 10**18):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(number, PageId)


def test_keys_that_come_later_complete_an_entity() -> None:
    found, remarks = collect(("Avon", None, None), ("Avon", 1, None), ("Avon", 1, "Q1"), ("Exe", None, "Q2"))
    assert found == [Entity("Avon", page_id=1, qid="Q1"), Entity("Exe", qid="Q2")]
    assert remarks == []
    # A title without its keys is the one that is known.
    found, remarks = collect(("Avon", 1, "Q1"), ("Avon", None, None))
    assert (found, remarks) == ([Entity("Avon", page_id=1, qid="Q1")], [])


def test_two_titles_of_one_page_or_item_are_one_entity() -> None:
    found, remarks = collect(("Avon", 1, None), ("River Avon", 1, None), ("River Avon", 1, None))
    assert found == [Entity("Avon", page_id=1, redirects=("River Avon",))]
    assert remarks == [Remark("repaired", JOINED, "1", "'River Avon' is 'Avon' (1)")]
    found, remarks = collect(("Avon", None, "Q1"), ("River Avon", None, "Q1"))
    assert found == [Entity("Avon", qid="Q1", redirects=("River Avon",))]
    assert remarks == [Remark("repaired", JOINED, "1", "'River Avon' is 'Avon' (Q1)")]


def test_a_title_that_is_another_entity_is_no_further_title() -> None:
    found, remarks = collect(("Avon", 1, None), ("Exe", 2, None), ("Exe", 1, None))
    assert found == [Entity("Avon", page_id=1), Entity("Exe", page_id=2)]
    assert remarks == []


def test_two_items_of_one_title_are_two_and_two_pages_of_one_title_are_one() -> None:
    found, remarks = collect(("Avon", None, "Q1"), ("Avon", None, "Q2"))
    assert found == [Entity("Avon", qid="Q1"), Entity("Avon (Q2)", qid="Q2")]
    assert remarks == [Remark("repaired", APART, "1", "'Avon': Q1, Q2")]
    found, remarks = collect(("Avon", 1, None), ("Avon", 2, None))
    assert found == [Entity("Avon", page_id=1)]
    assert remarks == [Remark("repaired", NUMBERS, "1", "'Avon': 1, 2")]


def test_a_page_keeps_the_first_item_and_an_item_the_first_page() -> None:
    found, _ = collect(("Avon", 1, "Q1"), ("Avon", 1, "Q2"))
    assert found == [Entity("Avon", page_id=1, qid="Q1")]
    found, _ = collect(("Avon", 1, "Q1"), ("Avon", 2, "Q1"))
    assert found == [Entity("Avon", page_id=1, qid="Q1")]


def test_a_second_gold_title_is_remarked_only_if_it_is_another_entity() -> None:
    remarks: list[Remark] = []
    entities = Entities(remarks)
    entities.add("Avon", 1, "a")
    entities.add("Exe", 2, "b")
    entities.add_title("Avon", "Exe", "c")
    entities.add_title("Avon", "Avon", "d")
    entities.remark_second_golds()
    why = "a second gold entity of a mention, which the dataset has apart: only the first is right"
    assert remarks == [Remark("kept", why, "c", "'Exe' besides 'Avon'")]


def test_files_are_those_of_a_directory_and_no_two_have_one_name(tmp_path: Path) -> None:
    for name in ("b.ttl", "a.ttl", "c.txt"):
        (tmp_path / name).touch()
    assert list_files("nif", [tmp_path], ".ttl") == [tmp_path / "a.ttl", tmp_path / "b.ttl"]
    assert list_files("nif", [tmp_path / "c.txt"], ".ttl") == [tmp_path / "c.txt"]
    with pytest.raises(UsageError, match="two files are called a:"):
        list_files("nif", [tmp_path, tmp_path / "a.ttl"], ".ttl")
    with pytest.raises(UsageError, match=r"holds no \*\.xml: nif takes such files"):
        list_files("nif", [tmp_path], ".xml")


@pytest.mark.parametrize(
    ("given", "counts", "language", "remarks"),
    [
        (None, {}, "en", 0),
        (None, {"de": 3}, "de", 0),
        (None, {"de": 3, "fr": 1}, "en", 1),
        ("fr", {"de": 3, "en": 1}, "fr", 0),
    ],
)
def test_the_language_is_the_given_one_or_the_one_of_all_entities(
    given: str | None, counts: dict[str, int], language: str, remarks: int
) -> None:
    imported = Imported(Card(name="d"))
    imported.languages.update(counts)
    imported.settle_language(given)
    assert (imported.card.language, len(imported.remarks)) == (language, remarks)
    assert [remark.detail for remark in imported.remarks] == ["de: 3, fr: 1"] * remarks


def test_a_text_with_two_gold_entities_is_remarked() -> None:
    first = Snippet("a", "all", "Avon.", 0, 4, gold="Avon (river)")
    second, third = (Snippet("b", "all", "Avon.", 0, 4, gold=gold) for gold in ("Avon (ship)", "Avon (river)"))
    for others, expected in (([second], 1), ([third], 0)):
        imported = Imported(Card(name="d"), snippets={"all": [first, *others]})
        imported.remark_contradictions()
        assert [(remark.where, remark.detail) for remark in imported.remarks] == [("b", "a: 'Avon (river)'")] * expected
        assert sum(imported.count_remarks().get("kept", {}).values()) == expected


def test_trimmed_spans_are_read_from_the_card() -> None:
    items = [
        {"action": "repaired", "why": "white space in the span", "where": "a", "detail": "[1, 12]"},
        {"action": "repaired", "why": "white space in the span", "where": "b", "detail": "elsewhere"},
        {"action": "repaired", "why": "another reason", "where": "c", "detail": "[1, 2]"},
    ]
    assert find_trimmed_spans(Card(name="d", repairs={"items": items})) == {"a": (1, 12)}
    assert find_trimmed_spans(Card(name="d", repairs={"items": "another form"})) == {}
    assert find_trimmed_spans(Card(name="d")) == {}


def test_a_second_title_that_is_known_already_changes_nothing() -> None:
    remarks: list[Remark] = []
    entities = Entities(remarks)
    avon = entities.add("Avon", 1, "a")
    # Its own title, its page id, a title that it has already, and that of another entity.
    entities.add("River Avon", 1, "b")
    entities.add("Berg", 2, "c")
    for title in ("Avon", "River Avon", "Berg"):
        entities.add(title, 1, "d")
    assert list(entities) == [Entity("Avon", page_id=1, redirects=("River Avon",)), Entity("Berg", page_id=2)]
    assert [(remark.why, remark.where) for remark in remarks] == [(JOINED, "b")]
    assert avon == "Avon"


def test_a_remark_has_a_detail_only_where_there_is_one(tmp_path: Path) -> None:
    imported = Imported(Card(name="mine"), entities=[Entity("Avon")], remarks=[Remark("kept", "so", "a")])
    imported.remarks += [Remark("kept", "so", "b", "[0, 4]"), Remark("dropped", "so", "c")]
    imported.snippets["all"] = [Snippet("a", "all", "Avon", 0, 4, gold="Avon")]
    assert imported.write(tmp_path / "data").card.repairs == {
        "counts": {"kept": {"so": 2}, "dropped": {"so": 1}},
        "items": [
            {"action": "kept", "why": "so", "where": "a"},
            {"action": "kept", "why": "so", "where": "b", "detail": "[0, 4]"},
            {"action": "dropped", "why": "so", "where": "c"},
        ],
    }
