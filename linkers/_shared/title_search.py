"""Finds the most likely titles of a list by a causal language model: a beam search over a tree of titles."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .trie import Trie


class FoundTitle(NamedTuple):
    """A title, its log-probability, and the number of its tokens."""

    title: str
    log_prob: float
    tokens: int


class _Beam(NamedTuple):
    log_prob: float
    # The row of the beam before it, whose stored attention states it continues.
    parent: int
    tokens: tuple[int, ...]


def search_titles(network: Any, prefix: Sequence[int], trie: Trie, beams: int) -> list[FoundTitle]:
    """Returns up to `beams` titles, most likely first; the tokens of the prefix are read once."""
    import torch

    found: list[FoundTitle] = []
    live = [_Beam(0.0, 0, ())]
    with torch.inference_mode():
        output = network(input_ids=torch.tensor([list(prefix)], device=network.device), use_cache=True)
        while live:
            log_probs = output.logits[:, -1].log_softmax(-1)
            live = _extend(live, log_probs, trie, beams)
            for beam in live:
                if (title := trie.title(beam.tokens)) is not None:
                    found.append(FoundTitle(title, beam.log_prob, len(beam.tokens)))
            found = heapq.nlargest(beams, found, key=lambda title: title.log_prob)
            # A beam can only become less likely.
            worst = found[-1].log_prob if len(found) == beams else -math.inf
            live = [beam for beam in live if beam.log_prob > worst and trie.after(beam.tokens)]
            if live:
                cache = output.past_key_values
                cache.reorder_cache(torch.tensor([beam.parent for beam in live], device=network.device))
                last = torch.tensor([beam.tokens[-1:] for beam in live], device=network.device)
                output = network(input_ids=last, past_key_values=cache, use_cache=True)
    return found


def _extend(live: Sequence[_Beam], log_probs: Any, trie: Trie, beams: int) -> list[_Beam]:
    """Returns the most likely beams that are one token longer."""
    longer: list[_Beam] = []
    for row, beam in enumerate(live):
        allowed = trie.after(beam.tokens)
        chosen = zip(allowed, log_probs[row][allowed].tolist(), strict=True)
        longer += [_Beam(beam.log_prob + log_prob, row, (*beam.tokens, token)) for token, log_prob in chosen]
    return heapq.nlargest(beams, longer, key=lambda beam: beam.log_prob)
