"""AmbER sets that training has not seen: their names share no word with a training question."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from shadowprobe.base.files import make_directory, write_atomically
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.amber_sets import FILE, read_amber_sets
from shadowprobe.training.content_overlap import Triple, list_content_words


def hold_sets_out(source: Path, training: Iterable[Triple], folder: Path) -> tuple[int, int]:
    """Writes the sets whose names share no word with a training triple, in the layout of the release.

    Returns how many sets are kept and how many are not; each counts once for each of its tasks.
    """
    trained = frozenset[str]().union(*(triple.words for triple in training))
    kept = dropped = 0
    for (collection, task), sets in read_amber_sets(source).items():
        unseen = [one for one in sets if list_content_words(one.name).isdisjoint(trained)]
        kept, dropped = kept + len(unseen), dropped + len(sets) - len(unseen)
        if unseen:
            target = folder / collection / task / FILE
            make_directory(target.parent)
            write_atomically(target, encode_lines(unseen))
    return kept, dropped
