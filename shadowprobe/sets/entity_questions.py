"""Entity questions from triples or from Wikidata, into files laid out as the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe.build.settings import today
from shadowprobe.dataset import make_directory
from shadowprobe.errors import BuildError, UsageError
from shadowprobe.jsonl import encode_json, write_atomically
from shadowprobe.retrieval.entity_questions import Question, relations
from shadowprobe.retrieval.wikidata.dump import Progress
from shadowprobe.retrieval.wikidata.lottery import Lottery
from shadowprobe.retrieval.wikidata.namesakes import NAMELESS, WITHOUT_ARTICLE
from shadowprobe.retrieval.wikidata.origin import Facts, Origin, open_facts
from shadowprobe.retrieval.wikidata.popularity import Popularity
from shadowprobe.retrieval.wikidata.triples import read_triples
from shadowprobe.retrieval.wikidata.values import Values

CARD, ENDING = "entity_questions.json", ".test.json"
PER_RELATION, SEED = 1000, 7
NO_QUESTION = "triples whose relation has no question"
NO_ANSWER = "subjects without a named answer"


class Lots(Struct, frozen=True):
    """How many questions of each relation to draw, and the seed of the draw."""

    per_relation: int = PER_RELATION
    seed: int = SEED

    def lotteries(self) -> dict[str, Lottery]:
        """A lottery for each relation that has a question."""
        return {number: Lottery(number, self.per_relation, self.seed) for number in relations()}


class QuestionsCard(Struct, frozen=True):
    """What `entity_questions.json` says: what was made of what, and what was left out and why."""

    counts: dict[str, int]
    dropped: dict[str, int]
    source: dict[str, Any]
    per_relation: int
    seed: int
    made: str
    shadowprobe: str
    popularity: dict[str, Any] = {}
    schema: int = 1


Made = tuple[dict[str, list[Question]], Counter[str]]


def from_triples(path: Path, lots: Lots) -> Made:
    """Questions from a file of triples; several objects of one subject and property are several answers."""
    lotteries = lots.lotteries()
    dropped: Counter[str] = Counter()
    for triple in read_triples(path):
        if triple.number in lotteries:
            lotteries[triple.number].add(triple.subject, triple.subject, triple.forms, triple.frequency)
        else:
            dropped[NO_QUESTION] += 1
    return _questions(lotteries), dropped


def from_wikidata(
    origin: Origin, directory: Path, lots: Lots, popularity: Popularity | None = None, progress: Progress | None = None
) -> Made:
    """Questions about the entities of a dump, or about those that an API finds by name, that have an article."""
    lotteries = lots.lotteries()
    with open_facts(origin, directory, lotteries, progress, classes=False) as facts:
        titles = _draw(facts, frozenset(origin.names), lotteries)
        if popularity is not None:
            drawn = {qid: titles[qid] for lottery in lotteries.values() for qid in lottery.kept}
            counts = popularity.counts(drawn, progress)
            for lottery in lotteries.values():
                for qid, subject in lottery.kept.items():
                    subject.frequency = counts.get(qid)
    return _questions(lotteries), facts.dropped


def _draw(facts: Facts, asked: frozenset[str], lotteries: Mapping[str, Lottery]) -> dict[str, str]:
    """Draws subjects by their QIDs; gives the titles of their articles."""
    titles: dict[str, str] = {}
    values = Values(facts.connection)
    for qid, title, numbers in _subjects(facts):
        names = values.names(qid)
        if asked and asked.isdisjoint(names):
            continue
        if title is None or not names:
            facts.dropped[NAMELESS if title is not None else WITHOUT_ARTICLE] += 1
            continue
        for number in numbers:
            if not lotteries[number].takes(qid):
                continue
            answers = [form for value in values.of(qid, number) for form in value]
            if not answers:
                facts.dropped[NO_ANSWER] += 1
                continue
            lotteries[number].add(qid, names[0], answers)
            titles[qid] = title
    facts.dropped.update(values.dropped)
    return titles


def _subjects(facts: Facts) -> Iterator[tuple[str, str | None, list[str]]]:
    """The entities that have a property, with the titles of their articles; their rows stand side by side."""
    rows = facts.connection.execute(
        "SELECT claim.qid, title, property FROM claim LEFT JOIN title ON title.qid = claim.qid ORDER BY claim.rowid"
    )
    for qid, found in groupby(rows, key=lambda row: int(row[0])):
        many = list(found)
        yield f"Q{qid}", many[0][1], sorted({row[2] for row in many})


def _questions(lotteries: Mapping[str, Lottery]) -> dict[str, list[Question]]:
    made = {number: lottery.questions() for number, lottery in lotteries.items()}
    return {number: questions for number, questions in made.items() if questions}


def refuse_to_overwrite(out: Path, *, force: bool) -> None:
    """Refuses a directory that holds questions, before hours of work and not after them."""
    if not force and ((out / CARD).exists() or any(path.exists() for path in _files(out).values())):
        raise UsageError(f"{out} holds entity questions already; --force writes over them")


def write_questions(
    out: Path, made: Made, source: Mapping[str, Any], lots: Lots, popularity: Popularity | None = None
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
        per_relation=lots.per_relation,
        seed=lots.seed,
        made=today(),
        shadowprobe=shadowprobe.__version__,
        popularity=popularity.described() if popularity is not None else {},
    )
    make_directory(out)
    # The card goes first and comes last: without one, half of the questions are none.
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
