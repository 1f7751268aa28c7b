"""The results of a run of retrieval as one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shadowprobe.results import Results
from shadowprobe.retrieval import published as papers
from shadowprobe.retrieval.amber_sets import TASKS

COLLECTIONS = {"human": "people", "nonhuman": "things", "sets": "all sets"}
GROUPS = ("all", "head", "tail")
MARK, NOTHING = " †", "–"
# As wide as an interval and as the longest word of a task, so that a narrow terminal parts neither.
NARROWEST = 9


def show(results: Results, console: Console, *, published: bool = False) -> None:
    """Prints the tables of each probe, and what a careful reader must know besides."""
    retriever, collection = results["retriever"], results["collection"]
    options = " ".join(f"{key}={value}" for key, value in retriever["options"].items())
    heading = Text(f"{retriever['name']}{f' ({options})' if options else ''} on {collection['name']}", style="bold")
    console.print(heading)
    console.print()
    probes = results["probes"]
    for table in (
        *_amber(probes.get("amber", {}), retriever["name"], published),
        *_questions(probes.get("entity_questions", {}), retriever["name"], published),
    ):
        console.print(table)
        console.print()
    for line in _lines(results, published):
        console.print(line)


def _table(title: str, texts: Sequence[str], numbers: Sequence[str], narrowest: int = NARROWEST) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="",
        caption_justify="left",
        caption_style="dim",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    # Folded rather than cut off: a figure without its last digits is another one.
    for column in texts:
        table.add_column(Text(column), min_width=min(len(column), NARROWEST), overflow="fold")
    for column in numbers:
        table.add_column(Text(column), justify="right", min_width=narrowest, overflow="fold")
    return table


def _amber(found: dict[str, Any], name: str, published: bool) -> Iterator[Table]:
    for collection, tasks in found.items():
        for k in _ks(tasks):
            yield _amber_accuracy(collection, tasks, k, name, published)
        yield _amber_confusion(collection, tasks, name, published)


def _ks(tasks: dict[str, Any]) -> list[str]:
    return list(next(iter(tasks.values()))["accuracy"])


def _amber_accuracy(collection: str, tasks: dict[str, Any], k: str, name: str, published: bool) -> Table:
    """Table 5 or 9 of the paper: the gold document among the first k."""
    title = f"AmbER, {COLLECTIONS.get(collection, collection)}: is the right document among the first {k}? (%)"
    smallest = k == _ks(tasks)[0]
    gaps = ["head minus tail"] if smallest else []
    table = _table(title, _texts(published), [*GROUPS, "∀", *gaps])
    for task, row in tasks.items():
        rates = [_percent(row["accuracy"][k][group]) for group in GROUPS]
        gap = [_points(row["gap"])] if smallest else []
        table.add_row(*_whose(task, name, published), *rates, _percent(row["all_correct"][k]), *gap)
        for system, rows in papers.AMBER_BY_K.get(int(k), {}).get(collection, {}).items() if published else ():
            cells = [NOTHING if value is None else f"{value:.1f}" for value in rows.get(task, ())]
            if cells:
                table.add_row("", f"{system}{MARK}", *cells, style="dim")
    counts = next(iter(tasks.values()))
    sets = f"{counts['sets']} sets of {counts['entities']} entities"
    table.caption = f"{sets}; ∀: sets with every query right; in brackets 95% intervals"
    return table


def _amber_confusion(collection: str, tasks: dict[str, Any], name: str, published: bool) -> Table:
    """Table 6 of the paper: a namesake's document above the gold one."""
    title = f"AmbER, {COLLECTIONS.get(collection, collection)}: does a namesake stand above the right document? (%)"
    table = _table(title, _texts(published), ["head", "tail", "neither found"])
    for task, row in tasks.items():
        cells = [_percent(row["confusion"][group]) for group in ("head", "tail")]
        table.add_row(*_whose(task, name, published), *cells, _percent(row["neither"]))
        for system, rows in papers.AMBER_CONFUSION.get(collection, {}).items() if published else ():
            cells = [f"{value:.1f}" for value in rows.get(task, ())]
            if cells:
                table.add_row("", f"{system}{MARK}", *cells, style="dim")
    return table


def _texts(published: bool) -> list[str]:
    """The first columns: whose row it is need only be said where there are several."""
    return ["task", "retriever"] if published else ["task"]


def _whose(task: str, name: str, published: bool) -> list[Text]:
    return [Text(TASKS.get(task, task)), *([Text(name, style="bold")] if published else [])]


def _questions(found: dict[str, Any], name: str, published: bool) -> Iterator[Table]:
    """EntityQuestions, Table 5: an answer among the first k documents, by relation."""
    if not found:
        return
    ks = list(found["macro"])
    shown = papers.SYSTEMS if published and "20" in ks else ()
    columns = [f"first {k}" for k in ks] + [f"{system}{MARK}" for system in shown]
    title = f"EntityQuestions: do the first documents of {name} hold an answer? (%)"
    table = _table(title, ["relation", "question"], ["n", *columns], narrowest=5)
    for relation, row in found["relations"].items():
        theirs = papers.ENTITY_QUESTIONS.get(relation, ()) if shown else ()
        cells = [f"{100 * row['accuracy'][k]:.1f}" for k in ks] + [f"{value:.1f}" for value in theirs]
        table.add_row(relation, row["question"] or "", str(row["n"]), *cells)
    table.add_section()
    macro = [f"{100 * found['macro'][k]:.1f}" for k in ks]
    micro = [f"{100 * found['micro']['accuracy'][k]:.1f}" for k in ks]
    table.add_row("macro", "mean over the relations", "", *macro, *(f"{v:.1f}" for v in papers.MACRO if shown))
    table.add_row(
        "micro", "over all questions", str(found["micro"]["n"]), *micro, *(f"{v:.1f}" for v in papers.MICRO if shown)
    )
    intervals = [f"{_bounds(found['micro']['accuracy_ci95'][k])} among the first {k}" for k in ks]
    table.caption = f"micro, 95% intervals: {', '.join(intervals)}"
    if shown:
        table.caption += f"; {MARK.strip()}: published, among the first 20"
    yield table
    if found["buckets"]:
        yield _buckets(found["buckets"], ks)


def _buckets(rows: list[dict[str, Any]], ks: list[str]) -> Table:
    title = "By the frequency of the subject, the rarest first (%)"
    table = _table(title, ["bucket", "frequency"], ["n", *(f"first {k}" for k in ks)])
    for row in rows:
        bounds = [row["lowest_frequency"], row["highest_frequency"]]
        known = " to ".join(f"{bound:,}" for bound in bounds) if None not in bounds else ""
        cells = [_rate(row["accuracy"][k], row["accuracy_ci95"][k]) for k in ks]
        table.add_row(str(row["bucket"] + 1), known, str(row["n"]), *cells)
    return table


def _lines(results: Results, published: bool) -> Iterator[Text]:
    if published:
        for name, source in (("amber", papers.AMBER_SOURCE), ("entity_questions", papers.ENTITY_QUESTIONS_SOURCE)):
            if name in results["probes"]:
                yield Text(f"†  as printed in {source}, on other data and other documents", style="dim")
    if results["missing"]:
        yield Text(f"{results['missing']} queries have no ranking; they count as wrong", style="yellow")
    for note in results["notes"]:
        yield Text(f"note: {note}", style="dim")


def _percent(found: dict[str, Any] | None) -> str:
    return NOTHING if found is None else _rate(found["rate"], found["ci95"])


def _rate(rate: float, interval: list[float]) -> str:
    return f"{100 * rate:.1f} ({_bounds(interval)})"


def _bounds(interval: list[float]) -> str:
    return f"{100 * interval[0]:.0f}–{100 * interval[1]:.0f}"


def _points(gap: dict[str, Any] | None) -> str:
    if gap is None:
        return NOTHING
    low, high = (f"{100 * bound:+.0f}" for bound in gap["ci95"])
    return f"{100 * gap['difference']:+.1f} ({low} to {high})"
