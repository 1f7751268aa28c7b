"""How much of a text `lm` reads: the tokens of its prompt at the limit of a model, counted by words."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from asking import marked

from shadowprobe import ItemError, UsageError
from shadowprobe.systems.causal_model import CausalModel

LmLinker: Any = import_module("shadowprobe.linkers.lm").LmLinker
# Seven words of 35 characters.
SNIPPET = marked("one two three [Avon] four five sixty")
TITLES = ["Avon (river)", "Avon"]


def tokenize(texts: list[str], **_: Any) -> Any:
    """A token for each word: its length."""
    return SimpleNamespace(input_ids=[[len(word) for word in text.split()] for text in texts])


def make_linker(positions: int, **options: Any) -> Any:
    linker = LmLinker(**options)
    network = SimpleNamespace(config=SimpleNamespace(max_position_embeddings=positions))
    linker.loaded = CausalModel(network, tokenize, start=[99], loss=1.0, side_by_side=True)
    return linker


TEXT, ASKED = [3, 3, 5, 4, 4, 4, 5], [2, 4, 5, 6, 6, 2]


def test_a_prompt_that_just_fits_is_read_whole() -> None:
    # The start, 7 words of text, `In this text, "Avon" refers to`, and 2 words of the longest title are 16.
    tree = make_linker(16).make_tree(SNIPPET, TITLES)
    assert tree.prefix == [99, *TEXT, *ASKED]
    assert [(list(branch.tokens), branch.given) for branch in tree.branches] == [([4, 8], 0), ([5], 0)]


def test_a_prompt_that_is_one_token_longer_reads_three_quarters_of_the_text() -> None:
    # 26 of 35 characters: 11 before and 11 after the mention, which are ` two three ` and ` four five `.
    assert make_linker(15).make_tree(SNIPPET, TITLES).prefix == [99, 3, 5, 4, 4, 4, *ASKED]


def test_a_mention_that_does_not_fit_alone_is_an_error() -> None:
    # The start, the mention, 6 words and 2 of the title are 10.
    assert make_linker(10).make_tree(SNIPPET, TITLES).prefix == [99, 4, *ASKED]
    with pytest.raises(ItemError, match="mention and titles alone have 10 tokens, and the model reads 9"):
        make_linker(9).make_tree(SNIPPET, TITLES)


def test_with_channel_the_text_follows_each_title() -> None:
    # The start, `In the following text, "Avon" refers to`, 2 words of the longest title and 7 of the text are 17.
    prefix = [99, 2, 3, 9, 5, 6, 6, 2]
    tree = make_linker(17, score="channel").make_tree(SNIPPET, TITLES)
    assert tree.prefix == prefix
    assert [(list(branch.tokens), branch.given) for branch in tree.branches] == [([4, 8, *TEXT], 2), ([5, *TEXT], 1)]
    shorter = make_linker(16, score="channel").make_tree(SNIPPET, TITLES)
    assert [list(branch.tokens) for branch in shorter.branches] == [[4, 8, 3, 5, 4, 4, 4], [5, 3, 5, 4, 4, 4]]


@pytest.mark.parametrize(("option", "least"), [("context", 0), ("beams", 1)])
def test_the_least_value_of_an_option_is_allowed(option: str, least: int) -> None:
    assert getattr(LmLinker(**{option: least}), option) == least
    with pytest.raises(UsageError, match=f"{option} is {least - 1}, and must be at least {least}"):
        LmLinker(**{option: least - 1})
