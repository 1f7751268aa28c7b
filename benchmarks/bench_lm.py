"""How fast `lm` scores candidates with SmolLM2, against the bare model and against one candidate after the other.

The texts are those of the built-in dataset `mini`. The bare model gets the same padded rows and computes the same
logits, with its own mask and without anything around it. One by one, every candidate is a row of its own, so that its
prefix is read again; rows of similar length share a padded pass here too. One thread, because CPU time is measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from itertools import islice
from typing import Any

from goals import SKIPPED, Goal, Measured, parser, show

from shadowprobe import LinkerError, Snippet, open_dataset

# By its name, since type checkers do not see where the folder is installed.
candidate_scores: Any = import_module("shadowprobe.systems.tree_scores")
lm: Any = import_module("shadowprobe.linkers.lm")
BARE_LIMIT, SIDE_LIMIT = 0.9, 1.6
SNIPPETS, REPEATS = 32, 3


def pad(trees: list[Any]) -> list[Any]:
    """The padded rows of every pass."""
    return [
        candidate_scores.make_rows([trees[number] for number in numbers], "cpu")
        for numbers in candidate_scores.plan_passes(trees)
    ]


def run_bare(network: Any, passes: list[Any]) -> None:
    """The bare model over padded rows."""
    import torch

    with torch.inference_mode():
        for rows in passes:
            network(input_ids=rows.tokens, use_cache=False, logits_to_keep=rows.width + 1)


def measure(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least CPU seconds of each way; they take turns."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(REPEATS):
        for name, way in ways.items():
            began = time.process_time()
            way()
            best[name] = min(best[name], time.process_time() - began)
    return best


def main() -> None:
    """Measures the three ways."""
    options = parser(__doc__)
    options.add_argument("--snippets", type=int, default=SNIPPETS)
    given = options.parse_args()
    dataset, linker = open_dataset("mini"), lm.LmLinker()
    try:
        linker.open(dataset.knowledge)
    except LinkerError as error:
        print(error, file=sys.stderr)
        sys.exit(SKIPPED)
    import torch

    torch.set_num_threads(1)
    snippets: list[Snippet] = list(islice(dataset.snippets("top", "shadow"), given.snippets))
    titles = [[entity.title for entity in dataset.knowledge.candidates_of(snippet)] for snippet in snippets]
    trees = [linker.make_tree(snippet, own) for snippet, own in zip(snippets, titles, strict=True)]
    singles = [candidate_scores.Tree(tree.prefix, [branch]) for tree in trees for branch in tree.branches]
    network, passes = linker.loaded.network, pad(trees)
    seconds = measure(
        {
            "lm": lambda: linker.link(snippets),
            "the bare model": lambda: run_bare(network, passes),
            "one by one": lambda: candidate_scores.score_trees(network, singles),
        }
    )
    tokens = sum(rows.tokens.numel() for rows in passes)
    to_bare, to_singles = seconds["the bare model"] / seconds["lm"], seconds["one by one"] / seconds["lm"]
    goal = Goal(
        f"lm over {len(snippets)} texts: at least {BARE_LIMIT:.0%} of the tokens per second of the bare model, and"
        f" at least {SIDE_LIMIT} times as fast as one candidate after the other",
        to_singles,
        "times",
        to_bare >= BARE_LIMIT and to_singles >= SIDE_LIMIT,
    )
    details = {
        "candidates per text": sum(map(len, titles)) / len(titles),
        "padded tokens": tokens,
        "padded tokens, one by one": sum(rows.tokens.numel() for rows in pad(singles)),
        **{f"CPU seconds, {name}": figure for name, figure in seconds.items()},
        "tokens per CPU second, lm": tokens / seconds["lm"],
        "lm over the bare model, tokens per second": to_bare,
        "lm over one by one, texts per second": to_singles,
    }
    show(Measured(goal, details), json=given.json)


if __name__ == "__main__":
    main()
