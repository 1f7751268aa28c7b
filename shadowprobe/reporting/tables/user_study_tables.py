"""The user study of AmbER (Table 8): how often people, retrievers and readers are right on the same questions."""

from __future__ import annotations

from collections.abc import Iterator

from shadowprobe.human_study.agreement import Rate
from shadowprobe.human_study.amber_score import PARTS, Rates, SpanAgreement, SystemScores, UserStudy
from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.reporting.tables.agreement_table import describe_kappa
from shadowprobe.reporting.tables.table import (
    Column,
    Estimate,
    Row,
    Table,
    in_percent,
    percent,
    text_column,
    write_short,
)

SECTIONS = {"annotator": "people", "annotators": "people", "retriever": "systems", "reader": "systems"}


def user_study_tables(found: UserStudy) -> list[Table]:
    """Which of three documents is chosen, and whether the answer matches exactly."""
    # People always choose: an item without a choice is not answered.
    documents = [
        _make_row(one, one.documents, "" if SECTIONS[one.kind] == "people" else one.lacking)
        for one in found.scores
        if one.documents is not None
    ]
    answers = [_make_row(one, one.exact, one.lacking) for one in found.scores if one.exact is not None]
    chosen = Table(
        "user-study-documents",
        "Is the right one of three documents chosen? (%, Table 8 of the paper on AmbER)",
        _make_columns("no choice"),
        tuple(documents),
        tuple(_note_documents(found)),
    )
    marked = Table(
        "user-study-answers",
        "Does the answer match exactly? (%, Table 8 of the paper on AmbER)",
        _make_columns("no answer"),
        tuple(answers),
        tuple(_note_answers(found)),
    )
    return [chosen, marked]


def _make_columns(lacking: str) -> tuple[Column, ...]:
    return (
        text_column("system", ""),
        Column("n", "n"),
        Column("lacking", lacking.replace(" ", "\n")),
        *(Column(part, COLLECTION_NAMES.get(part, part), write_short) for part in PARTS),
    )


def _make_row(one: SystemScores, rates: Rates, lacking: int | str) -> Row:
    cells = (_estimate(rates[part]) for part in PARTS)
    return Row((one.name, rates["all"].n, lacking, *cells), section=SECTIONS[one.kind])


def _estimate(rate: Rate) -> Estimate | None:
    return in_percent(rate.rate, rate.ci95) if rate.rate is not None and rate.ci95 is not None else None


def _note_documents(found: UserStudy) -> Iterator[str]:
    yield "A system that chooses at random is right in 33.3%. In brackets 95% intervals."
    if any(one.kind == "retriever" for one in found.scores):
        yield (
            "A retriever chooses the document that is first in its stored ranking among the three; no choice: none of"
            " them is in it, which counts as wrong."
        )
    if len({one.name for one in found.scores if one.kind == "annotator"}) > 1:
        yield "All annotators: the interval is that of as many answers as there are questions."
    yield from map(describe_kappa, found.kappa)
    if found.unanswered:
        yield f"{found.unanswered} of {found.items} questions have no answer of anybody; they are left out"


def _note_answers(found: UserStudy) -> Iterator[str]:
    yield "Exact match by SQuAD's rule; no answer: nothing is marked or stored, which counts as wrong."
    if any(one.kind == "reader" for one in found.scores):
        yield "A reader is given the right document."
    yield from map(_describe_spans, found.spans)


def _describe_spans(spans: SpanAgreement) -> str:
    names = " and ".join(spans.annotators)
    if spans.exact is None:
        return f"{names}: no answer that both marked in the same document"
    return (
        f"{names}: the same words in {percent(spans.exact)} of the {spans.n} answers that both marked in the same"
        f" document, F1 over words {percent(spans.f1)}"
    )
