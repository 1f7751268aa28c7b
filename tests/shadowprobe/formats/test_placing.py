"""Where imported snippets go: the subset in the name of their file, if they fit there, or `all`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe import Card, EntitySpace, Snippet
from shadowprobe.base.model import Subset
from shadowprobe.formats.imported import Imported, Remark
from shadowprobe.formats.placing import parse_export_names, place_snippets

RIVER, SHIP, TOWN = "Avon (river)", "Avon (ship)", "Avon (town)"


def snippet(name: str, subset: Subset, gold: str | None, space: str | None = "Avon") -> Snippet:
    return Snippet(name, subset, "Avon is here.", 0, 4, space=space, gold=gold)


def place(*snippets: Snippet, unlocated: tuple[Snippet, ...] = ()) -> Imported:
    imported = Imported(Card(name="x"), [], [], {}, [])
    place_snippets(imported, snippets, unlocated)
    return imported


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["avon-top.ttl"], ("avon", {"avon-top.ttl": "top"})),
        (["a-b-top.x", "a-b-shadow.x"], ("a-b", {"a-b-top.x": "top", "a-b-shadow.x": "shadow"})),
        (["avon-tail.benchmark.jsonl"], ("avon", {"avon-tail.benchmark.jsonl": "tail"})),
        # Not all are named so, they are of two datasets, or there is no name before the subset.
        (["avon-top.ttl", "other.ttl"], None),
        (["avon-top.ttl", "exe-top.ttl"], None),
        (["-top.ttl"], None),
        (["avon-middle.ttl"], None),
    ],
)
def test_the_names_of_an_export_tell_the_dataset_and_the_subsets(
    files: list[str], expected: tuple[str, dict[str, Subset]] | None
) -> None:
    found = parse_export_names([Path("out", file) for file in files])
    if expected is None:
        assert found is None
    else:
        name, subsets = expected
        assert found == (name, {Path("out", file): subset for file, subset in subsets.items()})


def test_the_first_top_of_a_name_makes_its_space_with_every_shadow_once() -> None:
    given = (
        snippet("s1", "shadow", SHIP),
        snippet("t1", "top", RIVER),
        snippet("s2", "shadow", TOWN),
        snippet("s3", "shadow", SHIP),
        snippet("n1", "neutral", None),
    )
    imported = place(*given)
    assert imported.spaces == [EntitySpace("Avon", (RIVER, SHIP, TOWN))]
    assert imported.snippets == {
        "shadow": [given[0], given[2], given[3]],
        "top": [given[1]],
        "neutral": [given[4]],
    }
    assert imported.remarks == []


def test_an_entity_whose_mention_has_no_span_belongs_to_its_space() -> None:
    imported = place(snippet("s1", "shadow", SHIP), unlocated=(snippet("t1", "top", RIVER),))
    assert imported.spaces == [EntitySpace("Avon", (RIVER, SHIP))]
    assert [one.id for one in imported.snippets["shadow"]] == ["s1"]
    assert "top" not in imported.snippets


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (snippet("x", "neutral", RIVER), "neutral context with an entity put into `all`"),
        (snippet("x", "neutral", None, "Exe"), "neutral context of an unknown name put into `all`"),
        (snippet("x", "top", None), "mention without an entity put into `all`"),
        (snippet("x", "tail", None), "mention without an entity put into `all`"),
        (snippet("x", "top", SHIP), "second Top of a name put into `all`"),
        (snippet("x", "shadow", "Exe (ship)", "Exe"), "Shadow without its Top put into `all`"),
        (snippet("x", "shadow", RIVER), "Shadow without its Top put into `all`"),
    ],
)
def test_what_does_not_fit_into_its_subset_goes_into_all_with_a_remark(bad: Snippet, why: str) -> None:
    imported = place(snippet("t1", "top", RIVER), bad)
    assert [(one.id, one.subset, one.space, one.gold) for one in imported.snippets["all"]] == [
        ("x", "all", None, bad.gold)
    ]
    assert imported.remarks == [Remark("repaired", why, "x", repr(bad.space))]


def test_a_tail_mention_and_one_of_all_have_no_space_and_need_none() -> None:
    imported = place(snippet("t1", "top", RIVER), snippet("r1", "tail", TOWN), snippet("a1", "all", None, None))
    assert [(one.id, one.space) for one in imported.snippets["tail"]] == [("r1", None)]
    assert [(one.id, one.space) for one in imported.snippets["all"]] == [("a1", None)]
    assert imported.remarks == []
