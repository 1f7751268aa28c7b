"""The predictions of one run set against the gold, in columns: what every probe reads."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shadowprobe.dataset import GOLD_SUBSETS, SUBSETS, Dataset
from shadowprobe.errors import InputError
from shadowprobe.identity import RULES, Resolution, Resolver, is_nil
from shadowprobe.jsonl import read_lines
from shadowprobe.model import Candidate, Prediction, Subset
from shadowprobe.statistics import ROUNDS, SEED

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

# Codes in the entity column beside the numbers of entities. MISSING is an answer that failed or was never given.
NIL, SKIPPED, MISSING = -1, -2, -3
NO_GOLD = -1
# Codes in the gold_rank column beside the ranks 1, 2, ...
NO_CANDIDATES, NOT_A_CANDIDATE = 0, -1


class Pairs(NamedTuple):
    """Row numbers of the Top and the Shadow snippet of each space that has both, one pair a space."""

    space: Ints
    top: Ints
    shadow: Ints

    def __len__(self) -> int:
        return len(self.space)


class Answers:
    """One row a snippet: its subset, space and gold, and what the linker answered."""

    def __init__(
        self,
        dataset: Dataset,
        redirects: Mapping[str, str] | None = None,
        *,
        gerbil_threshold: bool = False,
        rounds: int = ROUNDS,
        seed: int = SEED,
    ) -> None:
        self.dataset, self._redirects = dataset, redirects
        self.gerbil_threshold, self.rounds, self.seed = gerbil_threshold, rounds, seed
        self.redirects_digest = _digest(redirects) if redirects else None
        self.resolver = Resolver(dataset.entities.values(), language=dataset.card.language, redirects=redirects)
        self.names: list[str] = list(dataset.entities)
        self._code: dict[str, int] = {title: code for code, title in enumerate(self.names)}
        self.space_names = list(dataset.spaces)
        self._index_snippets()
        rows = len(self.row)
        self.entity: Ints = np.full(rows, MISSING, dtype=np.int32)
        self.score: Floats = np.full(rows, np.nan)
        self.gold_rank: Ints = np.full(rows, NO_CANDIDATES, dtype=np.int32)
        self.candidate_count: Ints = np.zeros(rows, dtype=np.int32)
        self.rules: Counter[str] = Counter(dict.fromkeys(RULES, 0))
        self.page_id_conflicts = 0

    def _index_snippets(self) -> None:
        """Gives every snippet a row; texts are not kept."""
        space_code = {name: code for code, name in enumerate(self.space_names)}
        total = self.dataset.count()
        self.row: dict[str, int] = {}
        self.subset: npt.NDArray[np.int8] = np.empty(total, dtype=np.int8)
        self.space: Ints = np.full(total, -1, dtype=np.int32)
        self.gold: Ints = np.full(total, NO_GOLD, dtype=np.int32)
        for number, snippet in enumerate(self.dataset.snippets()):
            self.row[snippet.id] = number
            self.subset[number] = SUBSETS.index(snippet.subset)
            if snippet.space is not None:
                self.space[number] = space_code[snippet.space]
            if snippet.gold is not None:
                self.gold[number] = self._code[snippet.gold]

    def __len__(self) -> int:
        return len(self.row)

    def emptied(self) -> Answers:
        """The same table without a single answer, for other answers to the same snippets."""
        return Answers(
            self.dataset,
            self._redirects,
            gerbil_threshold=self.gerbil_threshold,
            rounds=self.rounds,
            seed=self.seed,
        )

    def read(self, path: Path, *, partial: bool = False) -> Answers:
        """Takes in a predictions file; an id that the dataset lacks is an error unless only a part was asked for."""
        for line, prediction in read_lines(path, Prediction):
            number = self.row.get(prediction.id)
            if number is None:
                if partial:
                    continue
                raise InputError(
                    path,
                    f"{prediction.id!r} is no snippet of the dataset `{self.dataset.name}`",
                    line=line,
                    field="id",
                )
            problem = fault(prediction)
            if problem is None and self.entity[number] != MISSING:
                problem = "id", f"{prediction.id!r} is answered twice"
            if problem is not None:
                raise InputError(path, problem[1], line=line, field=problem[0])
            self._put(number, prediction)
        return self

    def fill(self, predictions: Iterable[Prediction]) -> Answers:
        """Takes in predictions."""
        for prediction in predictions:
            self._put(self.row[prediction.id], prediction)
        return self

    def _put(self, number: int, prediction: Prediction) -> None:
        if prediction.score is not None:
            self.score[number] = prediction.score
        self.entity[number] = self._entity(prediction)
        if prediction.candidates:
            self.candidate_count[number] = len(prediction.candidates)
            self.gold_rank[number] = self._rank_of_gold(number, prediction.candidates)

    def _entity(self, prediction: Prediction) -> int:
        if prediction.status == "skipped":
            return SKIPPED
        if prediction.status == "nil" or (prediction.answer is not None and is_nil(prediction.answer)):
            return NIL
        resolution = self.resolver.resolve(prediction.answer, prediction.page_id, prediction.qid)
        self.rules[resolution.rule] += 1
        self.page_id_conflicts += resolution.conflict
        code = self._code.get(resolution.entity)
        if code is None:
            code = self._code[resolution.entity] = len(self.names)
            self.names.append(resolution.entity)
        return code

    def _rank_of_gold(self, number: int, candidates: Iterable[Candidate]) -> int:
        if self.gold[number] == NO_GOLD:
            return NO_CANDIDATES
        gold = self.names[self.gold[number]]
        for rank, candidate in enumerate(candidates, start=1):
            if resolve_candidate(self.resolver, candidate).entity == gold:
                return rank
        return NOT_A_CANDIDATE

    @cached_property
    def correct(self) -> Booleans:
        """True where the answer is the gold entity."""
        correct: Booleans = (self.gold != NO_GOLD) & (self.entity == self.gold)
        return correct

    @cached_property
    def linked(self) -> Booleans:
        """True where the answer is an entity."""
        return self.entity >= 0

    def rows(self, *subsets: Subset) -> Booleans:
        """True for the rows of the named subsets."""
        return np.isin(self.subset, [SUBSETS.index(subset) for subset in subsets])

    def scored(self, *subsets: Subset) -> Booleans:
        """True for the rows of the named subsets that have a gold entity."""
        scored: Booleans = self.rows(*subsets) & (self.gold != NO_GOLD)
        return scored

    def gold_subsets(self) -> Iterator[tuple[Subset, Booleans]]:
        """Each subset that has gold answers, with its rows."""
        for subset in GOLD_SUBSETS:
            rows = self.scored(subset)
            if rows.any():
                yield subset, rows

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
        score = np.nan_to_num(self.score[rows], nan=-np.inf, neginf=-np.inf)
        with np.errstate(invalid="ignore"):
            mean = np.bincount(inverse, weights=score) / votes
        # Equal scores must stay equal whatever the order in which they were added up.
        order = np.lexsort((self._title_order[entity], -np.round(mean, 9), -votes, space))
        space, entity = space[order], entity[order]
        firsts = np.flatnonzero(np.diff(space, prepend=-1))
        prior[space[firsts]] = entity[firsts]
        return prior

    @cached_property
    def _title_order(self) -> Ints:
        order = np.empty(len(self.names), dtype=np.int32)
        order[np.argsort(np.array(self.names, dtype=object), kind="stable")] = np.arange(len(self.names))
        return order


def fault(prediction: Prediction) -> tuple[str, str] | None:
    """The field and the problem of a prediction that cannot be, or None."""
    named = prediction.answer is not None or prediction.page_id is not None or prediction.qid is not None
    if prediction.status == "linked" and not named:
        return "answer", "is missing: give an entity, or a status of nil or skipped"
    if prediction.status != "linked" and named:
        return "status", f"is {prediction.status}, and there is an answer too"
    if prediction.answer is not None and not prediction.answer.strip():
        return "answer", "is empty: give an entity, or a status of nil or skipped"
    for number, candidate in enumerate(prediction.candidates):
        if not candidate.answer and candidate.page_id is None and candidate.qid is None:
            return f"candidates[{number}]", "names no entity: give its answer, page_id or qid"
    return None


def _digest(redirects: Mapping[str, str]) -> str:
    """What tells one redirect table from another."""
    lines = "".join(f"{old}\t{new}\n" for old, new in sorted(redirects.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def resolve_candidate(resolver: Resolver, candidate: Candidate) -> Resolution:
    """The entity that a candidate means."""
    return resolver.resolve(candidate.answer, candidate.page_id, candidate.qid)
