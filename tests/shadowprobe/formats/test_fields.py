"""The fields of a mention, from page ids, scores and references as foreign files write them."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.base.model import Candidate
from shadowprobe.formats.fields import (
    drop_missing,
    make_candidate_fields,
    make_reference,
    name_line,
    parse_edition,
    parse_page_id,
    parse_reference,
    parse_score,
)

ONE, TWO = (Candidate("Avon"),), (Candidate("Avon"), Candidate("Berg"))


def test_a_line_is_called_by_its_id_or_else_by_its_number() -> None:
    assert [name_line(one, 7) for one in (None, 0, "", "a")] == ["line-7", "0", "", "a"]


@pytest.mark.parametrize(
    ("key", "page_id"),
    [(None, None), ("", None), (0, None), ("0", None), (-1, None), ("-1", None), (1, 1), ("1", 1), ("007", 7)],
)
def test_a_page_id_is_a_number_above_0(key: int | str | None, page_id: int | None) -> None:
    assert parse_page_id(key) == page_id


def test_a_score_of_0_is_a_score() -> None:
    assert [parse_score(one) for one in (None, 0.0, "0", "-1.5e2")] == [None, 0.0, 0.0, -150.0]
    assert drop_missing({"a": 0, "b": None, "c": ""}) == {"a": 0, "c": ""}


def test_a_reference_is_the_title_or_else_the_item_or_else_the_page() -> None:
    assert make_reference("Avon", 1, "Q1") == "Avon"
    assert make_reference(None, 1, "Q1") == "wd:Q1"
    assert make_reference(None, 1) == "curid:1"
    assert make_reference(None) == ""
    # An empty title is a title.
    assert make_reference("", 1, "Q1") == ""


@pytest.mark.parametrize(
    ("candidates", "is_ranking", "fields"),
    [
        ((), None, {}),
        ((), True, {}),
        (ONE, True, {"candidates": ONE}),
        (ONE, False, {}),
        (ONE, None, {"candidates": ONE, "perhaps_ranked": True}),
        (TWO, None, {"candidates": TWO}),
        (TWO, False, {"candidates": TWO}),
    ],
)
def test_a_single_candidate_is_a_ranking_only_if_the_file_says_so(
    candidates: tuple[Candidate, ...], is_ranking: bool | None, fields: dict[str, Any]
) -> None:
    assert make_candidate_fields(candidates, is_ranking) == fields


@pytest.mark.parametrize(
    ("reference", "fields"),
    [
        ("NIL", {"nil": True}),
        ("Avon", {"title": "Avon"}),
        ("wd:Q7", {"qid": "Q7"}),
        ("curid:7", {"page_id": 7}),
        ("https://de.wikipedia.org/wiki/Elbe", {"title": "Elbe", "language": "de"}),
        ("https://simple.wikipedia.org/wiki/Elbe", {"title": "Elbe", "language": "simple"}),
    ],
)
def test_a_reference_is_read_as_what_it_is(reference: str, fields: dict[str, Any]) -> None:
    assert parse_reference(reference) == fields


def test_a_host_without_a_language_names_no_edition() -> None:
    assert parse_edition("http://live.dbpedia.org/resource/Avon") == {}
    assert parse_edition("http://de.dbpedia.org/resource/Avon") == {"language": "de"}
    assert parse_edition("Avon") == {}
