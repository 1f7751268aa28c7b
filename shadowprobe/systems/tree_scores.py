"""Scores candidates by a causal language model, side by side: they share one prefix and do not see each other."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

# The number of padded tokens of one pass, and of all branches in one row: enough for a fast pass, and small in memory.
PASS_TOKENS = 2048
ROW_TOKENS = 1024
# A margin far above the rounding errors of single precision, and far below a difference that means something.
CLOSE = 1e-3


class Branch(NamedTuple):
    """Tokens after the prefix; the first `given` of them are not scored."""

    tokens: Sequence[int]
    given: int = 0

    @property
    def scored(self) -> int:
        """The number of scored tokens."""
        return len(self.tokens) - self.given


class Tree(NamedTuple):
    """A prefix, and the branches that continue it."""

    prefix: Sequence[int]
    branches: Sequence[Branch]

    @property
    def width(self) -> int:
        """The number of tokens in all branches."""
        return sum(len(branch.tokens) for branch in self.branches)


def score_trees(network: Any, trees: Sequence[Tree]) -> list[list[float]]:
    """Computes the log-probability of each branch of each tree.

    The last digits depend on the other trees of a pass. If the two best branches of a tree are too close to be sure,
    the tree is scored again in a pass of its own, so that its best branch never depends on its neighbours.
    """
    scores: list[list[float]] = [[math.nan] * len(tree.branches) for tree in trees]
    for numbers in plan_passes(trees):
        for number, found in zip(numbers, score_side_by_side(network, [trees[n] for n in numbers]), strict=True):
            scores[number] = found
            if len(numbers) > 1 and _is_close(found):
                (scores[number],) = score_side_by_side(network, [trees[number]])
    return scores


def plan_passes(trees: Sequence[Tree]) -> Iterator[list[int]]:
    """Groups trees of similar length, so that little is padded; yields the numbers of the trees of each pass."""
    group: list[int] = []
    prefix = width = 0
    for number in sorted(range(len(trees)), key=lambda n: (len(trees[n].prefix) + trees[n].width, n)):
        tree = trees[number]
        longest, widest = max(prefix, len(tree.prefix)), max(width, tree.width)
        if group and (longest + widest) * (len(group) + 1) > PASS_TOKENS:
            yield group
            group, longest, widest = [], len(tree.prefix), tree.width
        group.append(number)
        prefix, width = longest, widest
    if group:
        yield group


def split_tree(tree: Tree) -> Iterator[Tree]:
    """Splits a tree with very many tokens into smaller ones with the same prefix."""
    part: list[Branch] = []
    for branch in tree.branches:
        if part and len(branch.tokens) + sum(len(other.tokens) for other in part) > ROW_TOKENS:
            yield Tree(tree.prefix, part)
            part = []
        part.append(branch)
    yield Tree(tree.prefix, part)


def score_side_by_side(network: Any, trees: Sequence[Tree]) -> list[list[float]]:
    """Scores all branches of all trees in one pass: one row per tree, its branches one after the other."""
    import torch

    rows = make_rows(trees, network.device)
    kept = rows.width + 1
    with torch.inference_mode():
        output = network(
            input_ids=rows.tokens,
            position_ids=rows.positions,
            attention_mask=_make_mask(rows.branches, network.dtype),
            use_cache=False,
            **_keep_logits(network, kept),
        )
        logits = output.logits[:, -kept:]
        return [_score_row(logits[number], tree, network.device) for number, tree in enumerate(trees)]


def score_one_by_one(network: Any, trees: Sequence[Tree]) -> list[list[float]]:
    """Computes the same scores with a plain causal pass for each branch: for models without free attention masks."""
    import torch

    scores = []
    with torch.inference_mode():
        for tree in trees:
            found = []
            for branch in tree.branches:
                tokens = torch.tensor([[*tree.prefix, *branch.tokens]], device=network.device)
                kept = len(branch.tokens) + 1
                logits = network(input_ids=tokens, use_cache=False, **_keep_logits(network, kept)).logits[0, -kept:]
                found += _score_row(logits, Tree(tree.prefix, [branch]), network.device)
            scores.append(found)
    return scores


class Rows(NamedTuple):
    """The input of a pass: prefixes are padded on the left and branches on the right, so that all meet in one column.

    `branches` has 0 for a token of a prefix, the number of its branch for any other token, and -1 for padding.
    """

    tokens: Any
    positions: Any
    branches: Any
    width: int


def make_rows(trees: Sequence[Tree], device: Any) -> Rows:
    """Makes the input of a pass over trees."""
    import torch

    prefix, width = max(len(tree.prefix) for tree in trees), max(tree.width for tree in trees)
    tokens = torch.zeros(len(trees), prefix + width, dtype=torch.long)
    positions = torch.zeros_like(tokens)
    branches = torch.full_like(tokens, -1)
    for row, tree in enumerate(trees):
        begin, length = prefix - len(tree.prefix), len(tree.prefix)
        numbers = [0] * length + [n for n, branch in enumerate(tree.branches, 1) for _ in branch.tokens]
        end = begin + len(numbers)
        tokens[row, begin:end] = torch.tensor([*tree.prefix, *(t for b in tree.branches for t in b.tokens)])
        # Each branch continues the positions of the prefix, as if it stood there alone.
        places = [place for branch in tree.branches for place in range(length, length + len(branch.tokens))]
        positions[row, begin:end] = torch.tensor([*range(length), *places])
        branches[row, begin:end] = torch.tensor(numbers)
    return Rows(tokens.to(device), positions.to(device), branches.to(device), width)


def _make_mask(branches: Any, dtype: Any) -> Any:
    """Makes the attention mask: a token sees the prefix and its own branch, up to itself."""
    import torch

    size = branches.shape[1]
    seen = (branches[:, None, :] == 0) | (branches[:, None, :] == branches[:, :, None])
    seen &= torch.ones(size, size, dtype=torch.bool, device=branches.device).tril()
    return torch.zeros(seen.shape, dtype=dtype, device=branches.device).masked_fill_(~seen, torch.finfo(dtype).min)[
        :, None
    ]


def _score_row(logits: Any, tree: Tree, device: Any) -> list[float]:
    """Adds up the log-probabilities of the scored tokens; the first of the logits belong to the end of the prefix."""
    import torch

    # The logits that predict a token are those of the token before it: for the first of a branch, of the prefix's last.
    places: list[int] = []
    targets: list[int] = []
    column = 1
    for branch in tree.branches:
        before = [0, *range(column, column + len(branch.tokens) - 1)]
        places += before[branch.given :]
        targets += branch.tokens[branch.given :]
        column += len(branch.tokens)
    rows = logits[torch.tensor(places, device=device)]
    chosen = rows.gather(-1, torch.tensor(targets, device=device)[:, None])[:, 0]
    log_probs = iter((chosen - rows.logsumexp(-1)).tolist())
    return [math.fsum(next(log_probs) for _ in range(branch.scored)) for branch in tree.branches]


def _keep_logits(network: Any, kept: int) -> dict[str, int]:
    """Asks for the logits of the last tokens only, if the model can do that: the vocabulary is its largest layer."""
    return {"logits_to_keep": kept} if "logits_to_keep" in inspect.signature(network.forward).parameters else {}


def _is_close(scores: Sequence[float]) -> bool:
    best = sorted(scores, reverse=True)[:2]
    return len(best) > 1 and best[0] - best[1] < CLOSE
