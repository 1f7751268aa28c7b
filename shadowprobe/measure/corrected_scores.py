"""The scores of candidates with a part of the prior subtracted, and the answers that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Self

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from shadowprobe.base.identity import Resolver
from shadowprobe.base.model import Candidate, Prediction
from shadowprobe.measure.answer_columns import Booleans, Floats, Ints, resolve_candidate
from shadowprobe.measure.candidate_scores import TIE, CandidateScores, Lists, measure_contrast


class CorrectedScores:
    """The rows that a correction can change, and their answers for any weight."""

    def __init__(self, scores: CandidateScores) -> None:
        self.scores = scores
        self._choose_rows(scores.can_change)

    def limit(self, rows: Booleans) -> Self:
        """The same correction of some rows alone."""
        other = copy(self)
        other._choose_rows(self.scores.can_change & rows)
        return other

    def _choose_rows(self, rows: Booleans) -> None:
        """Takes the candidates of the rows that are corrected."""
        kept = rows[self.scores.lists.row_of]
        self.entity: Ints = self.scores.entity[kept]
        self.value, self.prior, self.score = (
            column[kept] for column in (self.scores.value, self.scores.prior, self.scores.score)
        )
        self.lists = Lists(self.scores.lists.row_of[kept])
        self._answer = np.flatnonzero(self.scores.is_answer[kept])
        self._space = self.scores.answers.space[self.lists.rows]

    def correct(self, weight_of_space: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
        """The corrected value of every candidate, and for every list the place of the best one.

        There is a weight for each name. Among equals the answer stays; then the linker's own order decides.
        """
        corrected = self.value - self.lists.spread(weight_of_space[self._space]) * self.prior
        is_best = corrected >= self.lists.spread(np.maximum.reduceat(corrected, self.lists.starts)) - TIE
        places = np.flatnonzero(is_best)
        best = self._answer.copy()
        # Written from the back, so that the first of equals is the one that stays.
        best[self.lists.number[places[::-1]]] = places[::-1]
        stays = is_best[self._answer]
        best[stays] = self._answer[stays]
        return corrected, best

    def rescale(self, corrected: Floats) -> Floats:
        """Corrected values on the scale of the linker: the probabilities of a list add up to what they did before."""
        kind, spread = self.scores.scale
        if kind == "log":
            return corrected
        if kind == "other":
            return self.score - (self.value - corrected) * spread
        chances = np.exp(corrected - self.lists.spread(np.maximum.reduceat(corrected, self.lists.starts)))
        before, after = (np.add.reduceat(column, self.lists.starts) for column in (self.score, chances))
        return chances * self.lists.spread(before / after)

    def correct_predictions(
        self, predictions: Iterable[tuple[int | None, Prediction]], weight_of_space: Floats
    ) -> Iterator[Prediction]:
        """Predictions with corrected scores and their suspicion, best candidate first; each comes with its row.

        A prediction that the correction cannot change stays as it is, and so does one without a row.
        """
        answers, lists = self.scores.answers, self.lists
        number_of = {row: number for number, row in enumerate(lists.rows.tolist())}
        if number_of:
            corrected, best = self.correct(weight_of_space)
            scores = self.rescale(corrected)
            suspicion = measure_contrast(self.value - self.prior, lists, best).tolist()
        starts, ends = lists.starts.tolist(), (lists.starts + lists.sizes).tolist()
        for row, prediction in predictions:
            number = number_of.get(row) if row is not None else None
            if number is None:
                yield prediction
                continue
            places = slice(starts[number], ends[number])
            titles = [answers.names[code] for code in self.entity[places].tolist()]
            new = dict(zip(titles, scores[places].tolist(), strict=True))
            chosen = answers.names[self.entity[best[number]]]
            yield replace(_rank(answers.resolver, prediction, new, chosen), suspicion=suspicion[number])


def _rank(resolver: Resolver, prediction: Prediction, scores: dict[str, float], chosen: str) -> Prediction:
    """A prediction with other scores and the chosen entity as its answer."""
    given = [resolve_candidate(resolver, candidate).entity for candidate in prediction.candidates]
    candidates = [
        replace(candidate, entity=title, score=scores[title] if candidate.score is not None else None)
        for candidate, title in zip(prediction.candidates, given, strict=True)
    ]

    def order(candidate: Candidate) -> tuple[bool, bool, float]:
        is_unscored = candidate.score is None
        return is_unscored or candidate.entity != chosen, is_unscored, -(candidate.score or 0.0)

    ranked = tuple(sorted(candidates, key=order))
    first = ranked[0]
    return replace(
        prediction,
        answer=first.answer,
        page_id=first.page_id,
        qid=first.qid,
        entity=first.entity,
        score=first.score,
        candidates=ranked,
    )
