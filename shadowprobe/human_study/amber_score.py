"""Measures how often people, retrievers and readers are right on the questions of AmbER's user study (Table 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal

from msgspec import Struct

from shadowprobe.human_study.agreement import Kappa, Rate, average, compute_kappa, make_rate
from shadowprobe.human_study.amber_sample import AmberItem, AmberKey
from shadowprobe.human_study.annotations import Annotations
from shadowprobe.measure.answer_matching import score_exactly, score_words
from shadowprobe.measure.statistics import wilson

# All questions, those about people and things (AmbER-H and AmbER-N), and those about the head and the tail.
Part = Literal["all", "human", "nonhuman", "head", "tail"]
PARTS: tuple[Part, ...] = ("all", "human", "nonhuman", "head", "tail")
Rates = dict[Part, Rate]
TOGETHER = "all annotators"


class SystemScores(Struct, frozen=True):
    """A person or a system: the share of right documents, and of answers that match exactly; None if it gives none."""

    name: str
    kind: Literal["annotator", "annotators", "retriever", "reader"]
    documents: Rates | None
    exact: Rates | None
    # Items without a chosen document, a ranking with one of the three, a marked answer or a stored answer: all wrong.
    lacking: int


class SpanAgreement(Struct, frozen=True):
    """The items where two annotators marked an answer in the same document, and how far the answers agree."""

    annotators: tuple[str, str]
    n: int
    exact: float | None
    f1: float | None


class UserStudy(Struct, frozen=True):
    """The results of a sample. `answered`: the items of at least one annotator, over which systems are measured."""

    sample: str
    name: str
    collection: str
    items: int
    answered: int
    scores: tuple[SystemScores, ...]
    kappa: tuple[Kappa, ...]
    spans: tuple[SpanAgreement, ...]
    study: Literal["amber"] = "amber"

    @property
    def unanswered(self) -> int:
        """How many items have no answer."""
        return self.items - self.answered


class SystemAnswers(Struct, frozen=True):
    """What a system says of the items of a sample, by id: the number of a document, or an answer."""

    name: str
    choices: Mapping[str, int] | None = None
    answers: Mapping[str, str] | None = None


def measure_user_study(
    key: AmberKey, annotations: Sequence[Annotations], systems: Sequence[SystemAnswers] = ()
) -> UserStudy:
    """Compares people and systems with the key, and people with each other."""
    answered = [item for item in key.items if any(item.item in one.choices for one in annotations)]
    people = [_score_annotator(key, one) for one in annotations]
    together = [_score_together(key, annotations, people)] if len(annotations) > 1 else []
    pairs = list(combinations(annotations, 2))
    return UserStudy(
        sample=key.sample,
        name=key.name,
        collection=key.collection,
        items=len(key.items),
        answered=len(answered),
        scores=(*people, *together, *(_score_system(answered, one) for one in systems)),
        kappa=tuple(compute_kappa((a.annotator, b.annotator), a.choices, b.choices) for a, b in pairs),
        spans=tuple(_compare_spans(a, b) for a, b in pairs),
    )


def _score_annotator(key: AmberKey, one: Annotations) -> SystemScores:
    items = [item for item in key.items if item.item in one.choices]
    documents, _ = _score_choices(items, [one.choices[item.item] for item in items])
    exact, lacking = _score_words(items, [one.spans.get(item.item) for item in items])
    return SystemScores(one.annotator, "annotator", documents, exact, lacking)


def _score_together(key: AmberKey, annotations: Sequence[Annotations], people: Sequence[SystemScores]) -> SystemScores:
    """All answers of all annotators; the interval is that of as many answers as there are questions.

    Several answers to one question depend on each other, so they do not make the interval narrower.
    """
    documents: Rates = {}
    exact: Rates = {}
    for part in PARTS:
        items = [item for item in key.items if part in _list_parts(item)]
        questions = sum(any(item.item in one.choices for one in annotations) for item in items)
        documents[part] = _pool([one.documents[part] for one in people if one.documents], questions)
        exact[part] = _pool([one.exact[part] for one in people if one.exact], questions)
    return SystemScores(TOGETHER, "annotators", documents, exact, sum(one.lacking for one in people))


def _pool(rates: Sequence[Rate], questions: int) -> Rate:
    hits, n = sum(rate.hits for rate in rates), sum(rate.n for rate in rates)
    return Rate(n, hits, hits / n, wilson(hits / n * questions, questions)) if n else make_rate(0, 0)


def _score_system(items: Sequence[AmberItem], system: SystemAnswers) -> SystemScores:
    """Scores a retriever or a reader."""
    if system.choices is not None:
        documents, lacking = _score_choices(items, [system.choices.get(item.id) for item in items])
        return SystemScores(system.name, "retriever", documents, None, lacking)
    exact, lacking = _score_words(items, [(system.answers or {}).get(item.id) for item in items])
    return SystemScores(system.name, "reader", None, exact, lacking)


def _score_choices(items: Sequence[AmberItem], choices: Sequence[int | None]) -> tuple[Rates, int]:
    """The right documents, and how many items lack a choice, which is wrong."""
    right = [choice == item.gold for item, choice in zip(items, choices, strict=True)]
    return _rate(items, right), choices.count(None)


def _score_words(items: Sequence[AmberItem], answers: Sequence[str | None]) -> tuple[Rates, int]:
    """The exact matches by SQuAD's rule, and how many items lack an answer, which is wrong."""
    pairs = zip(items, answers, strict=True)
    right = [bool(answer) and score_exactly(answer or "", item.answers) for item, answer in pairs]
    return _rate(items, right), answers.count(None)


def _rate(items: Sequence[AmberItem], right: Sequence[bool]) -> Rates:
    hits = {part: [hit for item, hit in zip(items, right, strict=True) if part in _list_parts(item)] for part in PARTS}
    return {part: make_rate(sum(given), len(given)) for part, given in hits.items()}


def _list_parts(item: AmberItem) -> Iterator[str]:
    """The parts of the results that an item counts in; `sets` is of a file that does not say what it is about."""
    yield from ("all", item.collection, item.group)


def _compare_spans(first: Annotations, second: Annotations) -> SpanAgreement:
    names = (first.annotator, second.annotator)
    both = [item for item in first.spans if item in second.spans and first.choices[item] == second.choices[item]]
    pairs = [(first.spans[item], second.spans[item]) for item in both]
    exact = average(float(score_exactly(one, [other])) for one, other in pairs)
    return SpanAgreement(names, len(pairs), exact, average(score_words(one, [other]) for one, other in pairs))
