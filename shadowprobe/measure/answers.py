"""The predictions of one run set against the gold, in columns: what every probe reads."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from shadowprobe.base.identity import RULES, Resolution, Resolver, is_nil
from shadowprobe.base.jsonl import read_lines
from shadowprobe.base.model import Prediction, Subset
from shadowprobe.dataset.dataset import GOLD_SUBSETS, SUBSETS, Dataset
from shadowprobe.dataset.index import NONE
from shadowprobe.errors import InputError
from shadowprobe.measure.answer_columns import (
    MISSING,
    NIL,
    AnswerColumns,
    Booleans,
    Floats,
    Ints,
)
from shadowprobe.measure.statistics import ROUNDS, SEED

Texts = npt.NDArray[np.object_]
NO_GOLD = NONE
# Codes in the gold_rank column beside the ranks 1, 2, ...
NO_CANDIDATES, NOT_A_CANDIDATE = 0, -1


class Pairs(NamedTuple):
    """Row numbers of the Top and the Shadow snippet of each space that has both, one pair a space."""

    space: Ints
    top: Ints
    shadow: Ints

    def __len__(self) -> int:
        return len(self.space)


class Answers(AnswerColumns):
    """One row a snippet: its subset, space and gold, and what the linker answered."""

    def __init__(
        self,
        dataset: Dataset,
        redirects: Mapping[str, str] | None = None,
        *,
        gerbil_threshold: bool = False,
        gerbil_nil: bool = False,
        rounds: int = ROUNDS,
        seed: int = SEED,
    ) -> None:
        self.dataset, self._redirects = dataset, redirects
        self.gerbil_threshold, self.gerbil_nil = gerbil_threshold, gerbil_nil
        self.rounds, self.seed = rounds, seed
        self.redirects_digest = _digest_redirects(redirects) if redirects else None
        index = dataset.index
        self.row: Mapping[str, int] = index.rows
        self.subset: npt.NDArray[np.int8] = np.frombuffer(index.subsets, dtype=np.int8)
        super().__init__(
            Resolver(dataset.entities.values(), language=dataset.card.language, redirects=redirects),
            dataset.entities,
            dataset.spaces,
            np.frombuffer(index.spaces, dtype=np.int32),
            self.rows("neutral"),
        )
        self.gold: Ints = np.frombuffer(index.golds, dtype=np.int32)
        self.template: Ints = np.frombuffer(index.templates, dtype=np.int32)
        self.gold_rank: Ints = np.full(len(self), NO_CANDIDATES, dtype=np.int32)
        self.rules: Counter[str] = Counter(dict.fromkeys(RULES, 0))
        self.page_id_conflicts = 0

    def make_empty(self) -> Answers:
        """The same table without a single answer, for other answers to the same snippets."""
        return Answers(
            self.dataset,
            self._redirects,
            gerbil_threshold=self.gerbil_threshold,
            gerbil_nil=self.gerbil_nil,
            rounds=self.rounds,
            seed=self.seed,
        )

    def read(
        self,
        path: Path,
        *,
        partial: bool = False,
        torn: bool = False,
        lines: Iterable[tuple[int, Prediction]] | None = None,
    ) -> Answers:
        """Adds the predictions of a file; with `partial`, ids that the dataset lacks are ignored and no error.

        `torn` is that of `read_lines`. `lines` are those of a file that does not consist of JSON lines.
        """
        for line, prediction in read_lines(path, Prediction, torn=torn) if lines is None else lines:
            row = self.row.get(prediction.id)
            problem = prediction.find_problem()
            if problem is None and row is None and not partial:
                problem = "id", f"{prediction.id!r} is no snippet of the dataset `{self.dataset.name}`"
            if problem is None and row is not None and self.entity[row] != MISSING:
                problem = "id", f"{prediction.id!r} is answered twice"
            if problem is not None:
                raise InputError(path, problem[1], line=line, field=problem[0])
            if row is not None:
                self.enter(prediction, row)
        # Each answer was resolved, and hardly any will be again.
        self.resolver.resolve.cache_clear()
        return self

    def fill(self, predictions: Iterable[Prediction]) -> Answers:
        """Adds predictions."""
        for prediction in predictions:
            self.enter(prediction, self.row[prediction.id])
        return self

    def add(self, prediction: Prediction, rows: Sequence[int]) -> Prediction:
        """Adds a new prediction for some rows and returns it as it is stored: with the entities that it means."""
        if prediction.answer is not None and is_nil(prediction.answer):
            prediction = replace(prediction, status="nil", answer=None)
        resolution = self._resolve(prediction)
        titles = list(self._candidate_titles(prediction))
        self._enter(prediction, rows, resolution, titles)
        candidates = tuple(
            replace(candidate, entity=title) for candidate, title in zip(prediction.candidates, titles, strict=True)
        )
        entity = resolution.entity if resolution is not None else None
        return replace(prediction, entity=entity, candidates=candidates)

    def _enter(
        self, prediction: Prediction, rows: Sequence[int], resolution: Resolution | None, titles: Sequence[str]
    ) -> None:
        super()._enter(prediction, rows, resolution, titles)
        if resolution is not None:
            self.rules[resolution.rule] += len(rows)
            self.page_id_conflicts += resolution.conflict * len(rows)
        if titles:
            for row in rows:
                self.gold_rank[row] = self._rank_gold(row, titles)

    def _rank_gold(self, row: int, candidates: Iterable[str]) -> int:
        if self.gold[row] == NO_GOLD:
            return NO_CANDIDATES
        gold = self.names[self.gold[row]]
        return next((rank for rank, title in enumerate(candidates, start=1) if title == gold), NOT_A_CANDIDATE)

    def replace_entities(self, rows: Ints, entities: Ints, scores: Floats) -> Answers:
        """The same table with other answers in some rows, for a system that differs only there."""
        other = copy(self)
        for name in ("correct", "linked", "prior"):
            # They were worked out from the earlier answers.
            vars(other).pop(name, None)
        other.entity, other.score = self.entity.copy(), self.score.copy()
        other.entity[rows], other.score[rows] = entities, scores
        return other

    @cached_property
    def has_gold(self) -> Booleans:
        """True where an answer can be right; in GERBIL's counting, NIL is right for a mention without an entity."""
        if self.gerbil_nil:
            return ~self.rows("neutral")
        has_gold: Booleans = self.gold != NO_GOLD
        return has_gold

    @cached_property
    def correct(self) -> Booleans:
        """True where the answer is the gold entity, or NIL where GERBIL expects it."""
        expected = np.where(self.gold == NO_GOLD, NIL, self.gold)
        correct: Booleans = self.has_gold & (self.entity == expected)
        return correct

    @cached_property
    def linked(self) -> Booleans:
        """True where the answer is an entity."""
        return self.entity >= 0

    def rows(self, *subsets: Subset) -> Booleans:
        """True for the rows of the named subsets."""
        return np.isin(self.subset, [SUBSETS.index(subset) for subset in subsets])

    def scored(self, *subsets: Subset) -> Booleans:
        """True for the rows of the named subsets that have a gold answer."""
        return self.rows(*subsets) & self.has_gold

    @cached_property
    def groups(self) -> Ints:
        """For every row what a bootstrap draws with it: its document in the subset `all`, else its name, else itself.

        The mentions of one document depend on each other, and so do the snippets of one name.
        """
        documents: Ints = np.frombuffer(self.dataset.index.documents, dtype=np.int32)
        first_document = len(self.space_names)
        alone = first_document + len(documents) + np.arange(len(documents), dtype=np.int32)
        of_document = np.where(documents == NONE, alone, first_document + documents)
        groups: Ints = np.where(self.rows("all") | (self.space == NONE), of_document, self.space)
        return groups

    def gold_subsets(self) -> Iterator[tuple[Subset, Booleans]]:
        """Each subset that has gold answers, with its rows."""
        for subset in GOLD_SUBSETS:
            rows = self.scored(subset)
            if rows.any():
                yield subset, rows

    @cached_property
    def text(self) -> Texts:
        """The texts, read from the files of the dataset when a probe first asks for them."""
        return np.array([snippet.text for snippet in self.dataset.snippets()], dtype=object)

    @cached_property
    def mention(self) -> Texts:
        """The marked words of each text."""
        return np.array([snippet.mention for snippet in self.dataset.snippets()], dtype=object)

    @cached_property
    def top_of(self) -> Ints:
        """The code of the top entity of every space."""
        tops = [self._code[self.dataset.spaces[name].top] for name in self.space_names]
        return np.array(tops, dtype=np.int32)

    @cached_property
    def pairs(self) -> Pairs:
        """The first Top and the first Shadow snippet of every space that has both."""
        tops, shadows = (self._first_of_space(subset) for subset in ("top", "shadow"))
        both = (tops >= 0) & (shadows >= 0)
        return Pairs(np.flatnonzero(both).astype(np.int32), tops[both], shadows[both])

    def _first_of_space(self, subset: Subset) -> Ints:
        first = np.full(len(self.space_names), -1, dtype=np.int32)
        rows = np.flatnonzero(self.rows(subset))
        # Written from the back, so that the first row of a space is the one that stays.
        first[self.space[rows[::-1]]] = rows[::-1]
        return first

    @cached_property
    def prior(self) -> Ints:
        """For every space the entity named most often over its neutral contexts, or NIL where none is named.

        Ties go to the higher mean score, then to the title that sorts first.
        """
        prior = np.full(len(self.space_names), NIL, dtype=np.int32)
        rows = np.flatnonzero(self.rows("neutral") & self.linked)
        if not len(rows):
            return prior
        pair = self.space[rows].astype(np.int64) << 32 | self.entity[rows]
        unique, inverse, votes = np.unique(pair, return_inverse=True, return_counts=True)
        space, entity = (unique >> 32).astype(np.int32), (unique & 0xFFFFFFFF).astype(np.int32)
        # With the same number of votes, the higher sum has the higher mean.
        total = np.bincount(inverse, weights=np.nan_to_num(self.score[rows], nan=-np.inf, neginf=-np.inf))
        # Equal scores must stay equal whatever the order in which they were added up.
        order = np.lexsort((self._title_order[entity], -np.round(total, 9), -votes, space))
        space, entity = space[order], entity[order]
        firsts = np.flatnonzero(np.diff(space, prepend=-1))
        prior[space[firsts]] = entity[firsts]
        return prior

    @cached_property
    def _title_order(self) -> Ints:
        order = np.empty(len(self.names), dtype=np.int32)
        order[np.argsort(np.array(self.names, dtype=object), kind="stable")] = np.arange(len(self.names))
        return order


def _digest_redirects(redirects: Mapping[str, str]) -> str:
    """A digest that differs between redirect tables."""
    lines = "".join(f"{old}\t{new}\n" for old, new in sorted(redirects.items()))
    return hashlib.sha256(lines.encode()).hexdigest()
