"""EntityQuestions: are simple questions about rare entities found an answer?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shadowprobe import Findings
from shadowprobe.retrieval.entity_questions import Question, equal_buckets, read_questions, relations
from shadowprobe.retrieval.model import Query
from shadowprobe.retrieval.probe import RankingProbe
from shadowprobe.retrieval.rankings import Rankings
from shadowprobe.retrieval.words import dpr_words, holds_any
from shadowprobe.statistics import wilson


class EntityQuestionsProbe(RankingProbe):
    """Does it find the answer to a simple question about an entity, however rare? By relation, and by frequency.

    A question is answered at k where one of the first k documents holds an answer: its words, uncased, side by side in
    the title or text. `relations`: the accuracy of each relation at each k. `macro`: the mean over the relations.
    `micro`: over all questions. `buckets`: by the frequency of the subject, in up to eight buckets of about equal
    cumulative frequency (Fig. 1), where the questions say it. A question without a ranking is not answered.
    """

    name = "entity_questions"
    needs = "a retriever: `retrieve --probe entity_questions`"
    folder = "entity_questions"

    def load(self, path: Path) -> None:
        """Reads the questions."""
        self.questions: dict[str, list[Question]] = read_questions(path)

    def queries(self) -> Iterator[Query]:
        """Every question, numbered within its relation."""
        for query_id, _, question in self._numbered():
            yield Query(query_id, question.question, question.subject)

    def _numbered(self) -> Iterator[tuple[str, str, Question]]:
        for relation, questions in self.questions.items():
            for number, question in enumerate(questions):
                yield f"{relation}-{number}", relation, question

    def measure(self, rankings: Rankings) -> Findings:
        """The accuracies."""
        ranks = self._ranks(rankings)
        by_relation: dict[str, list[int | None]] = {}
        for query_id, relation, _ in self._numbered():
            by_relation.setdefault(relation, []).append(ranks[query_id])
        everything = list(ranks.values())
        return {
            "questions": len(ranks),
            "relations": {
                relation: {"question": self._wording(relation), **_accuracies(found, rankings.ks)}
                for relation, found in by_relation.items()
            },
            "macro": {
                str(k): sum(_share(found, k) for found in by_relation.values()) / len(by_relation) for k in rankings.ks
            },
            "micro": _accuracies(everything, rankings.ks),
            "buckets": self._buckets(ranks, rankings.ks),
        }

    @staticmethod
    def _wording(relation: str) -> str | None:
        known = relations().get(relation)
        return known.question if known is not None else None

    def _ranks(self, rankings: Rankings) -> dict[str, int | None]:
        """The place of the first document that holds an answer, by question."""
        answers = {i: [dpr_words(answer) for answer in question.answers] for i, _, question in self._numbered()}
        deepest = max(rankings.ks)
        places: dict[str, list[tuple[str, int]]] = {}
        for query_id in answers:
            for place, found in enumerate(rankings.passages(query_id)[:deepest], start=1):
                places.setdefault(found, []).append((query_id, place))
        ranks: dict[str, int | None] = dict.fromkeys(answers)
        # One document after the other: all that were found may be more than memory holds.
        for document in rankings.collection.documents():
            if document.id not in places:
                continue
            words = dpr_words(f"{document.title} {document.text}")
            for query_id, place in places[document.id]:
                if place < (ranks[query_id] or deepest + 1) and holds_any(words, answers[query_id]):
                    ranks[query_id] = place
        return ranks

    def _buckets(self, ranks: dict[str, int | None], ks: Sequence[int]) -> list[dict[str, Any]] | None:
        """The accuracies by how frequent the subjects are; None where nothing says it."""
        told = [(ranks[i], q) for i, _, q in self._numbered() if q.bucket is not None or q.frequency is not None]
        if not told:
            return None
        by_frequency = iter(equal_buckets([q.frequency or 0 for _, q in told if q.bucket is None]))
        placed: dict[int, list[tuple[int | None, Question]]] = {}
        for rank, question in told:
            bucket = question.bucket if question.bucket is not None else next(by_frequency)
            placed.setdefault(bucket, []).append((rank, question))
        rows = []
        for bucket, members in sorted(placed.items()):
            known = [question.frequency for _, question in members if question.frequency is not None]
            rows.append(
                {
                    "bucket": bucket,
                    "lowest_frequency": min(known, default=None),
                    "highest_frequency": max(known, default=None),
                    **_accuracies([rank for rank, _ in members], ks),
                }
            )
        return rows


def _share(ranks: Sequence[int | None], k: int) -> float:
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def _accuracies(ranks: Sequence[int | None], ks: Sequence[int]) -> dict[str, Any]:
    """The share of the questions that are answered at each k, with its interval."""
    n = len(ranks)
    rates = {str(k): _share(ranks, k) for k in ks}
    return {
        "n": n,
        "accuracy": rates,
        "accuracy_ci95": {k: list(wilson(round(rate * n), n)) for k, rate in rates.items()},
    }
