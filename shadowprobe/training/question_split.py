"""Divides questions into those for training and those for the test, which share no word."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from shadowprobe.errors import UsageError, nearest
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.question_files import Question, read_questions
from shadowprobe.training.content_overlap import (
    Triple,
    check_disjoint,
    drop_overlap,
    list_content_words,
    make_triples,
)
from shadowprobe.training.settings import TrainingSettings

FOLDER = "entity_questions"
TRAIN, TEST = "train", "test"


class Split(Struct, frozen=True):
    """The training triples of the chosen relations, the test triples of all relations, and what was left out."""

    training: list[Triple]
    test: list[Triple]
    relations: tuple[str, ...]
    counts: dict[str, Any]


def split_questions(collection: Collection, settings: TrainingSettings) -> Split:
    """Reads the questions, divides them where the files do not, and drops training questions that share a word."""
    available, test, unknown = _read_parts(collection, settings)
    relations = _choose_relations(settings.relations, available)
    candidates = [triple for triple in available if triple.relation in relations]
    kept = drop_overlap(candidates, test, settings.disjoint)
    training = _limit(kept, settings.limit, settings.seed)
    check_disjoint(training, test, settings.disjoint)
    counts = {
        "candidates": _count(candidates),
        "dropped_for_overlap": len(candidates) - len(kept),
        "over_the_limit": len(kept) - len(training),
        "without_subject": unknown,
        "training": _count(training),
        "test": _count(test),
    }
    if not training:
        raise UsageError(_explain_nothing(len(candidates), settings))
    return Split(training, test, relations, counts)


def _read_parts(collection: Collection, settings: TrainingSettings) -> tuple[list[Triple], list[Triple], int]:
    """The triples that may be trained on, those of the test, and how many questions have no known subject."""
    path = find_questions(collection, settings.queries)
    if (path / TRAIN).is_dir() and (path / TEST).is_dir():
        available, without = make_triples(read_questions(path / TRAIN))
        test, without_too = make_triples(read_questions(path / TEST))
        return available, test, without + without_too
    triples, without = make_triples(read_questions(path))
    return *hold_out(triples, settings.held_out, settings.seed), without


def find_questions(collection: Collection, given: str | None) -> Path:
    """Where the questions are: what the user gives, or the folder of the collection."""
    if given is not None:
        return Path(given)
    if collection.directory is None or not (collection.directory / FOLDER).exists():
        raise UsageError(f"the collection `{collection.name}` has no questions: give --queries")
    return collection.directory / FOLDER


def hold_out(triples: Sequence[Triple], share: float, seed: int) -> tuple[list[Triple], list[Triple]]:
    """Divides triples by their subjects: those left for training, and at least a share of them for the test.

    Subjects that share a word stay together. The largest group of such subjects is never held out.
    """
    groups = _group_subjects(triple.subject for triple in triples)
    sizes = Counter(groups[triple.subject] for triple in triples)
    largest = max(sizes, key=lambda group: (sizes[group], group), default=0)
    order = sorted(group for group in sizes if group != largest)
    random.Random(seed).shuffle(order)
    held: set[int] = set()
    count = 0
    for group in order:
        if count >= share * len(triples):
            break
        held.add(group)
        count += sizes[group]
    if not held:
        raise UsageError(
            "the subjects of all questions share words: no test can be held out; give train and test folders"
        )
    available = [triple for triple in triples if groups[triple.subject] not in held]
    return available, [triple for triple in triples if groups[triple.subject] in held]


def _group_subjects(subjects: Iterable[str]) -> dict[str, int]:
    """The group of each subject; subjects with a common word are in one group, and so are all that these lead to."""
    parents: dict[str, str] = {}

    def find(node: str) -> str:
        while parents.setdefault(node, node) != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    ordered = list(dict.fromkeys(subjects))
    for subject in ordered:
        # No word is a subject: a space goes before a subject.
        for word in list_content_words(subject):
            parents[find(word)] = find(f" {subject}")
    numbers: dict[str, int] = {}
    return {subject: numbers.setdefault(find(f" {subject}"), len(numbers)) for subject in ordered}


def _choose_relations(wanted: Sequence[str], available: Sequence[Triple]) -> tuple[str, ...]:
    known = tuple(dict.fromkeys(triple.relation for triple in available))
    for relation in wanted:
        if relation not in known:
            raise UsageError(f"--relation {relation}: has no training questions{nearest(relation, known)}")
    return tuple(dict.fromkeys(wanted)) or known


def _limit(triples: Sequence[Triple], most: int, seed: int) -> list[Triple]:
    """At most so many triples of each relation, drawn at random and in their order."""
    by_relation: dict[str, list[int]] = {}
    for number, triple in enumerate(triples):
        by_relation.setdefault(triple.relation, []).append(number)
    generator = random.Random(seed)
    kept = {
        number
        for numbers in by_relation.values()
        for number in (numbers if len(numbers) <= most else generator.sample(numbers, most))
    }
    return [triple for number, triple in enumerate(triples) if number in kept]


def _count(triples: Iterable[Triple]) -> dict[str, int]:
    return dict(Counter(triple.relation for triple in triples))


def _explain_nothing(candidates: int, settings: TrainingSettings) -> str:
    hint = "; --disjoint relation compares them only with those of their own relation, as the paper does"
    return (
        f"no training question is left: each of the {candidates} shares a word with a test question"
        f"{hint if settings.disjoint == 'all' else ''}"
    )


def group_questions(triples: Iterable[Triple]) -> Mapping[str, list[Question]]:
    """The questions of triples by relation, as files have them."""
    questions: dict[str, list[Question]] = {}
    for triple in triples:
        questions.setdefault(triple.relation, []).append(triple.question)
    return questions
