"""The plan of a training: its questions and passages, and the directory that it will fill."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe.base.files import make_directory, write_atomically
from shadowprobe.base.jsonl import convert_to_json, encode_json
from shadowprobe.errors import UsageError
from shadowprobe.queries.collection import Collection, digest_of, open_collection
from shadowprobe.queries.question_files import PLACE, Question
from shadowprobe.queries.question_patterns import list_patterns
from shadowprobe.running.directory import describe_difference
from shadowprobe.training.content_overlap import Triple
from shadowprobe.training.mixed_questions import MixedQuestions, read_mix
from shadowprobe.training.passages import Asked, Example, PassageFinder
from shadowprobe.training.question_split import Split, find_questions, group_questions, split_questions
from shadowprobe.training.record import TrainingRecord, read_record, write_record
from shadowprobe.training.settings import TrainingSettings

QUESTIONS, RUNS = "questions", "runs"


class Plan(Struct):
    """A training with its questions and passages, ready to begin."""

    settings: TrainingSettings
    out: Path
    collection: Collection
    split: Split
    finder: PassageFinder
    # The examples of each relation, and those of the mix.
    examples: dict[str, list[Example]]
    mix: MixedQuestions
    record: TrainingRecord
    # Whether another training in the directory is removed.
    force: bool


def plan_training(settings: TrainingSettings, out: Path, *, force: bool = False) -> Plan:
    """Reads and checks everything that needs no model; refuses a directory of another training."""
    collection = open_collection(settings.collection)
    split = split_questions(collection, settings)
    _check_patterns(split.relations, settings)
    finder = PassageFinder(collection)
    mix = read_mix(settings, split.test, finder)
    examples = _find_examples(split.training, finder, settings)
    record = _make_record(settings, collection, split, examples, mix)
    earlier = _check_directory(out, record, force=force)
    return Plan(settings, out, collection, split, finder, examples, mix, earlier or record, force)


def _write_questions(path: Path, questions: Sequence[Question]) -> None:
    make_directory(path.parent)
    write_atomically(path, encode_json(questions))


def _check_patterns(relations: Sequence[str], settings: TrainingSettings) -> None:
    """Refuses a relation without a known pattern where one is needed."""
    for option, is_given in (("--similar", settings.similar), ("--per-relation", settings.per_relation)):
        if is_given and (unknown := [relation for relation in relations if not list_patterns(relation)]):
            raise UsageError(f"{option}: {unknown[0]} is no relation of the paper, so its pattern is not known")


def _find_examples(
    training: Sequence[Triple], finder: PassageFinder, settings: TrainingSettings
) -> dict[str, list[Example]]:
    """Passages for all training questions; a question that no passage answers is left out."""
    asked = [Asked(_word_question(one, settings), one.question.answers, one.subject) for one in training]
    examples: dict[str, list[Example]] = {}
    for triple, example in zip(training, finder.find(asked, settings.negatives), strict=True):
        if example is not None:
            examples.setdefault(triple.relation, []).append(example)
    if not examples:
        raise UsageError(
            "the collection has no passage for any training question, about its subject and with an answer"
        )
    return examples


def _word_question(triple: Triple, settings: TrainingSettings) -> str:
    """The question as it is, or by the similar pattern of its relation."""
    if not settings.similar:
        return triple.question.question
    return list_patterns(triple.relation)[1].replace(PLACE, triple.subject)


def _make_record(
    settings: TrainingSettings,
    collection: Collection,
    split: Split,
    examples: Mapping[str, Sequence[Example]],
    mix: MixedQuestions,
) -> TrainingRecord:
    used = {relation: len(of_relation) for relation, of_relation in examples.items()}
    counts: dict[str, Any] = {
        **split.counts,
        "without_passage": len(split.training) - sum(used.values()),
        "examples": used,
    }
    digests = {"queries": digest_of(find_questions(collection, settings.queries))}
    if settings.mix is not None:
        counts["mix"] = {
            "examples": len(mix.examples),
            "test": len(mix.test),
            "names_a_test_subject": mix.names_test_subject,
            "without_passage": mix.no_passage,
        }
        digests["mix"] = digest_of(Path(settings.mix))
    return TrainingRecord(
        settings=convert_to_json(settings),
        collection=collection.described,
        shadowprobe=shadowprobe.__version__,
        digests=digests,
        relations=list(split.relations),
        split=counts,
    )


def _check_directory(out: Path, record: TrainingRecord, *, force: bool) -> TrainingRecord | None:
    """The record of an earlier part of this very training; None if there is none, or if it is to be removed."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file; name a directory")
    earlier = read_record(out)
    if earlier is not None:
        if force:
            return None
        for what in ("settings", "collection", "digests"):
            old, new = getattr(earlier, what), getattr(record, what)
            if old != new:
                difference = describe_difference(what, old, new)
                raise UsageError(
                    f"{out} holds a training whose {difference}; give another --out, or --force to write over it"
                )
    elif out.exists() and any(out.iterdir()):
        # What is there may be anything, and --force would remove it.
        raise UsageError(f"{out} is not empty, and holds no training; give another --out")
    return earlier


def begin_training(plan: Plan) -> None:
    """Makes the directory ready: an earlier part of this training stays, and another one is removed."""
    if plan.force and plan.out.exists():
        shutil.rmtree(plan.out)
    make_directory(plan.out)
    write_record(plan.out, plan.record)
    for name, triples in (("train", plan.split.training), ("test", plan.split.test)):
        for relation, questions in group_questions(triples).items():
            _write_questions(plan.out / QUESTIONS / name / f"{relation}.{name}.json", questions)
    if plan.mix.test:
        _write_questions(plan.out / QUESTIONS / "mix.test.json", plan.mix.test)
