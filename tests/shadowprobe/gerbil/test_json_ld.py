"""JSON-LD as GERBIL writes it: contexts, prefixes, nodes in parts, and what it would not write."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.gerbil.json_ld import ForeignError, read_nodes

G = "http://g.example/"


def nodes(document: Any) -> list[dict[str, str]]:
    """The nodes that have a property."""
    return [node for node in read_nodes(document) if node]


@pytest.mark.parametrize(
    ("context", "term", "name"),
    [
        ({"g": G}, "g:score", f"{G}score"),
        ({"score": f"{G}score"}, "score", f"{G}score"),
        ({"score": {"@id": f"{G}score", "@type": "x"}}, "score", f"{G}score"),
        # The meaning of a term may begin with a prefix.
        ({"g": G, "score": "g:points"}, "score", f"{G}points"),
        ([{"g": "http://old.example/"}, None, {"g": G}], "g:score", f"{G}score"),
        # What is not known stays as it is, and a URL is no prefix and a name.
        ({"g": G}, "h:score", "h:score"),
        ({"g": G}, "score", "score"),
        ({"http": G}, "http://x.example/", "http://x.example/"),
        ({"g": 7}, "g:score", "g:score"),
        (None, "g:score", "g:score"),
    ],
)
def test_a_term_stands_for_an_address(context: Any, term: str, name: str) -> None:
    assert nodes({"@context": context, term: 1}) == [{name: "1"}]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (7, "7"),
        (0.5, "0.5"),
        ({"@value": 0.5, "@type": "x"}, "0.5"),
        ({"@id": f"{G}a"}, f"{G}a"),
        ([{"@value": 1}, {"@value": 2}], "1"),
    ],
)
def test_a_value_is_a_text_in_any_form(content: Any, text: str) -> None:
    assert {"a": text} in nodes({"a": content})


@pytest.mark.parametrize("content", [True, None, [], {}, {"@value": False}])
def test_what_is_no_text_and_no_number_is_left_out(content: Any) -> None:
    assert nodes({"a": content, "b": 1}) == [{"b": "1"}]


def test_parts_with_one_id_are_one_node() -> None:
    graph = [{"@id": "x", "a": 1}, {"@id": "y", "a": 2}, {"@id": "x", "b": 3}, {"a": 4}]
    found = nodes({"@graph": graph})
    assert {"a": "1", "b": "3"} in found
    assert sorted(map(len, found)) == [1, 1, 2]
    # An id that is no text names nothing.
    assert len(nodes([{"@id": 7, "a": 1}, {"@id": 7, "b": 2}])) == 2


def test_nodes_inside_a_node_are_nodes_and_each_part_has_its_own_context() -> None:
    document = [{"@context": {"g": G}, "g:a": {"g:b": [1], "g:c": "x"}}, {"g:d": 2}]
    assert sorted(map(sorted, nodes(document))) == [["g:d"], [f"{G}b", f"{G}c"]]


@pytest.mark.parametrize(
    "document",
    [
        {"@context": "http://x.example/context"},
        {"@context": [{"g": G}, "http://x.example/context"]},
        {"@context": {"@import": "http://x.example/context"}},
        {"@context": {"g": {"@id": G, "@context": "http://x.example/context"}}},
        {"a": {"@context": {"g": G}}},
        {"@import": "http://x.example/context"},
    ],
)
def test_a_context_at_another_address_or_inside_a_node_is_foreign(document: Any) -> None:
    with pytest.raises(ForeignError):
        list(read_nodes(document))
