"""The statistics of a dataset that its card has."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, pairwise
from statistics import median
from typing import Any

import numpy as np

from shadowprobe.base.languages import Language
from shadowprobe.base.model import Subset
from shadowprobe.build.assemble import DRAWN_SUBSETS, ChosenSpaces, Draw, DrawnCut, Entities
from shadowprobe.build.qualifiers import is_full_title
from shadowprobe.build.record_index import digest, view_numbers
from shadowprobe.build.records import Crawled

# Commonness covers many orders of magnitude, so the bins of its distribution grow tenfold in two steps.
BINS = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


class SubsetCounts:
    """The counts of one subset, over the benchmark and the training part together."""

    def __init__(self) -> None:
        self.snippets = self.drawn = self.full_titles = 0
        self._words = self._sentences = 0

    def add(self, drawn: DrawnCut) -> None:
        """Counts a snippet."""
        cut = drawn.cut
        self.drawn += drawn.is_drawn
        self.full_titles += is_full_title(cut.written, cut.entity)
        self.add_text(cut.text, cut.sentences)

    def add_text(self, text: str, sentences: int) -> None:
        """Counts the words and sentences of a snippet."""
        self.snippets += 1
        self._words += len(text.split())
        self._sentences += sentences

    def make_row(self, spaces: int, entities: int) -> dict[str, float]:
        """Makes the row of the paper's Table 1."""
        return {
            "spaces": spaces,
            "entities": entities,
            "snippets": self.snippets,
            "words": round(self._words / self.snippets, 2),
            "sentences": round(self._sentences / self.snippets, 2),
        }


class CardCounts:
    """The counts of all snippets, and in 8 bytes each the pages that they come from."""

    def __init__(self, draw: Draw, language: Language) -> None:
        self._subsets: dict[Subset, SubsetCounts] = {subset: SubsetCounts() for subset in (*DRAWN_SUBSETS, "neutral")}
        self._urls = array("Q")
        for snippet in draw.make_neutral(language):
            self._subsets["neutral"].add_text(snippet.text, 1)

    def add(self, subset: Subset, drawn: DrawnCut) -> None:
        """Counts a snippet."""
        self._subsets[subset].add(drawn)
        self._urls.append(digest(drawn.cut.url))

    @property
    def has_training(self) -> bool:
        """True if there are snippets besides those of the benchmark."""
        return any(counts.drawn < counts.snippets for each, counts in self._subsets.items() if each in DRAWN_SUBSETS)

    def make_table_1(self, golds: Mapping[Subset, Collection[str]], spaces: int) -> dict[str, dict[str, float]]:
        """Makes the statistics of the paper's Table 1; each name has at least a Top and a Shadow snippet."""
        order: tuple[Subset, ...] = ("top", "shadow", "neutral", "tail")
        return {
            subset: self._subsets[subset].make_row(spaces if subset != "tail" else 0, len(golds.get(subset, ())))
            for subset in order
            if self._subsets[subset].snippets
        }

    def count_mentions(self) -> dict[str, dict[str, int]]:
        """Counts the snippets of each subset by their mention in the page: with or without the qualifier."""
        rows: dict[str, dict[str, int]] = {}
        for subset in DRAWN_SUBSETS:
            counts = self._subsets[subset]
            rows[subset] = {
                "full title": counts.full_titles,
                "without qualifier": counts.snippets - counts.full_titles,
            }
        return rows

    def count_pages(self, *crawled: Iterable[Crawled]) -> dict[str, Any]:
        """Counts the pages of the snippets: captures of an existing crawl by month, and requested pages."""
        known = view_numbers(np.unique(np.array(self._urls, np.uint64)))
        is_counted = bytearray(len(known))
        months, first, last, requested = Counter[str](), "", "", 0
        for page in chain(*crawled):
            key = digest(page.url)
            number = bisect_left(known, key)
            if number == len(known) or known[number] != key or is_counted[number]:
                continue
            is_counted[number] = True
            day = page.captured[:10]
            if day:
                months[day[:7]] += 1
                first, last = min(first or day, day), max(last, day)
            else:
                requested += 1
        pages = months.total()
        captured = {"pages": pages, "first": first, "last": last} if pages else {"pages": 0}
        return {"captured": {**captured, "months": dict(sorted(months.items()))}, "requested": {"pages": requested}}


def list_golds(chosen: ChosenSpaces, tail: Iterable[str]) -> dict[Subset, set[str]]:
    """Lists the entities that have snippets, by subset."""
    return {
        "top": {space.top for space in chosen.spaces},
        "shadow": {title for space in chosen.spaces for title in chosen.list_shadows(space)},
        "tail": set(tail),
    }


def count_commonness(golds: dict[Subset, set[str]], entities: Entities) -> dict[str, Any]:
    """Counts the entities of each subset by their commonness (Fig. 3), in bins that grow tenfold in two steps."""
    counted: dict[str, Any] = {"bins": list(BINS)}
    for subset, titles in golds.items():
        values = [entities[title].commonness for title in titles]
        if values:
            edges = [*BINS, float("inf")]
            counts = [sum(low <= value < high for value in values) for low, high in pairwise(edges)]
            counted[subset] = {"counts": counts, "median": median(values), "least": min(values), "most": max(values)}
    return counted
