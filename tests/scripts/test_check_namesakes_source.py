"""The script that checks the sources of `namesakes`: what is wrong with other names of values is said."""

from __future__ import annotations

import pytest
from check_namesakes_source import check_aliases
from make_namesakes import list_forms

VALUES = {"United States", "World War I", "First World War"}


@pytest.mark.parametrize(
    ("aliases", "problem"),
    [
        ({"Untied States": ["USA"]}, "'Untied States' is the value of no fact"),
        ({"United States": []}, "'United States' has no other name, an empty one, or one twice"),
        ({"United States": ["USA", "USA"]}, "'United States' has no other name, an empty one, or one twice"),
        ({"United States": ["United States"]}, "'United States' has no other name, an empty one, or one twice"),
        ({"United States": [" "]}, "'United States' has no other name, an empty one, or one twice"),
        (
            {"World War I": ["First World War"], "First World War": ["World War I", "WWI"]},
            "'World War I' and 'First World War' have different names, and mean the same",
        ),
    ],
)
def test_a_fault_in_the_other_names_is_said(aliases: dict[str, list[str]], problem: str) -> None:
    assert problem in list(check_aliases(aliases, VALUES))


def test_other_names_without_fault_pass() -> None:
    same = {"World War I": ["First World War", "WWI"], "First World War": ["World War I", "WWI"]}
    assert list(check_aliases({"United States": ["USA"], **same}, VALUES)) == []


def test_the_other_names_follow_those_of_the_fact() -> None:
    aliases = {"United States": ["USA", "US"]}
    assert list_forms("United States|America|US", aliases) == ("United States", "America", "US", "USA")
    assert list_forms("Ghana", aliases) == ("Ghana",)
