"""Candidates scored side by side: the same numbers as one by one, whatever stands beside them."""

from __future__ import annotations

import math
import random
from importlib import import_module
from typing import Any

import pytest

# By its name, since type checkers do not see where the folder is installed.
tree_scores: Any = import_module("shadowprobe.systems.tree_scores")
Branch: Any = tree_scores.Branch
Tree: Any = tree_scores.Tree

torch = pytest.importorskip("torch", reason="the extra [lm] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [lm] is not installed", exc_type=ImportError)

VOCABULARY = 50


def make_network(kind: str) -> Any:
    """A model with random weights, far from the usual small ones, so that every token it sees matters."""
    import transformers

    torch.manual_seed(5)
    sizes: dict[str, Any] = {"vocab_size": VOCABULARY, "initializer_range": 0.5}
    attention: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2}
    if kind == "gpt2":
        made: Any = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=128, **sizes)
        )
    elif kind == "gemma3":
        made = transformers.Gemma3ForCausalLM(
            transformers.Gemma3TextConfig(
                hidden_size=32, intermediate_size=64, head_dim=8, sliding_window=64, **attention, **sizes
            )
        )
    else:
        made = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(hidden_size=32, intermediate_size=64, **attention, **sizes)
        )
    return made.eval()


def make_trees(count: int = 12) -> list[Any]:
    """Trees of different lengths and widths, some with tokens that are not scored."""
    sampling = random.Random(3)

    def tokens(least: int, most: int) -> list[int]:
        return [sampling.randrange(VOCABULARY) for _ in range(sampling.randint(least, most))]

    return [
        Tree(tokens(1, 20), [Branch(tokens(2, 6), sampling.randint(0, 1)) for _ in range(sampling.randint(1, 5))])
        for _ in range(count)
    ]


class BigramModel(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A model whose next token depends only on the last one, by a table of probabilities."""

    device, dtype = torch.device("cpu"), torch.float64
    table = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75], [0.2, 0.4, 0.4]], dtype=torch.float64)

    def forward(self, input_ids: Any, **_: Any) -> Any:
        from transformers.modeling_outputs import CausalLMOutput

        # Logits are probabilities up to a constant, and here that constant is not zero.
        return CausalLMOutput(logits=self.table[input_ids].log() + 7.0)


@pytest.mark.parametrize("score", [tree_scores.score_side_by_side, tree_scores.score_one_by_one])
def test_a_score_is_the_sum_of_the_log_probabilities_of_the_tokens(score: Any) -> None:
    # P(1 | 0) P(2 | 1) = 0.25 * 0.75; P(0 | 0) = 0.5; and without the first token, P(2 | 1) = 0.75.
    tree = Tree([2, 0], [Branch([1, 2]), Branch([0]), Branch([1, 2], given=1)])
    # P(1 | 2) P(1 | 1) P(0 | 1) = 0.4 * 0.125 * 0.125.
    other = Tree([2], [Branch([1, 1, 0])])
    found = score(BigramModel(), [tree, other])
    assert found[0] == pytest.approx([math.log(0.1875), math.log(0.5), math.log(0.75)])
    assert found[1] == pytest.approx([math.log(0.00625)])


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma3"])
def test_side_by_side_gives_the_scores_of_one_by_one(kind: str) -> None:
    network, trees = make_network(kind), make_trees()
    expected = tree_scores.score_one_by_one(network, trees)
    # The scores differ between branches, so that equal ones are no accident.
    assert all(len(set(own)) == len(own) for own in expected)
    for found in (tree_scores.score_trees(network, trees), tree_scores.score_side_by_side(network, trees)):
        for own, right in zip(found, expected, strict=True):
            assert own == pytest.approx(right, abs=1e-4)


def test_neither_order_nor_neighbours_change_a_score() -> None:
    network, trees = make_network("llama").double(), make_trees()
    whole = tree_scores.score_trees(network, trees)
    backwards = tree_scores.score_trees(network, trees[::-1])[::-1]
    alone = [tree_scores.score_trees(network, [tree])[0] for tree in trees]
    for own, reverse, single in zip(whole, backwards, alone, strict=True):
        assert own == pytest.approx(single, abs=1e-10)
        assert reverse == pytest.approx(single, abs=1e-10)


def test_a_close_decision_is_made_in_a_pass_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    network, trees = make_network("llama"), [tree for tree in make_trees(30) if len(tree.branches) > 1]
    alone = [tree_scores.score_trees(network, [tree])[0] for tree in trees]
    monkeypatch.setattr(tree_scores, "CLOSE", math.inf)
    # Not only nearly the same: these are the very numbers of a pass without neighbours.
    assert tree_scores.score_trees(network, trees) == alone


def test_only_a_close_decision_takes_another_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []

    def score(network: Any, trees: list[Any]) -> list[list[float]]:
        passes.append(len(trees))
        return [[-3.0, -3.0005], [-3.0, -3.002]] if len(trees) > 1 else [[-3.1, -3.2]]

    monkeypatch.setattr(tree_scores, "score_side_by_side", score)
    trees = [Tree([1], [Branch([2]), Branch([3])]) for _ in range(2)]
    assert tree_scores.score_trees(None, trees) == [[-3.1, -3.2], [-3.0, -3.002]]
    assert passes == [2, 1]


def test_passes_hold_every_tree_once_and_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_scores, "PASS_TOKENS", 60)
    trees = make_trees(40)
    passes = list(tree_scores.plan_passes(trees))
    assert sorted(number for numbers in passes for number in numbers) == list(range(40))
    for numbers in passes:
        padded = max(len(trees[n].prefix) for n in numbers) + max(trees[n].width for n in numbers)
        assert len(numbers) == 1 or padded * len(numbers) <= 60
    assert max(len(numbers) for numbers in passes) > 2
    assert list(tree_scores.plan_passes([])) == []


def tree_of(prefix: int, width: int) -> Tree:
    return Tree([1] * prefix, [Branch([2] * width)])


def test_a_pass_is_filled_to_its_last_token_and_padding_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_scores, "PASS_TOKENS", 12)
    # Four rows of 2 + 1 tokens are 12; then two of 4 + 2; a row of 7 + 1 has room for no other.
    trees = [*[tree_of(2, 1)] * 5, tree_of(4, 2), tree_of(7, 1), tree_of(7, 1)]
    assert list(tree_scores.plan_passes(trees)) == [[0, 1, 2, 3], [4, 5], [6], [7]]
    # The longest prefix and the widest branches are not those of one tree: two rows of 3 + 3.
    assert list(tree_scores.plan_passes([tree_of(1, 3), tree_of(3, 1)])) == [[0, 1]]
    monkeypatch.setattr(tree_scores, "PASS_TOKENS", 11)
    assert list(tree_scores.plan_passes([tree_of(1, 3), tree_of(3, 1)])) == [[0], [1]]


def test_a_wide_tree_is_split_and_keeps_all_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_scores, "ROW_TOKENS", 5)
    tree = Tree([1], [Branch([1, 2]), Branch([3, 4, 5]), Branch([6]), Branch([7] * 9), Branch([8])])
    assert [[branch.tokens for branch in part.branches] for part in tree_scores.split_tree(tree)] == [
        [[1, 2], [3, 4, 5]],
        [[6]],
        [[7] * 9],
        [[8]],
    ]
    assert {tuple(part.prefix) for part in tree_scores.split_tree(tree)} == {(1,)}
