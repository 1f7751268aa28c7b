"""The tables of a training: what it gained, what it lost, and what it did to head and tail (Tables 2 to 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.queries.question_files import relations
from shadowprobe.reporting.retriever_summary import GROUPS, TASK_NAMES
from shadowprobe.reporting.tables.table import (
    Column,
    Row,
    Table,
    estimate,
    text_column,
    write_points,
    write_short,
    write_tenth,
)
from shadowprobe.training.record import Training, TrainingRecord

# The groups of questions, and the systems, as readers see them.
QUESTION_GROUPS = {"trained": "trained relations", "other": "other relations", "mix": "mixed questions"}
SYSTEMS = ("before", "after", "bm25")


def make_training_tables(trainings: Sequence[Training], *, published: bool = False) -> list[Table]:
    """Every table that the trainings have figures for, and those of the paper."""
    tables = []
    if trainings:
        tables = [_questions(trainings), _changes(trainings), _relations(trainings)]
        tables += [_amber(trainings)] if any(one.record.amber for one in trainings) else []
        tables += [_passages(trainings)] if any(one.record.passages for one in trainings) else []
    if published:
        from shadowprobe.reporting.tables.published_training import published_tables

        tables += published_tables()
    return tables


def describe_split(record: TrainingRecord) -> str:
    """How many questions are trained and tested, and what was left out and why."""
    split = record.split
    left_out = {
        "share a word with a test question": split["dropped_for_overlap"],
        "are over the limit": split["over_the_limit"],
        "have no known subject": split["without_subject"],
        "have no passage with their answer": split["without_passage"],
    }
    reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
    words = [f"Training on {sum(split['examples'].values())} questions of {len(split['examples'])} relations"]
    words += [f"left out: {reasons}"] if reasons else []
    if mix := split.get("mix"):
        words.append(f"mixed with {mix['examples']} other questions")
    return f"{'; '.join(words)}. The test has {sum(split['test'].values())} questions."


def _questions(trainings: Sequence[Training]) -> Table:
    """A row for each group of questions and system."""
    ks = _shared_depths(trainings)
    rows = [
        Row((name, f"{prefix}{system}", found["n"], *(estimate(found["systems"][system][k]) for k in ks)), section=name)
        for name, prefix, found in _list_groups(trainings)
        for system in SYSTEMS
    ]
    columns = (
        text_column("questions"),
        text_column("system"),
        Column("n", "n"),
        *(Column(f"first {k}", f"first {k}", write_short) for k in ks),
    )
    notes = [
        "In brackets 95% intervals.",
        *(f"{_prefix(trainings, one)}{describe_split(one.record)}" for one in trainings),
        *(f"{_prefix(trainings, one)}{note}." for one in trainings for note in one.record.notes),
    ]
    title = "Training on question patterns: do the first documents hold an answer? (%)"
    return Table("training-questions", title, columns, tuple(rows), tuple(notes))


def _changes(trainings: Sequence[Training]) -> Table:
    """What each group of questions gained or lost by training, and how far it then is from BM25."""
    ks = _shared_depths(trainings)
    rows = [
        Row((name, f"{prefix}{words}", *(estimate(found[key][k], "difference") for k in ks)), section=name)
        for name, prefix, found in _list_groups(trainings)
        for key, words in (("change", "after − before"), ("lead", "after − bm25"))
    ]
    columns = (
        text_column("questions"),
        text_column("pair", "compared"),
        *(Column(f"first {k}", f"first {k}, points", write_points) for k in ks),
    )
    note = "Over the same questions; subjects are drawn for the 95% intervals."
    return Table("training-changes", "What was gained, and what was lost?", columns, tuple(rows), (note,))


def _list_groups(trainings: Sequence[Training]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The name of each group of questions, the prefix of a training that has it, and what was found."""
    for group, name in QUESTION_GROUPS.items():
        for training in trainings:
            if group in training.record.questions:
                yield name, _prefix(trainings, training), training.record.questions[group]


def _relations(trainings: Sequence[Training]) -> Table:
    """A row for each relation, with the accuracy of each system at each number of documents."""
    ks = _shared_depths(trainings)
    found = [one.record.relations_found for one in trainings]
    rows = []
    for relation in dict.fromkeys(relation for one in found for relation in one):
        measured = [one.get(relation) for one in found]
        first = next(one for one in measured if one is not None)
        known = relations().get(relation)
        words = "trained" if first["is_trained"] else "other"
        cells: list[Any] = [relation, known.label if known is not None else "", words, first["n"]]
        for one in measured:
            for system in SYSTEMS:
                cells += [None if one is None else 100 * one["systems"][system][k]["rate"] for k in ks]
        rows.append(Row(tuple(cells)))
    means = [100 * one.record.macro[system][k] for one in trainings for system in SYSTEMS for k in ks]
    rows.append(Row(("macro", "mean over the relations", "", "", *means), section="means"))
    columns = (
        text_column("relation"),
        text_column("property"),
        text_column("group"),
        Column("n", "n"),
        *(
            Column(f"{prefix}{system} first {k}", f"first {k}", write_tenth, f"{prefix}{system}")
            for prefix in (_prefix(trainings, one) for one in trainings)
            for system in SYSTEMS
            for k in ks
        ),
    )
    title = "The same by relation (%)"
    return Table(
        "training-relations", title, columns, tuple(rows), ("Macro: as `EntityQ.` in Tables 3 and 4 of the paper.",)
    )


def _amber(trainings: Sequence[Training]) -> Table:
    """A row for each task and system: head, tail, their gap, and how it changed."""
    rows: list[Row] = []
    for collection, of_collection in COLLECTION_NAMES.items():
        for task, name in TASK_NAMES.items():
            part = f"{of_collection}, {name}"
            for training in trainings:
                found = training.record.amber.get(collection, {}).get(task)
                if found is not None:
                    rows += _amber_rows(part, _prefix(trainings, training), found)
    columns = (
        text_column("task"),
        text_column("system"),
        *(Column(group, group, write_short) for group in GROUPS[1:]),
        Column("gap", "head minus tail,\npoints", write_points),
        Column("gap_change", "change of the gap,\npoints", write_points),
    )
    counts = (one.record.split["amber"] for one in trainings if "amber" in one.record.split)
    asked = ", ".join(f"{count['kept']} of {count['kept'] + count['dropped_for_overlap']}" for count in counts)
    note = (
        "Does training close the gap between head and tail? Asked are the sets whose names share no word with a"
        f" training question ({asked} sets, each counted for each task). In brackets 95% intervals; sets are drawn."
    )
    return Table("training-amber", "AmbER: is the right document first? (%)", columns, tuple(rows), (note,))


def _amber_rows(part: str, prefix: str, found: dict[str, Any]) -> Iterator[Row]:
    for system, one in found["systems"].items():
        shares = [estimate(one[group]) for group in GROUPS[1:]]
        change = estimate(found["gap_change"], "difference") if system == "after" else ""
        cells = (part, f"{prefix}{system}", *shares, estimate(one["gap"], "difference"), change)
        yield Row(cells, section=f"{part} {prefix}")


def _passages(trainings: Sequence[Training]) -> Table:
    """How near passages are to each other before and after."""
    rows = []
    for training in trainings:
        found = training.record.passages
        for when in SYSTEMS[:2]:
            if when in found:
                cells = (found[when]["same_relation"], found[when]["other_relation"])
                label = f"{_prefix(trainings, training)}{when}"
                rows.append(Row((label, len(found["items"]), *cells), section=_prefix(trainings, training)))
    columns = (
        text_column("system"),
        Column("passages", "passages"),
        Column("same_relation", "of one\nrelation", "{:.3f}".format),
        Column("other_relation", "of two\nrelations", "{:.3f}".format),
    )
    note = "The mean cosine between two passages that answer test questions; the figure `passages` draws them."
    return Table("training-passages", "How similar are passages to each other?", columns, tuple(rows), (note,))


def _prefix(trainings: Sequence[Training], training: Training) -> str:
    """The name of a training before its systems, where there are several."""
    return f"{training.label}: " if len(trainings) > 1 else ""


def _shared_depths(trainings: Sequence[Training]) -> list[str]:
    ks = [set(training.record.settings["ks"]) for training in trainings]
    return [str(k) for k in sorted(set.intersection(*ks))]
