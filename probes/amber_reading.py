"""AmbER sets, end to end: does a reader answer queries about the less popular namesake as well?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shadowprobe import Findings, InputError
from shadowprobe.measure.answer_matching import score_exactly, score_words
from shadowprobe.measure.query_probes import ReadingProbe
from shadowprobe.measure.statistics import decide, describe_gap, describe_mean, describe_share
from shadowprobe.queries.amber_sets import AmberQuery, AmberSet, Part, read_amber_sets
from shadowprobe.queries.query import ReaderAnswer, ReaderQuery

# What the claims of fact checking are, in the words of the release.
LABELS = ("SUPPORTS", "REFUTES")
FACT_CHECKING, QUESTIONS = "fc", "qa"
GROUPS = ("head", "tail")
Row = dict[str, Any]


class AmberReadingProbe(ReadingProbe):
    """Are queries about the less popular namesake answered as well? Accuracy, F1 and exact match, head and tail.

    Of each collection and task, as in Table 7: `score`, which is the accuracy for fact checking (`fc`) and the F1 over
    words for slots and questions (`sf`, `qa`), for `all` queries, those about the `head` and those about the `tail`;
    `exact_match`, by SQuAD's rule; `gap`, the score of head minus tail with a bootstrap over sets; `verdict`, which of
    the two is answered better: `head`, `tail` or `undecided`; `found`, the share of the queries with a right document
    among those that the reader was given. The best of several right answers counts; a query without an answer is wrong.
    """

    name = "amber_reading"
    needs = "a reader: `read --probe amber_reading`"
    folder = "amber"

    def load(self, path: Path) -> None:
        """Reads the sets; refuses queries without a right answer."""
        self.parts: dict[Part, list[AmberSet]] = read_amber_sets(path)
        for (_, task), sets in self.parts.items():
            for amber_set in sets:
                for _, query in amber_set.queries():
                    _check_answers(path, task, query)

    def keep(self, tasks: Collection[str], limit: int | None) -> None:
        """Keeps the parts of some tasks, and of each its first sets."""
        kept = {part: sets for part, sets in self.parts.items() if (part[1] or QUESTIONS) in tasks}
        self.parts = {part: sets[:limit] for part, sets in kept.items()}

    def queries(self) -> Iterator[ReaderQuery]:
        """Every query with its answers and documents; one of an unknown task is a question."""
        for (_, task), sets in self.parts.items():
            for amber_set in sets:
                for _, query in amber_set.queries():
                    yield ReaderQuery(
                        query.id,
                        query.input,
                        amber_set.name,
                        task=task or QUESTIONS,
                        labels=LABELS if task == FACT_CHECKING else (),
                        answers=query.answers,
                        gold=query.gold,
                    )

    def rows(self, answers: Mapping[str, ReaderAnswer]) -> Iterator[Row]:
        """The answer to each query and its scores; `set` is the number of the set within its collection and task."""
        for (collection, task), sets in self.parts.items():
            for number, amber_set in enumerate(sets):
                for entity in amber_set.qids.values():
                    for query in entity.queries:
                        given = answers.get(query.id)
                        yield {
                            "id": query.id,
                            "set": number,
                            "collection": collection or "sets",
                            "task": task or "queries",
                            "group": "head" if entity.is_head else "tail",
                            "answer": given.answer if given is not None else None,
                            "found": given.found if given is not None else None,
                            **_score(given, query, task),
                        }

    def measure(self, answers: Mapping[str, ReaderAnswer]) -> Findings:
        """The figures of each collection and task, under `human` and `nonhuman` where the files say which."""
        by_part: dict[Part, list[Row]] = {}
        for row in self.rows(answers):
            by_part.setdefault((row["collection"], row["task"]), []).append(row)
        findings: Findings = {}
        for (collection, task), sets in self.parts.items():
            rows = by_part[collection or "sets", task or "queries"]
            findings.setdefault(collection or "sets", {})[task or "queries"] = {
                "sets": len(sets),
                "entities": sum(len(one.qids) for one in sets),
                "metric": "accuracy" if task == FACT_CHECKING else "f1",
                **self._measure_part(rows, is_rate=task == FACT_CHECKING),
            }
        return findings

    def _measure_part(self, rows: Sequence[Row], *, is_rate: bool) -> dict[str, Any]:
        groups = {"all": rows, **{name: [row for row in rows if row["group"] == name] for name in GROUPS}}
        gap = describe_gap(_sum_by_set(rows), self.rounds, self.seed)
        return {
            "queries": {name: len(group) for name, group in groups.items()},
            "score": {name: self._describe_score(group, is_rate=is_rate) for name, group in groups.items()},
            "exact_match": {name: describe_share([row["exact"] for row in group]) for name, group in groups.items()},
            "gap": gap,
            "verdict": decide(gap["ci95"], above="head", below="tail") if gap is not None else None,
            "found": {name: _describe_found(group) for name, group in groups.items()},
        }

    def _describe_score(self, rows: Sequence[Row], *, is_rate: bool) -> dict[str, Any] | None:
        if is_rate:
            return describe_share([row["exact"] for row in rows])
        return describe_mean([row["score"] for row in rows], [row["set"] for row in rows], self.rounds, self.seed)


def _check_answers(path: Path, task: str, query: AmberQuery) -> None:
    answers = query.answers
    if not any(answer.strip() for answer in answers):
        raise InputError(path, f"the query {query.id!r} has no right answer, and a reader cannot be scored by it")
    if task == FACT_CHECKING and (other := next((one for one in answers if one not in LABELS), None)) is not None:
        wanted = " or ".join(LABELS)
        raise InputError(path, f"the query {query.id!r} has the answer {other!r}; that of a claim is {wanted}")


def _score(given: ReaderAnswer | None, query: AmberQuery, task: str) -> Row:
    """The score of an answer, and whether it is exactly right; of a label the two are the same."""
    if given is None:
        return {"score": 0.0, "exact": False}
    answers = query.answers
    exact = score_exactly(given.answer, answers)
    return {"score": float(exact) if task == FACT_CHECKING else score_words(given.answer, answers), "exact": exact}


def _sum_by_set(rows: Sequence[Row]) -> list[list[float]]:
    """Of each set the sum of the scores and their number, for its head and for its tail."""
    sums: dict[int, dict[str, list[float]]] = {}
    for row in rows:
        sums.setdefault(row["set"], {name: [] for name in GROUPS})[row["group"]].append(row["score"])
    return [[number for name in GROUPS for number in (sum(one[name]), len(one[name]))] for one in sums.values()]


def _describe_found(rows: Sequence[Row]) -> dict[str, Any] | None:
    """The share of the queries with a right document; None if the answers do not say it."""
    known = [row["found"] for row in rows if row["found"] is not None]
    return describe_share(known)
