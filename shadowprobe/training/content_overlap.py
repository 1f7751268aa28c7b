"""Which words of a question's triple count when training and test questions must share none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bm25s.stopwords import STOPWORDS_EN
from msgspec import Struct

from shadowprobe.errors import UsageError
from shadowprobe.measure.answer_matching import dpr_words
from shadowprobe.queries.question_files import Question
from shadowprobe.queries.question_patterns import find_subject
from shadowprobe.training.settings import Disjoint

# Words such as `the` and `of` are in the names of everything; the list is that of the retriever `bm25`.
STOP_WORDS = frozenset(STOPWORDS_EN)


class Triple(Struct, frozen=True):
    """A question with its relation, its subject, and the words of its subject and answers."""

    relation: str
    subject: str
    question: Question
    words: frozenset[str]


def list_content_words(*texts: str) -> frozenset[str]:
    """The words of texts in lower case, without stop words and without punctuation."""
    words = (word for text in texts for word in dpr_words(text))
    return frozenset(word for word in words if word not in STOP_WORDS and any(map(str.isalnum, word)))


def make_triples(questions: Mapping[str, Sequence[Question]]) -> tuple[list[Triple], int]:
    """The triples of questions, and how many questions do not say whom they are about."""
    triples, unknown = [], 0
    for relation, of_relation in questions.items():
        for question in of_relation:
            subject = find_subject(relation, question)
            if subject is None:
                unknown += 1
                continue
            words = list_content_words(subject, *question.answers)
            triples.append(Triple(relation, subject, question, words))
    return triples, unknown


def drop_overlap(training: Iterable[Triple], test: Iterable[Triple], disjoint: Disjoint) -> list[Triple]:
    """The training triples that share no word with a test triple, of any relation or of their own."""
    forbidden: dict[str, set[str]] = {}
    for triple in test:
        forbidden.setdefault(_scope(triple, disjoint), set()).update(triple.words)
    nothing: set[str] = set()
    return [triple for triple in training if triple.words.isdisjoint(forbidden.get(_scope(triple, disjoint), nothing))]


def check_disjoint(training: Iterable[Triple], test: Iterable[Triple], disjoint: Disjoint) -> None:
    """Refuses a training triple that shares a word with a test triple, and names both: nothing is trained on a leak."""
    tested: dict[tuple[str, str], Triple] = {}
    for triple in test:
        tested |= {(_scope(triple, disjoint), word): triple for word in triple.words}
    for triple in training:
        for word in sorted(triple.words):
            if leak := tested.get((_scope(triple, disjoint), word)):
                raise UsageError(
                    f"the training question {triple.question.question!r} and the test question"
                    f" {leak.question.question!r} share the word {word!r}"
                )


def _scope(triple: Triple, disjoint: Disjoint) -> str:
    """The test triples that a triple is compared with: those of its relation, or all."""
    return triple.relation if disjoint == "relation" else ""
