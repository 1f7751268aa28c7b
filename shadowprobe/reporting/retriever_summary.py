"""What a screen and a page say of a retriever: does it find the less popular namesake?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from shadowprobe.queries.amber_sets import COLLECTION_NAMES, TASKS
from shadowprobe.reporting.relation_rows import mean_rows, relation_columns, relation_rows
from shadowprobe.reporting.tables.table import (
    Column,
    Estimate,
    Results,
    Row,
    Runs,
    Table,
    estimate,
    in_percent,
    percent,
    select_probe,
    text_column,
    write_points,
    write_short,
)

# A collection and a task.
Part = tuple[str, str]
AMBER, QUESTIONS = "amber", "entity_questions"
TASK_NAMES = {**TASKS, "queries": "queries"}
GROUPS = ("all", "head", "tail")
# As much, less and more, in a sentence on how head and tail fare.
OFTEN = ("often", "less often", "more often")
# Whether the subject of a question was seen in training.
SEEN = ("seen", "unseen")
# The probes that the tables show.
SHOWN = {AMBER, QUESTIONS}


def describe_size(results: Results) -> str:
    """How many sets, entities and questions a run is over."""
    return "; ".join(list_sizes(results["probes"], AMBER, QUESTIONS))


def list_sizes(probes: Results, amber: str, questions: str) -> Iterator[str]:
    """How many sets and entities of each collection, and how many questions, two probes were asked."""
    if amber in probes:
        parts = {name: next(iter(tasks.values())) for name, tasks in probes[amber].items() if name in COLLECTION_NAMES}
        counts = (
            f"{one['sets']} sets of {one['entities']} entities ({COLLECTION_NAMES[name]})"
            for name, one in parts.items()
        )
        yield f"AmbER: {', '.join(counts)}"
    if questions in probes:
        yield f"EntityQuestions: {probes[questions]['questions']} questions"


def list_warnings(results: Results) -> Iterator[str]:
    """What changes the meaning of a figure."""
    if results["missing"]:
        yield f"{results['missing']} queries have no ranking; they count as wrong"


def describe_verdict(results: Results) -> str:
    """Whether the less popular namesake is found, by the difference of head and tail in every task."""
    found = results["probes"].get(AMBER)
    if found is None:
        return f"was not asked whether it finds the less popular namesake{_answered(results)}."
    k = min(results["settings"]["k"])
    return describe_gaps(found, "finds the less popular namesake", f"accuracy@{k}", OFTEN)


def describe_gaps(found: dict[str, Any], act: str, measure: str, adverbs: tuple[str, str, str]) -> str:
    """Whether a system does something for the tail as it does for the head, by the gap of a measure in every task.

    `adverbs` are those for as much, for less and for more.
    """
    compared = {
        f"{COLLECTION_NAMES[collection]}, {TASK_NAMES[name]}": task
        for collection in COLLECTION_NAMES
        for name, task in found.get(collection, {}).items()
        if task["gap"] is not None
    }
    if not compared:
        return "was asked about head entities alone or tail entities alone: there is nothing to compare."
    gaps = [(task["gap"], name) for name, task in compared.items()]
    least, greatest = (pick(gaps, key=lambda one: one[0]["difference"]) for pick in (min, max))
    ends = " to ".join(_write_gap(*gap) for gap in ([least] if least is greatest else [least, greatest]))
    return (
        f"{_how_often([task.get('verdict') for task in compared.values()], act, adverbs)}: head minus tail"
        f" {measure} {'is' if least is greatest else 'runs from'} {ends},"
        " with 95% intervals."
    )


def _write_gap(gap: dict[str, Any], task: str) -> str:
    points = in_percent(gap["difference"], gap["ci95"])
    return f"{points.value:+.1f} points ({points.low:+.1f} to {points.high:+.1f}; {task})"


def _how_often(verdicts: Sequence[str | None], act: str, adverbs: tuple[str, str, str]) -> str:
    """In how many tasks the tail fares worse than the head, or the head worse than the tail."""
    if None in verdicts:
        return "was measured by an earlier version, which gives no verdict (`shadowprobe retrieve --predictions` does)"
    less, more, undecided = (verdicts.count(word) for word in ("head", "tail", "undecided"))
    if undecided == len(verdicts):
        rest = f"no difference being certain in any of {undecided} tasks"
        return f"{act} about as {adverbs[0]} as the popular one, {rest}"
    clear = [f"{word} in {count}" for word, count in zip(adverbs[1:], (less, more), strict=True) if count]
    rest = f", no difference being certain in the other {undecided}" if undecided else ""
    return f"{act} {' and '.join(clear)} of {len(verdicts)} tasks than the popular one{rest}"


def _answered(results: Results) -> str:
    found = results["probes"].get(QUESTIONS)
    if found is None:
        return ""
    k, rate = next(iter(found["micro"]["accuracy"].items()))
    where = "in the first document" if k == "1" else f"in the first {k} documents"
    rates = percent(rate, found["micro"]["accuracy_ci95"][k])
    return f"; it finds an answer {where} for {rates} of {found['micro']['n']} simple questions (95% interval)"


def make_tables(runs: Runs) -> list[Table]:
    """Every table that the runs have figures for.

    Of AmbER by collection: is the right document among the first k (Tables 5 and 9), and does a namesake stand above
    it (Table 6)? Of EntityQuestions: do the first k documents hold an answer (Tables 1 and 5, Fig. 1)?
    """
    amber, questions = select_probe(runs, AMBER), select_probe(runs, QUESTIONS)
    ks = shared_depths(runs.values())
    # The gap is measured at the smallest number of documents that a run counts.
    smallest = {str(min(results["settings"]["k"])) for results in runs.values()}
    tables = []
    for collection in dict.fromkeys(collection for collection, _ in list_parts(amber.values())):
        tables += [_accuracy(amber, collection, k, has_gap=smallest == {k}) for k in ks]
        tables.append(_confusion(amber, collection))
    if questions:
        tables.append(_relations(questions, ks))
    if any(found["buckets"] for found in questions.values()):
        tables.append(_buckets(questions, ks))
    if marked := {label: found for label, found in questions.items() if found.get("seen")}:
        tables.append(_seen(marked, ks))
    return tables


def shared_depths(runs: Iterable[Results]) -> list[str]:
    """The numbers of documents that all results count, as results.json has them, smallest first."""
    ks = (set(results["settings"]["k"]) for results in runs)
    return [str(k) for k in sorted(set.intersection(*ks))]


def list_parts(findings: Iterable[dict[str, Any]]) -> list[Part]:
    """The collections and tasks of AmbER that there are, in the paper's order."""
    present = {(name, task) for found in findings for name in COLLECTION_NAMES for task in found.get(name, {})}
    return [part for part in product(COLLECTION_NAMES, TASK_NAMES) if part in present]


def by_task(found: Runs, collection: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The name of each task of a collection, the label of each run that has it, and what was found."""
    for task, name in TASK_NAMES.items():
        for label, one in found.items():
            if task in one.get(collection, {}):
                yield name, label, one[collection][task]


def _accuracy(found: Runs, collection: str, k: str, *, has_gap: bool) -> Table:
    rows = []
    counts: dict[str, Any] = {}
    for task, label, row in by_task(found, collection):
        counts = counts or row
        cells = [estimate(row["accuracy"][k][group]) for group in GROUPS] + [estimate(row["all_correct"][k])]
        gaps = [estimate(row["gap"], "difference")] if has_gap else []
        is_full = all(cell is not None and cell.value >= 100 for cell in cells)
        rows.append(Row((task, label, *cells, *gaps), section=task, is_full=is_full and not gaps))
    columns = (
        text_column("task"),
        text_column("system"),
        *(Column(group, group, write_short) for group in GROUPS),
        Column("all_correct", "∀", write_short),
        *([Column("gap", "head minus tail,\npoints", write_points)] if has_gap else []),
    )
    title = f"AmbER, {COLLECTION_NAMES[collection]}: is the right document among the first {k}? (%)"
    note = (
        f"{counts['sets']} sets of {counts['entities']} entities; head: the most popular of a name, tail: its"
        " namesakes; ∀: sets with every query right; in brackets 95% intervals."
    )
    return Table(f"amber-{collection}-{k}", title, columns, tuple(rows), (note,))


def _confusion(found: Runs, collection: str) -> Table:
    rows = []
    for task, label, row in by_task(found, collection):
        rates = (row["confusion"]["head"], row["confusion"]["tail"], row["neither"])
        rows.append(Row((task, label, *map(estimate, rates)), section=task))
    names = {"head": "head", "tail": "tail", "neither": "neither found"}
    columns = (
        text_column("task"),
        text_column("system"),
        *(Column(key, name, write_short) for key, name in names.items()),
    )
    title = f"AmbER, {COLLECTION_NAMES[collection]}: does a namesake stand above the right document? (%)"
    note = "Neither found: no document of the whole set; in brackets 95% intervals."
    return Table(f"amber-{collection}-confusion", title, columns, tuple(rows), (note,))


def _relations(found: Runs, ks: Sequence[str]) -> Table:
    depths = {f"first {k}": k for k in ks}
    rows = relation_rows(found, depths, lambda row, key: float(row["accuracy"][depths[key]]), lambda row: int(row["n"]))
    macro = [100 * one["macro"][k] for one in found.values() for k in ks]
    micro = [
        in_percent(one["micro"]["accuracy"][k], one["micro"]["accuracy_ci95"][k]) for one in found.values() for k in ks
    ]
    rows += mean_rows(macro, micro, next(iter(found.values()))["micro"]["n"])
    several = len(found) > 1
    whose = [f"{label}, " if several else "" for label in found for _ in ks]
    intervals = (
        f"{label}{cell.low:.0f}–{cell.high:.0f} among the first {k}"
        for label, cell, k in zip(whose, micro, [*ks] * len(found), strict=True)
    )
    title = "EntityQuestions: do the first documents hold an answer? (%)"
    columns = relation_columns(found, {key: key for key in depths})
    return Table("questions", title, columns, tuple(rows), (f"Micro, 95% intervals: {', '.join(intervals)}.",))


def _buckets(found: Runs, ks: Sequence[str]) -> Table:
    rows = []
    is_marked = any("seen" in row for one in found.values() for row in one["buckets"] or ())
    for label, one in found.items():
        for row in one["buckets"] or ():
            bounds = [row["lowest_frequency"], row["highest_frequency"]]
            known = " to ".join(f"{bound:,}" for bound in bounds) if None not in bounds else None
            for entities, members in (("all", row), *((name, row[name]) for name in SEEN if name in row)):
                marks = [entities] if is_marked else []
                cells = (label, row["bucket"] + 1, known, *marks, members["n"], *_accuracies(members, ks))
                rows.append(Row(cells, section=label))
    columns = (
        text_column("system"),
        text_column("bucket"),
        text_column("frequency"),
        *([text_column("entities")] if is_marked else []),
        Column("n", "n"),
        *(Column(f"first {k}", f"first {k}", write_short) for k in ks),
    )
    title = "EntityQuestions by the frequency of the subject, the rarest first (%)"
    return Table("buckets", title, columns, tuple(rows), ("In brackets 95% intervals.",))


def _accuracies(found: dict[str, Any], ks: Sequence[str]) -> list[Estimate | None]:
    """The accuracy at each k with its interval; None where there are no questions."""
    if not found["n"]:
        return [None] * len(ks)
    return [in_percent(found["accuracy"][k], found["accuracy_ci95"][k]) for k in ks]


def _seen(found: Runs, ks: Sequence[str]) -> Table:
    """Entities that were seen in training and the others, and the difference (section 4.1)."""
    rows = []
    for label, one in found.items():
        for name in SEEN:
            members = one["seen"][name]
            rows.append(Row((label, name, members["n"], *_accuracies(members, ks), *([""] * len(ks))), section=label))
        points = [estimate(one["seen"]["difference"][k], "difference") for k in ks]
        rows.append(Row((label, "seen minus unseen", "", *([""] * len(ks)), *points), section=label))
    columns = (
        text_column("system"),
        text_column("entities"),
        Column("n", "n"),
        *(Column(f"first {k}", f"first {k}", write_short) for k in ks),
        *(Column(f"difference {k}", f"difference, first {k},\npoints", write_points) for k in ks),
    )
    unknown = max(one["seen"]["unknown"] for one in found.values())
    notes = ["In brackets 95% intervals.", *([f"{unknown} questions have no known subject."] if unknown else [])]
    title = "EntityQuestions about entities that were seen in training, and about others (%)"
    return Table("seen", title, columns, tuple(rows), tuple(notes))
