"""EntityQuestions: does a retriever find the answers to simple questions about rare entities?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe import Findings
from shadowprobe.measure.answer_matching import dpr_words, holds_any
from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.measure.rankings import Rankings
from shadowprobe.measure.statistics import describe_gap, wilson
from shadowprobe.queries.query import Query
from shadowprobe.queries.question_files import Question, equal_buckets, number_questions, read_questions, word_relation

if TYPE_CHECKING:
    from shadowprobe.measure.seen_entities import SeenEntities

# Whether a subject was seen in training.
SEEN, UNSEEN = "seen", "unseen"


class EntityQuestionsProbe(RankingProbe):
    """Does it find the answer to a simple question about an entity, however rare? By relation, and by frequency.

    A question is answered at k where one of the first k documents holds an answer: its words, uncased, side by side in
    the title or text, or in the text alone (`--text-only`, the default of the released code). `relations`: the accuracy
    of each relation at each k. `macro`: the mean over the relations. `micro`: over all questions. `buckets`: by the
    frequency of the subject, in up to eight buckets of about equal cumulative frequency (Fig. 1), where the questions
    say it. `seen` (`--seen FILE`): apart for subjects that the retriever has seen in training and for the others, with
    the difference, and so in each bucket. A question without a ranking is not answered.
    """

    name = "entity_questions"
    needs = "a retriever: `retrieve --probe entity_questions`"
    folder = "entity_questions"

    def load(self, path: Path) -> None:
        """Reads the questions."""
        self.questions: dict[str, list[Question]] = read_questions(path)

    def queries(self) -> Iterator[Query]:
        """Every question, numbered within its relation."""
        for query_id, _, question in number_questions(self.questions):
            yield Query(query_id, question.question, question.subject)

    def rows(self, rankings: Rankings) -> Iterator[dict[str, Any]]:
        """The relation of each question, and the rank of the first passage that holds an answer, or None."""
        ranks = self._ranks(rankings)
        for query_id, relation, _ in number_questions(self.questions):
            yield {"id": query_id, "relation": relation, "rank": ranks[query_id]}

    def _list_groups(self, seen: SeenEntities | None) -> list[str | None]:
        """For each question whether its subject was seen in training; None where that is not known."""
        numbered = list(number_questions(self.questions))
        if seen is None:
            return [None] * len(numbered)
        from shadowprobe.queries.question_patterns import find_subject

        subjects = [find_subject(relation, question) for _, relation, question in numbered]
        return [None if subject is None else SEEN if subject in seen else UNSEEN for subject in subjects]

    def measure(self, rankings: Rankings) -> Findings:
        """The accuracies."""
        rows = list(self.rows(rankings))
        by_relation: dict[str, list[int | None]] = {}
        for row in rows:
            by_relation.setdefault(row["relation"], []).append(row["rank"])
        ranks = [row["rank"] for row in rows]
        groups = self._list_groups(rankings.seen)
        return {
            "questions": len(ranks),
            "relations": {
                relation: {"question": word_relation(relation), **_accuracies(of_relation, rankings.ks)}
                for relation, of_relation in by_relation.items()
            },
            "macro": {
                str(k): sum(_share(of_relation, k) for of_relation in by_relation.values()) / len(by_relation)
                for k in rankings.ks
            },
            "micro": _accuracies(ranks, rankings.ks),
            "buckets": self._buckets(ranks, groups, rankings),
            **({"seen": _compare_seen(ranks, groups, rankings)} if rankings.seen is not None else {}),
        }

    def _ranks(self, rankings: Rankings) -> dict[str, int | None]:
        """The rank of the first passage that holds an answer, by question."""
        numbered = number_questions(self.questions)
        answers = {i: [dpr_words(answer) for answer in question.answers] for i, _, question in numbered}
        deepest = max(rankings.ks)
        found_at: dict[str, list[tuple[str, int]]] = {}
        for query_id in answers:
            for rank, passage in enumerate(rankings.passages(query_id)[:deepest], start=1):
                found_at.setdefault(passage, []).append((query_id, rank))
        ranks: dict[str, int | None] = dict.fromkeys(answers)
        # One document at a time: all of them may need more memory than there is.
        for document in rankings.collection.documents():
            if document.id not in found_at:
                continue
            words = dpr_words(document.text if rankings.text_only else f"{document.title} {document.text}")
            for query_id, rank in found_at[document.id]:
                best = ranks[query_id]
                if (best is None or rank < best) and holds_any(words, answers[query_id]):
                    ranks[query_id] = rank
        return ranks

    def _buckets(
        self, ranks: Sequence[int | None], groups: Sequence[str | None], rankings: Rankings
    ) -> list[dict[str, Any]] | None:
        """The accuracies by how frequent the subjects are; None where the questions do not say it."""
        known = [
            Member(rank, group, question)
            for rank, group, (_, _, question) in zip(ranks, groups, number_questions(self.questions), strict=True)
            if question.bucket is not None or question.frequency is not None
        ]
        if not known:
            return None
        by_frequency = iter(
            equal_buckets([one.question.frequency or 0 for one in known if one.question.bucket is None])
        )
        buckets: dict[int, list[Member]] = {}
        for one in known:
            bucket = one.question.bucket if one.question.bucket is not None else next(by_frequency)
            buckets.setdefault(bucket, []).append(one)
        return [_describe_bucket(bucket, members, rankings) for bucket, members in sorted(buckets.items())]


class Member(NamedTuple):
    """A question of a bucket: the rank of its answer, whether its subject was seen in training, and itself."""

    rank: int | None
    group: str | None
    question: Question


def _describe_bucket(bucket: int, members: Sequence[Member], rankings: Rankings) -> dict[str, Any]:
    found = {"bucket": bucket, **_frequencies(members), **_accuracies([one.rank for one in members], rankings.ks)}
    if rankings.seen is not None:
        for name in (SEEN, UNSEEN):
            found[name] = _accuracies([one.rank for one in members if one.group == name], rankings.ks)
    return found


def _frequencies(members: Sequence[Member]) -> dict[str, int | None]:
    known = [one.question.frequency for one in members if one.question.frequency is not None]
    return {"lowest_frequency": min(known, default=None), "highest_frequency": max(known, default=None)}


def _compare_seen(ranks: Sequence[int | None], groups: Sequence[str | None], rankings: Rankings) -> dict[str, Any]:
    """The accuracies for subjects that were seen and for the others, and the difference at each k."""
    both = {name: [rank for rank, group in zip(ranks, groups, strict=True) if group == name] for name in (SEEN, UNSEEN)}
    difference = {}
    for k in rankings.ks:
        counts = [[int(_is_hit(rank, k)), 1, 0, 0] for rank in both[SEEN]]
        counts += [[0, 0, int(_is_hit(rank, k)), 1] for rank in both[UNSEEN]]
        difference[str(k)] = describe_gap(counts, rankings.rounds, rankings.seed)
    return {
        **{name: _accuracies(of_group, rankings.ks) for name, of_group in both.items()},
        "difference": difference,
        "unknown": groups.count(None),
    }


def _is_hit(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _share(ranks: Sequence[int | None], k: int) -> float:
    return sum(_is_hit(rank, k) for rank in ranks) / len(ranks)


def _accuracies(ranks: Sequence[int | None], ks: Sequence[int]) -> dict[str, Any]:
    """The share of the questions that are answered at each k, with its interval; None where there is no question."""
    n = len(ranks)
    if not n:
        return {"n": 0, "accuracy": None, "accuracy_ci95": None}
    return {
        "n": n,
        "accuracy": {str(k): _share(ranks, k) for k in ks},
        "accuracy_ci95": {str(k): list(wilson(sum(_is_hit(rank, k) for rank in ranks), n)) for k in ks},
    }
