"""Every pair of systems with its paired tests."""

from __future__ import annotations

from collections.abc import Iterator

from shadowprobe.queries.amber_sets import COLLECTION_NAMES, TASKS
from shadowprobe.reporting.tables.table import (
    NOTHING,
    Column,
    Row,
    Table,
    in_percent,
    text_column,
    write_p_value,
    write_points,
    write_tenth,
)
from shadowprobe.running.comparison import Comparison, Pair

# How the items of each unit are paired, and what a measure over them is a share of.
PAIRED_BY = {
    "snippets": "snippet",
    "names": "name",
    "queries": "query",
    "answers": "query",
    "questions": "question",
    "sets": "set",
}

# What the measures over the items of each unit are; the subsets of the snippets are filled in.
MEANINGS = {
    "snippets": "{}: share of the snippets answered right (R of Table 3).",
    "names": "Overshadowed, prior bias: share of the names that get the same entity in both contexts, and of those"
    " where it is the prior too; a win is a name where only B does so: a system that says nothing wins too. Both right:"
    " share of the names with both contexts right.",
    "queries": "Head, tail: share of the AmbER queries with a gold document among the first documents.",
    "answers": "Head, tail, questions: share of the queries answered exactly right; a claim with its label.",
    "questions": "Questions: share of the questions with an answer in the first documents.",
    "sets": "Complete: share of the sets where every namesake gets its own answer; entity-answer: share of the sets"
    " where every word of the answers and of their entities is there (entity-answer recall of 100%).",
}


def pairs_table(comparison: Comparison) -> Table:
    """Every pair of systems on every measure."""
    several = len(comparison.systems) > 2
    columns = (
        text_column("measure", "measured"),
        text_column("pair", "A − B"),
        Column("first_rate", "A", write_tenth),
        Column("second_rate", "B", write_tenth),
        Column("difference", "A − B, points\n(95% interval)", write_points),
        Column("wins", "win/tie/\nloss"),
        Column("mcnemar_p", "McNemar\np", write_p_value),
        *([Column("holm_p", "p by\nHolm", write_p_value)] if several else []),
        Column("detectable", "at 80%\npower", write_tenth),
    )
    rows = []
    for pair in comparison.pairs:
        cells = (
            name_measure(pair),
            f"{pair.first} − {pair.second}",
            100 * pair.first_rate,
            100 * pair.second_rate,
            in_percent(pair.difference, pair.difference_ci95),
            f"{pair.win}/{pair.tie}/{pair.loss}",
            pair.mcnemar_p,
            *([pair.holm_p] if several else []),
            100 * pair.detectable if pair.detectable is not None else None,
        )
        # At a large k, a small collection leaves nothing to compare.
        is_full = pair.unit in {"queries", "questions"} and min(pair.first_rate, pair.second_rate) >= 1
        rows.append(Row(cells, section=pair.measure if several else "", is_full=is_full))
    units = dict.fromkeys(PAIRED_BY[pair.unit] for pair in comparison.pairs)
    title = f"A against B on {comparison.dataset['name']}, paired by {' and by '.join(units)} (%)"
    return Table("pairs", title, columns, tuple(rows), tuple(_notes(comparison, several=several)))


def name_measure(pair: Pair) -> str:
    """What a pair of systems is compared by."""
    if pair.unit == "snippets":
        return pair.measure.capitalize()
    words = pair.measure.replace("_", " ").replace("@", ": first ")
    if "/" not in words:
        return words
    collection, task, group = words.split("/")
    return f"{COLLECTION_NAMES.get(collection, collection)}, {TASKS.get(task, task)}, {group}"


def _notes(comparison: Comparison, *, several: bool) -> Iterator[str]:
    subsets = dict.fromkeys(pair.measure.capitalize() for pair in comparison.pairs if pair.unit == "snippets")
    units = {pair.unit for pair in comparison.pairs}
    yield from (note.format(", ".join(subsets)) for unit, note in MEANINGS.items() if unit in units)
    rounds, seed = (comparison.settings[f"bootstrap_{key}"] for key in ("rounds", "seed"))
    yield (
        f"Intervals: paired bootstrap, {rounds} rounds, seed {seed}; without width where no pair differs, or every"
        " one does. p: McNemar's exact test, two-sided."
    )
    for drawn, unit in dict.fromkeys((pair.drawn, pair.unit) for pair in comparison.pairs if pair.drawn != pair.unit):
        yield (
            f"The bootstrap draws whole {drawn}, because the {unit} of one depend on each other. McNemar's test takes"
            " them as independent, so that its p may be too small."
        )
    if several:
        yield "p by Holm: corrected over all pairs of systems on one measure."
    yield (
        "At 80% power: the smallest difference, in points, that McNemar's test would find so often at the 5% level, if"
        f" as many items differ as here; {NOTHING}: too few differ for any."
    )
    yield from (f"{note}." for note in comparison.notes)
