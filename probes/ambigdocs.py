"""Whether a language model tells documents on namesakes apart: recall and the five kinds of answers of AmbigDocs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from shadowprobe import Findings, not_measured
from shadowprobe.measure.content_words import content_words
from shadowprobe.measure.query_probes import AnswerProbe
from shadowprobe.measure.statistics import bootstrap_counts, describe_rate

if TYPE_CHECKING:
    from shadowprobe.queries.ambigdocs_sets import AmbigDocument, AmbigSet

Category = Literal["complete", "partial", "no_answer", "ambiguous", "merged"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
RECALLS = ("answer_recall", "entity_recall", "entity_answer_recall")
# A longer answer is not repeated whole in the results.
LONGEST_EXAMPLE = 300


class Coverage(NamedTuple):
    """How much of one document an output covers."""

    # R(a, y) and R(DE, y): the shares of the words of its answer, and of those that tell its entity from the others.
    answer: float
    entity: float
    # Its answer is there and its entity is named (c_O), or the answer alone (c_triangle).
    with_entity: bool
    without_entity: bool

    @property
    def is_given(self) -> bool:
        """True where its answer is there, with its entity or without."""
        return self.with_entity or self.without_entity


def recall(wanted: Sequence[str], given: Sequence[str]) -> float:
    """R(x, y), the share of the words of x that y repeats; 0 for no words."""
    return _count_repeated(wanted, given) / len(wanted) if wanted else 0.0


def _count_repeated(wanted: Sequence[str], given: Sequence[str]) -> int:
    """How many words of x are in y; a word that x has twice counts twice if y has it twice."""
    return (Counter(wanted) & Counter(given)).total()


def measure_coverage(document: AmbigDocument, name: str, output: str) -> Coverage:
    """How much of a document an output covers; of several forms of its answer the best one counts."""
    given = content_words(output)
    title = document.title.replace("(", "").replace(")", "")
    common = set(content_words(name))
    distinctive = [word for word in content_words(title) if word not in common]
    # A title that is nothing but the name has no words of its own.
    entity = recall(distinctive, given) if distinctive else float(_stands_in(title, output))
    # One word is enough to name an entity, and to give an answer together with its entity.
    is_named = entity > 0
    forms = [content_words(form) for form in document.answers]
    best = max(recall(form, given) for form in forms)
    is_plain = any(_count_repeated(form, given) >= _count_needed(form) for form in forms)
    return Coverage(best, entity, is_named and best > 0, not is_named and is_plain)


def _count_needed(words: Sequence[str]) -> int:
    """How many words of an answer must be there if its entity is not named: two, or one of a short answer."""
    return 1 if len(words) <= 2 else 2


def _stands_in(title: str, output: str) -> bool:
    return title.lower() in " ".join(output.split()).lower()


def category(coverage: Sequence[Coverage]) -> Category:
    """The kind of an answer, by the table of the poster."""
    with_entity = sum(one.with_entity for one in coverage)
    without_entity = sum(one.without_entity for one in coverage)
    if with_entity == len(coverage):
        return "complete"
    if with_entity == without_entity == 0:
        return "no_answer"
    if without_entity == 0:
        return "partial"
    if with_entity == 0 and without_entity == 1:
        return "ambiguous"
    return "merged"


class AmbigdocsProbe(AnswerProbe):
    """Does it give every namesake its own answer? Entity-Answer Recall and the answer categories of AmbigDocs.

    Means over the sets of the mean over their documents: `answer_recall` R(a, y), `entity_recall` R(DE, y), and
    `entity_answer_recall`, their product document by document. `categories`: the shares of the sets whose answer is
    complete (every answer with its entity), partial (some so, and none without), no answer, ambiguous (one answer,
    without its entity) or merged (anything else). `missing` sets have no answer: their recall is 0, and they are among
    `no_answer`. `by_documents`: the same by how many namesakes there are. `positions`: for each place among the
    documents as the model saw them, how often the answer of the document there is `given`, and how often
    `with_entity`; `first_minus_last` compares the first document of each set with its last one, and its verdict is
    `first` or `last` where McNemar's p is below 0.05. `wordless`: documents whose answer is of stop words alone, which
    no output can give. `examples`: the first answer of each kind that is not complete.
    """

    name = "ambigdocs"
    needs = "a language model: `answer`"

    def rows(self, sets: Sequence[AmbigSet], answers: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """The kind of each answer and its three recalls; a missing answer counts as an empty one."""
        for one in sets:
            coverage = _measure_set(one, answers)
            yield {
                "id": one.id,
                "documents": len(coverage),
                "answered": one.id in answers,
                "category": category(coverage),
                **_recalls(coverage),
            }

    def measure(self, sets: Sequence[AmbigSet], answers: Mapping[str, str]) -> Findings:
        """The rates over all sets, and by the number of their documents."""
        if not sets:
            return not_measured("there are no sets")
        rows = list(self.rows(sets, answers))
        by_size: dict[str, list[dict[str, Any]]] = {"2": [], "3": [], "4+": []}
        for row in rows:
            by_size[str(row["documents"]) if row["documents"] in {2, 3} else "4+"].append(row)
        wordless = sum(
            not any(content_words(form) for form in document.answers) for one in sets for document in one.documents
        )
        return {
            **self._summary(rows),
            "wordless": wordless,
            "by_documents": {size: self._summary(members) for size, members in by_size.items() if members},
            "positions": self._measure_positions(sets, answers),
            "examples": _examples(sets, answers, [row["category"] for row in rows]),
        }

    def _measure_positions(self, sets: Sequence[AmbigSet], answers: Mapping[str, str]) -> Findings:
        """What is given of the document at each place; sets without an answer tell nothing about it."""
        # Retrievers look at this class too, and need none of it.
        from shadowprobe.measure.document_positions import compare_ends, count_positions

        if self.order is None:
            return not_measured("it is not known in which order the model saw the documents: give it with --order")
        shown = [self.order.arrange(one.id, _measure_set(one, answers)) for one in sets if one.id in answers]
        if not shown:
            return not_measured("there are no answers")
        given = [[one.is_given for one in coverage] for coverage in shown]
        return {
            "given": count_positions(given),
            "with_entity": count_positions([[one.with_entity for one in coverage] for coverage in shown]),
            "first_minus_last": compare_ends(given, self.rounds, self.seed),
        }

    def _summary(self, rows: Sequence[dict[str, Any]]) -> Findings:
        n = len(rows)
        values = np.array([[row[name] for name in RECALLS] for row in rows])
        # Sets with the same three values are one category of the draw.
        distinct, counts = np.unique(values, axis=0, return_counts=True)
        drawn = bootstrap_counts(counts, self.rounds, self.seed) @ distinct / n
        summary: Findings = {
            "n": n,
            "missing": n - sum(row["answered"] for row in rows),
            "documents_mean": sum(row["documents"] for row in rows) / n,
        }
        for place, name in enumerate(RECALLS):
            summary[name] = float(values[:, place].mean())
            summary[f"{name}_ci95"] = np.quantile(drawn[:, place], [0.025, 0.975]).tolist()
        counted = Counter(row["category"] for row in rows)
        summary["categories"] = {
            kind: {"n": counted[kind], **describe_rate("share", counted[kind], n)} for kind in CATEGORIES
        }
        return summary


def _measure_set(one: AmbigSet, answers: Mapping[str, str]) -> list[Coverage]:
    """How much of each of its documents is covered; a missing answer covers nothing."""
    return [measure_coverage(document, one.name, answers.get(one.id, "")) for document in one.documents]


def _recalls(coverage: Sequence[Coverage]) -> dict[str, float]:
    """The means over the documents of a set, under the names in RECALLS."""
    m = len(coverage)
    return {
        "answer_recall": sum(one.answer for one in coverage) / m,
        "entity_recall": sum(one.entity for one in coverage) / m,
        "entity_answer_recall": sum(one.answer * one.entity for one in coverage) / m,
    }


def _examples(sets: Sequence[AmbigSet], answers: Mapping[str, str], kinds: Sequence[Category]) -> dict[str, Any]:
    examples: dict[str, Any] = {}
    for one, kind in zip(sets, kinds, strict=True):
        if kind != "complete" and one.id in answers:
            answer = " ".join(answers[one.id].split())
            shown = answer if len(answer) <= LONGEST_EXAMPLE else f"{answer[:LONGEST_EXAMPLE]}..."
            examples.setdefault(kind, {"id": one.id, "question": one.question, "answer": shown})
    return {kind: examples[kind] for kind in CATEGORIES if kind in examples}
