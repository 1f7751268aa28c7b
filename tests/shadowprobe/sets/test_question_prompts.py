"""What a language model is asked to make a set, and what is read from its replies."""

from __future__ import annotations

import pytest
from generation_world import names

from shadowprobe.queries.query import Document
from shadowprobe.sets.name_documents import NameDocuments
from shadowprobe.sets.question_prompts import (
    choose_pair,
    read_answer,
    read_question,
    write_answer_prompt,
    write_question_prompt,
)

AVON = names()[0]


def test_the_prompt_for_a_question_ends_with_the_name_and_two_documents() -> None:
    assert write_question_prompt(AVON).endswith(
        "Name: Avon\nDocument 1: Avon (river)\nThe Avon is a river. It rises near Naseby and ends at Tewkesbury.\n\n"
        "Document 2: Avon (ship)\nThe Avon was a packet ship. She was built at Millwall in 1842.\n\nQuestion:"
    )


def test_the_prompt_for_an_answer_has_one_document() -> None:
    prompt = write_answer_prompt(AVON.documents[1], "Where did {Avon} begin?")
    assert prompt.endswith(
        "Document: Avon (ship)\nThe Avon was a packet ship. She was built at Millwall in 1842.\n"
        "Question: Where did {Avon} begin?\nAnswer:"
    )
    assert "river" not in prompt


def test_the_two_documents_that_share_most_pairs_of_words_are_shown() -> None:
    texts = {"a": "Built in 1842 by hand.", "b": "Red and green.", "c": "It was built in 1842 by Ann."}
    made = {key: Document(key, key, text) for key, text in texts.items()}
    # "built in", "in 1842" and "1842 by" are in both.
    assert choose_pair(tuple(made.values())) == (made["a"], made["c"])
    assert choose_pair((made["b"], made["a"], Document("d", "d", "Blue."))) == (made["b"], made["a"])


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ("Who built Avon?", "Who built Avon?"),
        ("Question: Who built  Avon? It was Ann.", "Who built Avon?"),
        ('Sure!\n"Who built Avon?"\nWho else?', "Who built Avon?"),
        ("1. **Question:** Who built Avon?", "Who built Avon?"),
        ("- Qui a construit « Avon »?", "Qui a construit « Avon »?"),
        ("Nobody knows.", None),
        ("", None),
        ("?", None),
    ],
)
def test_the_first_question_of_a_reply_is_read(reply: str, question: str | None) -> None:
    assert read_question(reply) == question


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Millwall", "Millwall"),
        ("Answer: the Usk.\nIt is long.", "the Usk"),
        ("“Ann Hale”.", "Ann Hale"),
        ("**1842**", "1842"),
        ("Washington, D.C.", "Washington, D.C"),
        ("none", None),
        ("None.", None),
        ("No answer is given.", None),
        ("The document says none", "The document says none"),
        ("Nonesuch Palace", "Nonesuch Palace"),
        (" \n", None),
        ("...", None),
        ('"."', None),
    ],
)
def test_the_first_line_of_a_reply_is_the_answer(reply: str, answer: str | None) -> None:
    assert read_answer(reply) == answer


def test_a_name_with_braces_is_only_a_text() -> None:
    braces = NameDocuments("{name}", (Document("1", "{name}", "{documents}"), Document("2", "b", "{0}")))
    assert "Name: {name}\nDocument 1: {name}\n{documents}\n\nDocument 2: b\n{0}\n" in write_question_prompt(braces)
