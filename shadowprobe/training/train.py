"""Trains encoders and measures what that changes: the models, questions, runs and figures are in one directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadowprobe.queries.question_files import number_questions
from shadowprobe.queries.question_patterns import find_subject
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.item_measures import AMBER
from shadowprobe.running.item_measures import QUESTIONS as QUESTIONS_PROBE
from shadowprobe.systems.encoder_directory import EncoderCard
from shadowprobe.training.evaluation import (
    AFTER,
    BEFORE,
    BM25,
    Retrievers,
    describe_amber,
    describe_questions,
    read_rows,
    run_systems,
)
from shadowprobe.training.held_out_sets import hold_sets_out
from shadowprobe.training.passage_space import choose_passages, describe_space
from shadowprobe.training.passages import Asked
from shadowprobe.training.planning import QUESTIONS, RUNS, Plan
from shadowprobe.training.question_split import group_questions
from shadowprobe.training.record import Training, read_training, write_record
from shadowprobe.training.saved_encoders import Announce, Move, count_up, load_models, train_and_save
from shadowprobe.training.trainable import load_trainable

TRAINED, OTHER, MIX = "trained", "other", "mix"


def train_encoder(plan: Plan, move: Move | None = None, announce: Announce = lambda _: None) -> Training:
    """Trains, asks the questions of the test before and after, and writes `training.json`; the same plan goes on."""
    move = move or (lambda *_: None)
    if not plan.record.is_finished:
        card = train_and_save(plan, move, announce)
        _measure(plan, card, move)
        write_record(plan.out, plan.record)
    return read_training(plan.out)


def _measure(plan: Plan, card: EncoderCard, move: Move) -> None:
    """Fills the figures of the record."""
    record = plan.record
    record.passages = _measure_passages(plan, card)
    record.amber = _measure_amber(plan, move)
    groups = _measure_mix(plan, move)
    # Last: a record with these figures is a finished one.
    record.questions, record.relations_found = _measure_questions(plan, move)
    record.questions |= groups


def _list_retrievers(plan: Plan) -> Retrievers:
    settings = plan.settings
    before = {"model": settings.model, "kind": settings.kind, "device": settings.device}
    if settings.document_model:
        before["document_model"] = settings.document_model
    after = {"model": str(plan.out), "device": settings.device}
    return {BEFORE: ("dense", before), AFTER: ("dense", after), BM25: ("bm25", {})}


def _run(plan: Plan, probe: str, queries: Path, name: str, move: Move) -> tuple[list[FinishedRun], dict[str, Any]]:
    """The runs of all systems over some queries, and what the probe says of every query."""
    ks, collection = plan.settings.ks, plan.settings.collection
    folder = plan.out / RUNS / name
    runs = run_systems(_list_retrievers(plan), collection, probe, queries, folder, ks, count_up(move, f"asking {name}"))
    return runs, read_rows(runs, collection, probe, ks)


def _measure_questions(plan: Plan, move: Move) -> tuple[dict[str, Any], dict[str, Any]]:
    """The test questions of the trained relations, of the others, and of each relation."""
    runs, rows = _run(plan, QUESTIONS_PROBE, plan.out / QUESTIONS / "test", "questions", move)
    plan.record.macro = {run.label: run.results["probes"][QUESTIONS_PROBE]["macro"] for run in runs}
    numbered = number_questions(dict(sorted(group_questions(plan.split.test).items())))
    subjects_by_id = {i: find_subject(relation, question) or i for i, relation, question in numbered}
    first = rows[BEFORE]
    subjects, relations = [subjects_by_id[row["id"]] for row in first], [row["relation"] for row in first]
    trained = set(plan.examples)

    def describe(chosen: Sequence[bool]) -> dict[str, Any] | None:
        return describe_questions(rows, subjects, chosen, plan.settings.ks)

    groups = {
        TRAINED: describe([relation in trained for relation in relations]),
        OTHER: describe([relation not in trained for relation in relations]),
    }
    by_relation = {
        relation: {**(describe([one == relation for one in relations]) or {}), "is_trained": relation in trained}
        for relation in dict.fromkeys(relations)
    }
    return {name: group for name, group in groups.items() if group is not None}, by_relation


def _measure_mix(plan: Plan, move: Move) -> dict[str, Any]:
    """The held-out questions of the mix, where there is one."""
    if not plan.mix.test:
        return {}
    _, rows = _run(plan, QUESTIONS_PROBE, plan.out / QUESTIONS / "mix.test.json", MIX, move)
    ids = [row["id"] for row in rows[BEFORE]]
    described = describe_questions(rows, ids, [True] * len(ids), plan.settings.ks)
    return {MIX: described} if described is not None else {}


def _measure_amber(plan: Plan, move: Move) -> dict[str, Any]:
    """Head and tail of the AmbER sets that training has not seen, where the collection has such sets."""
    source = plan.collection.directory / AMBER if plan.collection.directory is not None else None
    if source is None or not source.exists():
        return {}
    folder = plan.out / QUESTIONS / AMBER
    kept, dropped = hold_sets_out(source, plan.split.training, folder)
    plan.record.split["amber"] = {"kept": kept, "dropped_for_overlap": dropped}
    if not kept:
        plan.record.notes.append("AmbER: the names of all sets share a word with a training question")
        return {}
    runs, rows = _run(plan, AMBER, folder, AMBER, move)
    return describe_amber(runs, rows)


def _measure_passages(plan: Plan, card: EncoderCard) -> dict[str, Any]:
    """The passages that answer test questions, before and after: how near they are, and where on a map."""
    if len({pair.passages for pair in card.pairs}) > 1:
        plan.record.notes.append(
            "passages: each relation has its own encoder of passages, so there is no one map of them"
        )
        return {}
    asked = [Asked(one.question.question, one.question.answers, one.subject) for one in plan.split.test]
    passages: dict[str, list[str]] = {}
    for triple, example in zip(plan.split.test, plan.finder.find(asked, 0), strict=True):
        if example is not None:
            passages.setdefault(triple.relation, []).append(example.positives[0])
    # A passage that answers questions of several relations belongs to a trained one first.
    ordered = dict(sorted(passages.items(), key=lambda item: (item[0] not in plan.examples, item[0])))
    chosen, documents, seed = choose_passages(ordered), plan.finder.documents, plan.settings.seed
    if not chosen:
        return {}
    after = load_trainable(
        plan.settings.kind, str(plan.out / card.pairs[-1].passages), plan.settings.device, of_questions=False
    )
    return {
        "items": [{"relation": relation, "id": passage} for relation, passage in chosen],
        BEFORE: describe_space(load_models(plan.settings).passages, chosen, documents, seed),
        AFTER: describe_space(after, chosen, documents, seed),
    }
