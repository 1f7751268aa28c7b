"""What a chat model is asked about a mention, and where its answer is in a reply."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from shadowprobe import Entity, ItemError, Snippet

prompts: Any = import_module("shadowprobe.linkers._shared.prompts")
CHOICES = [Entity("Avon (river)"), Entity("Avon (ship)")]


def test_of_two_objects_the_first_or_the_last_is_read() -> None:
    reply = 'Maybe {"answer": 1}. No: {"answer": "22"} it is.'
    first, last = prompts.find_value(reply, "answer", first=True), prompts.find_value(reply, "answer")
    assert (first.value, reply[first.start : first.end]) == (1, "1")
    # Without its quotation marks.
    assert (last.value, reply[last.start : last.end]) == ("22", "22")


def test_what_a_model_thinks_is_not_its_answer() -> None:
    reply = '<think>{"answer": 1}</think> {"answer": 2}'
    assert prompts.find_value(reply, "answer", first=True).value == 2
    # The opening tag may be missing, but thoughts that do not end are no answer.
    assert prompts.find_value('{"answer": 1}</think>{"answer": 2}', "answer", first=True).value == 2
    with pytest.raises(ItemError, match="the reply holds no"):
        prompts.find_value('<think>{"answer": 1}', "answer")


@pytest.mark.parametrize("reply", ["", '{"title": 1}', '{"answer": }', '{"answer": river}'])
def test_a_reply_without_a_value_is_quoted(reply: str) -> None:
    with pytest.raises(ItemError) as refused:
        prompts.find_value(reply, "answer")
    assert str(refused.value) == f'the reply holds no {{"answer": ...}}: {reply!r}'


def test_of_a_long_reply_80_characters_are_quoted() -> None:
    assert prompts.quote_reply("a \n b " + "x" * 100) == repr("a b " + "x" * 76)


@pytest.mark.parametrize(
    ("reply", "plain"),
    [
        (" 1\n", "1"),
        ('**"Avon"**', "Avon"),
        ("thought</think> 2", "2"),
        ("one\ntwo", ""),
        ('{"answer": 1}', ""),
        ("", ""),
    ],
)
def test_a_plain_answer_is_one_line_without_a_brace(reply: str, plain: str) -> None:
    found = prompts.find_plain(reply)
    assert found.value == plain
    if plain:
        assert reply[found.start : found.end] == plain


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, 0),
        (2, 2),
        (3, None),
        ("2", 2),
        (" 2.0 ", 2),
        (2.0, 2),
        ("2.5", None),
        ("00002", None),
        ("Avon (ship)", 2),
        ("avon (ship)", 2),
        ("none of these.", 0),
        ("2. Avon (ship)", 2),
        ("2) Avon (ship): a vessel", 2),
        # The number and the title disagree.
        ("1. Avon (ship)", None),
        ("2: something else", 2),
        ("3. something else", None),
        ("0. None of these", 0),
        (None, None),
        ([2], None),
        ("", None),
    ],
)
def test_a_choice_is_known_by_its_number_or_its_title(value: Any, number: int | None) -> None:
    assert prompts.parse_choice(value, CHOICES) == number


def test_a_schema_allows_every_choice_and_0() -> None:
    assert prompts.make_schema(2) == {
        "type": "object",
        "properties": {"answer": {"type": "integer", "enum": [0, 1, 2]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    assert prompts.make_schema(None)["properties"] == {"title": {"type": ["string", "null"]}}


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("On the Avon.", "mention"),
        ("<mention> Avon", "mention2"),
        ("</mention> Avon <mention2>", "mention3"),
    ],
)
def test_a_mention_is_marked_with_a_tag_that_the_text_does_not_have(text: str, tag: str) -> None:
    start = text.index("Avon")
    snippet = Snippet("1", "top", text, start, start + 4)
    assert prompts.mark_mention(snippet) == (tag, text.replace("Avon", f"<{tag}>Avon</{tag}>"))


def test_only_the_number_before_a_title_counts() -> None:
    value = prompts.ReplyValue("12. Avon", 1, 9)
    assert prompts.cut_to_number(value, 12, '"12. Avon"') == prompts.ReplyValue(12, 1, 3)
    assert prompts.cut_to_number(value, 1, '"12. Avon"') == value
    assert prompts.cut_to_number(value, 12, '"Av. on  "') == value
