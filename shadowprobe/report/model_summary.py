"""What a screen and a page say of a language model: does every namesake get its own answer?"""

from __future__ import annotations

from collections.abc import Iterator

from shadowprobe.report.tables.answering_tables import AMBIGDOCS
from shadowprobe.report.tables.answering_tables import answering_tables as make_tables
from shadowprobe.report.tables.table import Results, percent

__all__ = ["SHOWN", "describe_size", "describe_verdict", "list_examples", "list_warnings", "make_tables"]

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
