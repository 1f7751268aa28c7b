"""Whether a language model tells documents on namesakes apart: recall and the five kinds of answers of AmbigDocs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from shadowprobe import Findings, not_measured
from shadowprobe.retrieval.ambigdocs import AmbigDocument, AmbigSet
from shadowprobe.retrieval.probe import AnswerProbe
from shadowprobe.retrieval.stopwords import content_words
from shadowprobe.statistics import bootstrap_counts, wilson

Category = Literal["complete", "partial", "no_answer", "ambiguous", "merged"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
RECALLS = ("answer_recall", "entity_recall", "entity_answer_recall")
# A longer answer is not repeated whole in the results.
LONGEST_EXAMPLE = 300


class Told(NamedTuple):
    """What an output says of one document."""

    # R(a, y) and R(DE, y): the shares of the words of its answer, and of those that tell its entity from the others.
    answer: float
    entity: float
    # Its answer is there and its entity is named (c_O), or the answer alone (c_triangle).
    with_entity: bool
    without_entity: bool


def recall(wanted: Sequence[str], given: Sequence[str]) -> float:
    """R(x, y), the share of the words of x that stand in y, each as often as it does there; 0 for no words."""
    return (Counter(wanted) & Counter(given)).total() / len(wanted) if wanted else 0.0


def told(document: AmbigDocument, name: str, output: str) -> Told:
    """What an output says of a document; of several forms of its answer the best one counts."""
    given = content_words(output)
    title = document.title.replace("(", "").replace(")", "")
    common = set(content_words(name))
    telling = [word for word in content_words(title) if word not in common]
    # A title that is nothing but the name has no words of its own.
    entity = recall(telling, given) if telling else float(_stands_in(title, output))
    named = entity >= 1 / max(1, len(telling))
    forms = [content_words(form) for form in document.answers]
    recalls = [recall(form, given) for form in forms]
    there = any(share >= _one_word(form) for form, share in zip(forms, recalls, strict=True))
    plain = any(_is_plain(form, share) for form, share in zip(forms, recalls, strict=True))
    return Told(max(recalls), entity, named and there, not named and plain)


def _one_word(words: Sequence[str]) -> float:
    """The recall of a single word of an answer."""
    return 1 / len(words) if words else 1.0


def _is_plain(words: Sequence[str], share: float) -> bool:
    """True where an answer counts as given although its entity is not: more than one word of it, if it has so many."""
    return (len(words) <= 2 and share >= 0.5) or share > _one_word(words)


def _stands_in(title: str, output: str) -> bool:
    return title.lower() in " ".join(output.split()).lower()


def category(documents: Sequence[Told]) -> Category:
    """The kind of an answer, by the table of the poster."""
    with_entity = sum(one.with_entity for one in documents)
    without_entity = sum(one.without_entity for one in documents)
    if with_entity == len(documents):
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
    `no_answer`. `by_documents`: the same by how many namesakes there are. `wordless`: documents whose answer is of
    stop words alone, which no output can give. `examples`: the first answer of each kind that is not complete.
    """

    name = "ambigdocs"
    needs = "a language model: `answer`"

    def measure(self, sets: Sequence[AmbigSet], answers: Mapping[str, str]) -> Findings:
        """The rates over all sets, and by the number of their documents."""
        if not sets:
            return not_measured("there are no sets")
        said = [[told(document, one.name, answers.get(one.id, "")) for document in one.documents] for one in sets]
        kinds = [category(documents) for documents in said]
        sizes = ["2" if len(one) == 2 else "3" if len(one) == 3 else "4+" for one in said]
        wordless = sum(
            not any(content_words(form) for form in document.answers) for one in sets for document in one.documents
        )
        present = [one.id in answers for one in sets]
        return {
            **self._row(said, kinds, present),
            "wordless": wordless,
            "by_documents": {
                size: self._row(*(_of_size(column, sizes, size) for column in (said, kinds, present)))
                for size in ("2", "3", "4+")
                if size in sizes
            },
            "examples": _examples(sets, answers, kinds),
        }

    def _row(self, said: Sequence[Sequence[Told]], kinds: Sequence[Category], present: Sequence[bool]) -> Findings:
        n = len(said)
        values = np.array([_recalls(documents) for documents in said])
        # Sets with the same three values are one category of the draw.
        distinct, counts = np.unique(values, axis=0, return_counts=True)
        drawn = bootstrap_counts(counts, self.rounds, self.seed) @ distinct / n
        row: Findings = {
            "n": n,
            "missing": n - sum(present),
            "documents_mean": sum(len(documents) for documents in said) / n,
        }
        for place, name in enumerate(RECALLS):
            row[name] = float(values[:, place].mean())
            row[f"{name}_ci95"] = np.quantile(drawn[:, place], [0.025, 0.975]).tolist()
        counted = Counter(kinds)
        row["categories"] = {
            kind: {
                "n": counted[kind],
                "share": counted[kind] / n,
                "share_ci95": list(wilson(counted[kind], n)),
            }
            for kind in CATEGORIES
        }
        return row


def _recalls(documents: Sequence[Told]) -> tuple[float, float, float]:
    m = len(documents)
    return (
        sum(one.answer for one in documents) / m,
        sum(one.entity for one in documents) / m,
        sum(one.answer * one.entity for one in documents) / m,
    )


def _of_size(column: Sequence[Any], sizes: Sequence[str], size: str) -> list[Any]:
    return [value for value, own in zip(column, sizes, strict=True) if own == size]


def _examples(sets: Sequence[AmbigSet], answers: Mapping[str, str], kinds: Sequence[Category]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one, kind in zip(sets, kinds, strict=True):
        if kind != "complete" and one.id in answers:
            answer = " ".join(answers[one.id].split())
            shown = answer if len(answer) <= LONGEST_EXAMPLE else f"{answer[:LONGEST_EXAMPLE]}..."
            found.setdefault(kind, {"id": one.id, "question": one.question, "answer": shown})
    return {kind: found[kind] for kind in CATEGORIES if kind in found}
