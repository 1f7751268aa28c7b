"""Makes entity questions from triples or from Wikidata and writes them in the layout of the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe.base.files import make_directory, write_atomically
from shadowprobe.base.jsonl import encode_json
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.build.settings import today
from shadowprobe.errors import BuildError, UsageError
from shadowprobe.queries.question_files import Question, relations
from shadowprobe.sets.fact_source import Facts, Origin, open_facts
from shadowprobe.sets.namesakes import NAMELESS, WITHOUT_ARTICLE
from shadowprobe.sets.popularity import Popularity
from shadowprobe.sets.sampling import SubjectSample
from shadowprobe.sets.triples import read_triples
from shadowprobe.sets.values import Values

CARD, ENDING = "entity_questions.json", ".test.json"
PER_RELATION, SEED = 1000, 7
NO_QUESTION = "triples whose relation has no question"
NO_ANSWER = "subjects without a named answer"


class SampleSize(Struct, frozen=True):
    """The number of questions of each relation, and the seed of their random choice."""

    per_relation: int = PER_RELATION
    seed: int = SEED

    def make_samples(self) -> dict[str, SubjectSample]:
        """Makes an empty sample for each relation that has a question."""
        return {number: SubjectSample(number, self.per_relation, self.seed) for number in relations()}


class QuestionsCard(Struct, frozen=True):
    """The content of `entity_questions.json`: the sources of the questions, and what was left out and why."""

    counts: dict[str, int]
    dropped: dict[str, int]
    source: dict[str, Any]
    per_relation: int
    seed: int
    made: str
    shadowprobe: str
    popularity: dict[str, Any] = {}
    schema: int = 1


MadeQuestions = tuple[dict[str, list[Question]], Counter[str]]


def make_from_triples(path: Path, size: SampleSize) -> MadeQuestions:
    """Makes questions from a file of triples; several objects of one subject and property are several answers."""
    samples = size.make_samples()
    dropped: Counter[str] = Counter()
    for triple in read_triples(path):
        if triple.number in samples:
            samples[triple.number].add(triple.subject, triple.subject, triple.forms, triple.frequency)
        else:
            dropped[NO_QUESTION] += 1
    return _make_questions(samples), dropped


def make_from_wikidata(
    origin: Origin,
    directory: Path,
    size: SampleSize,
    popularity: Popularity | None = None,
    progress: Progress = ignore_progress,
) -> MadeQuestions:
    """Makes questions about entities with an article, from a dump or from the names that an API finds."""
    samples = size.make_samples()
    with open_facts(origin, directory, samples, progress, classes=False) as facts:
        titles = _draw(facts, frozenset(origin.names), samples)
        if popularity is not None:
            drawn = {qid: titles[qid] for sample in samples.values() for qid in sample.kept}
            counts = popularity.count(drawn, progress)
            for sample in samples.values():
                for qid, subject in sample.kept.items():
                    subject.frequency = counts.get(qid)
    return _make_questions(samples), facts.dropped


def _draw(facts: Facts, wanted: frozenset[str], samples: Mapping[str, SubjectSample]) -> dict[str, str]:
    """Adds subjects to the samples by their QIDs; returns the titles of their articles."""
    titles: dict[str, str] = {}
    values = Values(facts.connection)
    for qid, title, numbers in _list_subjects(facts):
        names = values.find_names(qid)
        if wanted and wanted.isdisjoint(names):
            continue
        if title is None or not names:
            facts.dropped[NAMELESS if title is not None else WITHOUT_ARTICLE] += 1
            continue
        for number in numbers:
            if not samples[number].accepts(qid):
                continue
            answers = [form for value in values.find(qid, number) for form in value]
            if not answers:
                facts.dropped[NO_ANSWER] += 1
                continue
            samples[number].add(qid, names[0], answers)
            titles[qid] = title
    facts.dropped.update(values.dropped)
    return titles


def _list_subjects(facts: Facts) -> Iterator[tuple[str, str | None, list[str]]]:
    """Yields the entities that have a property, with the titles of their articles; their rows are adjacent."""
    rows = facts.connection.execute(
        "SELECT claim.qid, title, property FROM claim LEFT JOIN title ON title.qid = claim.qid ORDER BY claim.rowid"
    )
    for qid, group in groupby(rows, key=lambda row: int(row[0])):
        claims = list(group)
        yield f"Q{qid}", claims[0][1], sorted({claim[2] for claim in claims})


def _make_questions(samples: Mapping[str, SubjectSample]) -> dict[str, list[Question]]:
    return {number: questions for number, sample in samples.items() if (questions := sample.make_questions())}


def refuse_to_overwrite(out: Path, *, force: bool) -> None:
    """Refuses a directory that holds questions, before the long work begins."""
    if not force and ((out / CARD).exists() or any(path.exists() for path in _files(out).values())):
        raise UsageError(f"{out} holds entity questions already; --force writes over them")


def write_questions(
    out: Path, made: MadeQuestions, source: Mapping[str, Any], size: SampleSize, popularity: Popularity | None = None
) -> QuestionsCard:
    """Writes the questions of each relation, and a card."""
    questions, dropped = made
    if not questions:
        why = "; ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise BuildError(f"no question could be made ({why or 'no fact has a relation that is asked about'})")
    card = QuestionsCard(
        counts={number: len(many) for number, many in questions.items()},
        dropped=dict(dropped),
        source=dict(source),
        per_relation=size.per_relation,
        seed=size.seed,
        made=today(),
        shadowprobe=shadowprobe.__version__,
        popularity=popularity.describe() if popularity is not None else {},
    )
    make_directory(out)
    # The card is deleted first and written last: questions without a card are incomplete.
    (out / CARD).unlink(missing_ok=True)
    for number, path in _files(out).items():
        if number in questions:
            write_atomically(path, encode_json(questions[number]))
        else:
            path.unlink(missing_ok=True)
    write_atomically(out / CARD, encode_json(card))
    return card


def _files(out: Path) -> dict[str, Path]:
    return {number: out / f"{number}{ENDING}" for number in relations()}
