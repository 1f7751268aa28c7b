"""EntityQuestions, end to end: does a reader answer simple questions from the documents of a retriever?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shadowprobe import Findings
from shadowprobe.measure.answer_matching import score_exactly, score_words
from shadowprobe.measure.query_probes import ReadingProbe
from shadowprobe.measure.statistics import describe_mean, describe_share
from shadowprobe.queries.query import ReaderAnswer, ReaderQuery
from shadowprobe.queries.question_files import Question, number_questions, read_questions, word_relation

QUESTIONS = "qa"
Row = dict[str, Any]


class EntityQuestionsReadingProbe(ReadingProbe):
    """Are simple questions about an entity answered, from what a retriever found? By relation.

    `exact_match`: the share of the questions whose answer is one of the right ones, aliases included, by SQuAD's rule.
    `f1`: over words, against the best of them. `relations`: of each relation; `macro`: the mean of the exact matches
    over the relations; `micro`: over all questions. `lost`, of all questions: `by_retriever`, where the answer is wrong
    and no document that the reader was given has a right one; `by_reader`, where the answer is wrong and one has. A
    question without an answer is wrong.
    """

    name = "entity_questions_reading"
    needs = "a reader and a run of a retriever: `read --probe entity_questions_reading`"
    folder = "entity_questions"
    has_gold = False

    def load(self, path: Path) -> None:
        """Reads the questions."""
        self.questions: dict[str, list[Question]] = read_questions(path)

    def keep(self, tasks: Collection[str], limit: int | None) -> None:
        """Keeps the first questions of each relation."""
        kept = self.questions if QUESTIONS in tasks else {}
        self.questions = {relation: questions[:limit] for relation, questions in kept.items()}

    def queries(self) -> Iterator[ReaderQuery]:
        """Every question with its answers."""
        for query_id, _, question in number_questions(self.questions):
            yield ReaderQuery(query_id, question.question, question.subject, task=QUESTIONS, answers=question.answers)

    def rows(self, answers: Mapping[str, ReaderAnswer]) -> Iterator[Row]:
        """The relation of each question, its answer and the scores."""
        for query_id, relation, question in number_questions(self.questions):
            given = answers.get(query_id)
            yield {
                "id": query_id,
                "relation": relation,
                "answer": given.answer if given is not None else None,
                "found": given.found if given is not None else None,
                "score": score_words(given.answer, question.answers) if given is not None else 0.0,
                "exact": given is not None and score_exactly(given.answer, question.answers),
            }

    def measure(self, answers: Mapping[str, ReaderAnswer]) -> Findings:
        """The figures of all questions, and of each relation."""
        rows = list(self.rows(answers))
        by_relation: dict[str, list[Row]] = {}
        for row in rows:
            by_relation.setdefault(row["relation"], []).append(row)
        shares = {relation: describe_share([row["exact"] for row in found]) for relation, found in by_relation.items()}
        return {
            "questions": len(rows),
            "relations": {
                relation: {"question": word_relation(relation), **self._describe(found)}
                for relation, found in by_relation.items()
            },
            "macro": sum(share["rate"] for share in shares.values() if share) / len(shares) if shares else None,
            "micro": self._describe(rows),
            "lost": _split_losses(rows),
        }

    def _describe(self, rows: Sequence[Row]) -> dict[str, Any]:
        # No two questions depend on each other.
        f1 = describe_mean([row["score"] for row in rows], range(len(rows)), self.rounds, self.seed)
        return {"exact_match": describe_share([row["exact"] for row in rows]), "f1": f1}


def _split_losses(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Who lost the questions that are wrong; None if the answers do not say what was found."""
    known = [row for row in rows if row["found"] is not None]
    if not known:
        return None
    return {
        "by_retriever": describe_share([not row["exact"] and not row["found"] for row in known]),
        "by_reader": describe_share([not row["exact"] and row["found"] for row in known]),
    }
