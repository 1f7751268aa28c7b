"""What a screen and a page say of a language model: does every namesake get its own answer?"""

from __future__ import annotations

from collections.abc import Iterator

from shadowprobe.reporting.tables.table import (
    Column,
    Results,
    Row,
    Runs,
    Table,
    in_percent,
    percent,
    select_probe,
    text_column,
    write_percent,
)

AMBIGDOCS = "ambigdocs"
CATEGORIES = {
    "complete": "all, each with its entity",
    "partial": "some, each with its entity",
    "no_answer": "none at all",
    "ambiguous": "one, without its entity",
    "merged": "several, mixed up",
}
RECALLS = {"answer_recall": "answer", "entity_recall": "entity", "entity_answer_recall": "entity-answer"}
# The probe that the tables show.
SHOWN = {AMBIGDOCS}


def describe_size(results: Results) -> str:
    """How many sets of documents a run is over."""
    queries = results["queries"]
    limited = f", limited to the first {queries['limit']}" if queries["limit"] is not None else ""
    return f"{queries['sets']} sets{limited}"


def list_examples(results: Results) -> Iterator[tuple[str, str]]:
    """An answer of each kind that is not complete, after its question."""
    for kind, example in results["probes"].get(AMBIGDOCS, {}).get("examples", {}).items():
        question = f"{kind.replace('_', ' ')}, as in {_printable(example['id'])}: {_printable(example['question'])}"
        yield question, _printable(example["answer"])


def _printable(text: str) -> str:
    """A text on one line, without characters that would control a terminal."""
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))


def describe_verdict(results: Results) -> str:
    """How often every namesake gets its own answer, and how much of the answers is there."""
    found = results["probes"].get(AMBIGDOCS, {})
    if "categories" not in found:
        return "was not asked whether every namesake gets its own answer."
    shares = {kind: percent(row["share"], row["share_ci95"]) for kind, row in found["categories"].items()}
    recall = percent(found["entity_answer_recall"], found["entity_answer_recall_ci95"])
    return (
        f"gives every namesake its own answer to {shares['complete']} of {found['n']} questions, one answer without"
        f" saying whose it is to {shares['ambiguous']}, and several mixed up to {shares['merged']}; entity-answer"
        f" recall is {recall}, with 95% intervals."
    )


def list_warnings(results: Results) -> Iterator[str]:
    """What changes the meaning of a figure."""
    documents, found = results["queries"]["documents"], results["probes"].get(AMBIGDOCS, {})
    if documents is not None:
        yield f"only the first {documents} documents of a set count"
    if found.get("wordless"):
        yield f"{found['wordless']} documents have an answer of stop words alone, which no output can give"
    if results["missing"]:
        yield f"{results['missing']} sets have no answer (failed or not in the file); they count as no answer"


def make_tables(runs: Runs) -> list[Table]:
    """AmbigDocs: recall and categories, and what is given of the document at each position, where some run has them."""
    measured = {label: found for label, found in select_probe(runs, AMBIGDOCS).items() if "categories" in found}
    if not measured:
        return []
    placed = {label: found for label, found in measured.items() if "given" in found.get("positions", {})}
    return [_recalls(measured), _categories(measured), *([_positions(placed)] if placed else [])]


def _recalls(measured: Runs) -> Table:
    """How much of the answers and of their entities is there, by the number of documents of a set."""
    rows = []
    for label, found in measured.items():
        for size, row in _sizes(found):
            recalls = (in_percent(row[key], row[f"{key}_ci95"]) for key in RECALLS)
            rows.append(Row((label, size, row["n"], *recalls), section=label))
    columns = (
        text_column("system"),
        text_column("documents"),
        Column("sets", "sets"),
        *(
            Column(key, f"{name}\nrecall", write_percent, is_bold=key == "entity_answer_recall")
            for key, name in RECALLS.items()
        ),
    )
    title = "How much of the answers and of their entities is there? (recall, AmbigDocs)"
    return Table("recall", title, columns, tuple(rows), ("By the number of documents of a set; 95% intervals.",))


def _categories(measured: Runs) -> Table:
    """The share of each kind of answer, a column for each run and number of documents."""
    several = len(measured) > 1
    parts = [(label, size, row) for label, found in measured.items() for size, row in _sizes(found)]
    columns = (
        text_column("category", "answer", is_bold=True),
        text_column("meaning", "the answers in it"),
        *(
            Column(
                f"{label} {size}",
                "all" if size == "all" else f"{size}\ndocuments",
                write_percent,
                label if several else "",
            )
            for label, size, _ in parts
        ),
    )
    rows = []
    for kind, meaning in CATEGORIES.items():
        shares = [(size, row["categories"][kind]) for _, size, row in parts]
        cells = (
            in_percent(share["share"], share["share_ci95"]) if size == "all" else 100 * share["share"]
            for size, share in shares
        )
        rows.append(Row((kind.replace("_", " "), meaning, *cells)))
    title = "What kind of answers are they? (shares of the sets, AmbigDocs)"
    return Table("categories", title, columns, tuple(rows))


def _positions(measured: Runs) -> Table:
    """How often the answer of the document at each position is given, a row for each run and position."""
    rows = []
    for label, found in measured.items():
        given, with_entity = (found["positions"][key] for key in ("given", "with_entity"))
        for position, share in given.items():
            shares = (in_percent(one["rate"], one["ci95"]) for one in (share, with_entity[position]))
            rows.append(Row((label, position, share["n"], *shares), section=label))
    columns = (
        text_column("system"),
        text_column("position", "document"),
        Column("sets", "sets"),
        Column("given", "its answer\nis given", write_percent, is_bold=True),
        Column("with_entity", "with its\nentity", write_percent),
    )
    notes = ("By the position of a document among those that the model saw; 95% intervals.",)
    title = "Is the first document favoured? (AmbigDocs)"
    return Table("positions", title, columns, tuple(rows), (*notes, *map(_compare_ends, measured, measured.values())))


def _compare_ends(label: str, found: Results) -> str:
    """How often the answer of the first document of a set is given, and that of the last one is not."""
    ends = found["positions"]["first_minus_last"]
    points = in_percent(ends["difference"], ends["ci95"])
    verdicts = {"first": "the first is favoured", "last": "the last is favoured"}
    return (
        f"{label}: first minus last document of a set {points.value:+.1f} points ({points.low:+.1f} to"
        f" {points.high:+.1f}); the first alone in {ends['first_only']} of {ends['sets']} sets, the last alone in"
        f" {ends['last_only']}, McNemar's p {ends['mcnemar_p']:.2g}: {verdicts.get(ends['verdict'], 'undecided')}."
    )


def _sizes(found: Results) -> Iterator[tuple[str, Results]]:
    """The findings on all sets, then by their number of documents where there are several."""
    yield "all", found
    if len(found["by_documents"]) > 1:
        yield from found["by_documents"].items()
