"""Answers in columns: what each names, and its candidates with their scores."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shadowprobe.base.identity import Resolution, Resolver, is_nil, is_unknown_uri
from shadowprobe.base.model import Candidate, Prediction

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

# Codes in the entity column beside the numbers of entities. MISSING is an answer that failed or was never given.
NIL, SKIPPED, MISSING = -1, -2, -3
# Sums of larger scores overflow; some systems write the lowest possible number for "no score".
LARGEST_SCORE = 1e100


class Candidates(NamedTuple):
    """The candidates that have a score, row after row and in each row as the linker ranked them.

    An entity that a linker lists twice stands here once, with its best score.
    """

    row: Ints
    entity: Ints
    score: Floats


class AnswerColumns:
    """Answers in columns: what each names, and its candidates with their scores. Knows no gold.

    `space` is the number of each row's name among `space_names`, and `is_neutral` says which rows are neutral contexts.
    """

    gerbil_nil = False

    def __init__(
        self,
        resolver: Resolver,
        titles: Iterable[str],
        space_names: Iterable[str],
        space: Ints,
        is_neutral: Booleans,
    ) -> None:
        self.resolver, self.space, self.is_neutral = resolver, space, is_neutral
        self.names: list[str] = list(titles)
        self._code: dict[str, int] = {title: code for code, title in enumerate(self.names)}
        self.space_names = list(space_names)
        rows = len(space)
        self.entity: Ints = np.full(rows, MISSING, dtype=np.int32)
        self.score: Floats = np.full(rows, np.nan)
        self.suspicion: Floats = np.full(rows, np.nan)
        self.candidate_count: Ints = np.zeros(rows, dtype=np.int32)
        self._candidate_rows, self._candidate_entities, self._candidate_scores = array("i"), array("i"), array("d")

    def __len__(self) -> int:
        return len(self.space)

    def enter(self, prediction: Prediction, row: int) -> None:
        """Adds the prediction of a row."""
        self._enter(prediction, (row,), self._resolve(prediction), list(self._candidate_titles(prediction)))

    def _resolve(self, prediction: Prediction) -> Resolution | None:
        """The entity that an answer means; None where it names no entity."""
        if prediction.status != "linked" or (prediction.answer is not None and is_nil(prediction.answer)):
            return None
        resolution = self.resolver.resolve(prediction.answer, prediction.page_id, prediction.qid)
        is_outside = self.gerbil_nil and resolution.rule == "unresolved" and is_unknown_uri(resolution.entity)
        return None if is_outside else resolution

    def _candidate_titles(self, prediction: Prediction) -> Iterator[str]:
        return (resolve_candidate(self.resolver, candidate).entity for candidate in prediction.candidates)

    def _enter(
        self, prediction: Prediction, rows: Sequence[int], resolution: Resolution | None, titles: Sequence[str]
    ) -> None:
        if resolution is None:
            code = SKIPPED if prediction.status == "skipped" else NIL
        else:
            code = self.code_of(resolution.entity)
        scores = self._code_scores(prediction.candidates, titles)
        for row in rows:
            self.entity[row] = code
            if prediction.score is not None:
                self.score[row] = _limit(prediction.score)
            if prediction.suspicion is not None:
                self.suspicion[row] = _limit(prediction.suspicion)
            if titles:
                self.candidate_count[row] = len(titles)
                self._candidate_rows.extend([row] * len(scores))
                self._candidate_entities.extend(scores)
                self._candidate_scores.extend(scores.values())

    def _code_scores(self, candidates: Sequence[Candidate], titles: Sequence[str]) -> dict[int, float]:
        """The best score of each candidate that has one, by its code."""
        scores: dict[int, float] = {}
        for candidate, title in zip(candidates, titles, strict=True):
            if candidate.score is not None:
                code, score = self.code_of(title), candidate.score
                scores[code] = max(score, scores.get(code, score))
        return scores

    def code_of(self, title: str) -> int:
        """The number of an entity; a new one for a title that is not known yet."""
        code = self._code.get(title)
        if code is None:
            code = self._code[title] = len(self.names)
            self.names.append(title)
        return code

    @cached_property
    def candidates(self) -> Candidates:
        """The candidates with a score, in columns."""
        row: Ints = np.array(self._candidate_rows, dtype=np.int32)
        entity: Ints = np.array(self._candidate_entities, dtype=np.int32)
        order = np.argsort(row, kind="stable")
        scores = np.clip(self._candidate_scores, -LARGEST_SCORE, LARGEST_SCORE)
        return Candidates(row[order], entity[order], scores[order])


def _limit(score: float) -> float:
    return min(max(score, -LARGEST_SCORE), LARGEST_SCORE)


def resolve_candidate(resolver: Resolver, candidate: Candidate) -> Resolution:
    """The entity that a candidate means."""
    return resolver.resolve(candidate.answer, candidate.page_id, candidate.qid)
