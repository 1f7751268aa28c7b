"""What a language model makes of documents on namesakes, as one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shadowprobe.report.verdict import percent
from shadowprobe.results import Results

PROBE = "ambigdocs"
CATEGORIES = {
    "complete": "all, each with its entity",
    "partial": "some, each with its entity",
    "no_answer": "none at all",
    "ambiguous": "one, without its entity",
    "merged": "several, mixed up",
}
RECALLS = {"answer_recall": "answer", "entity_recall": "entity", "entity_answer_recall": "entity-answer"}


def show(results: Results, console: Console) -> None:
    """Prints the recall, the categories, an example of each failure, and what a careful reader must know besides."""
    model, queries = results["model"], results["queries"]
    heading = Text(f"{model['name']} on {queries['name']}", style="bold")
    limited = f", limited to the first {queries['limit']}" if queries["limit"] is not None else ""
    heading.append(f"   {queries['sets']} sets{limited}", style="not bold dim")
    console.print(heading)
    console.print()
    found = results["probes"].get(PROBE, {})
    if "categories" in found:
        for table in (_recall(found), _categories(found)):
            console.print(table)
            console.print()
    for line in _lines(results, found):
        console.print(line, highlight=False)


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="", box=box.SIMPLE_HEAD, pad_edge=False)


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "all", found
    if len(found["by_documents"]) > 1:
        yield from found["by_documents"].items()


def _recall(found: dict[str, Any]) -> Table:
    table = _table("How much of the answers and of their entities is there? (recall, AmbigDocs)")
    table.add_column("documents")
    table.add_column("sets", justify="right")
    for name in RECALLS.values():
        table.add_column(name, justify="right", style="bold" if name == "entity-answer" else "")
    for label, row in _rows(found):
        shares = (percent(row[name], row[f"{name}_ci95"]) for name in RECALLS)
        table.add_row(label, str(row["n"]), *shares)
    return table


def _categories(found: dict[str, Any]) -> Table:
    table = _table("What kind of answers are they?")
    rows = list(_rows(found))
    table.add_column("answer")
    table.add_column("")
    for label, _ in rows:
        table.add_column(label if label == "all" else f"{label} documents", justify="right")
    for kind, meaning in CATEGORIES.items():
        shares = [row["categories"][kind] for _, row in rows]
        cells = [percent(shares[0]["share"], shares[0]["share_ci95"]), *(percent(one["share"]) for one in shares[1:])]
        table.add_row(kind.replace("_", " "), Text(meaning, style="dim"), *cells)
    return table


def _lines(results: Results, found: dict[str, Any]) -> Iterator[Text]:
    for kind, example in found.get("examples", {}).items():
        yield Text(f"{kind.replace('_', ' ')}, as in {_plain(example['id'])}: {_plain(example['question'])}")
        yield Text(f"  {_plain(example['answer'])}", style="dim")
    if "not_measured" in found:
        yield Text(f"{PROBE} not measured: {found['not_measured']}", style="dim")
    for name, others in results["probes"].items():
        if name != PROBE:
            yield Text(f"{name}: {len(others)} findings in results.json", style="dim")
    shown = results["queries"]["documents"]
    if shown is not None:
        yield Text(f"only the first {shown} documents of a set count", style="yellow")
    if found.get("wordless"):
        yield Text(
            f"{found['wordless']} documents have an answer of stop words alone, which no output can give",
            style="yellow",
        )
    if results["missing"]:
        yield Text(
            f"{results['missing']} sets have no answer (failed or not in the file); they count as no answer",
            style="yellow",
        )
    for note in results["notes"]:
        yield Text(f"note: {note}", style="dim")


def _plain(text: str) -> str:
    """Words of others as a terminal may show them: on one line, and without what it would obey."""
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
