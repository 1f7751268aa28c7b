"""The agreement of people, with each other and with the probe, on the kinds of answers of AmbigDocs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from shadowprobe.human_study.ambigdocs_sample import CATEGORIES
from shadowprobe.human_study.ambigdocs_score import CategoryAgreement
from shadowprobe.reporting.published import retrieval as papers
from shadowprobe.reporting.tables.table import Column, Row, Table, in_percent, text_column, write_percent

COLUMNS = (
    text_column("pair", ""),
    Column("n", "n"),
    Column("observed", "same kind", write_percent),
    Column("kappa", "Cohen's\nkappa", "{:.3f}".format),
)


def categories_tables(found: CategoryAgreement, *, published: bool = False) -> list[Table]:
    """The agreement of each pair, and which kinds of answers are taken for which."""
    rows = (*_list_pairs(found, "people"), *_list_pairs(found, "automatic"))
    title = "Do people see the same kind of answer?"
    agreement = Table("categories-agreement", title, COLUMNS, rows, tuple(_list_notes(found, published=published)))
    return [agreement, _confusion_table(found)]


def _list_notes(found: CategoryAgreement, *, published: bool) -> Iterator[str]:
    yield "automatic: the probe `ambigdocs`; averages are over pairs; kappa is – where all answers are of one kind."
    if found.unanswered:
        yield f"{found.unanswered} of {found.items} outputs have no answer of anybody; they are left out"
    if published:
        # The measure is not known, so the figures belong to no column.
        figures = ", ".join(f"{pair} {figure}" for pair, figure in papers.AMBIGDOCS_AGREEMENT.items())
        yield f"Printed on the poster of {papers.AMBIGDOCS_SOURCE}, without the measure of agreement: {figures}."


def _list_pairs(found: CategoryAgreement, section: Literal["people", "automatic"]) -> Iterator[Row]:
    pairs = found.people if section == "people" else found.automatic
    for pair in pairs:
        share = (
            in_percent(pair.observed, pair.observed_ci95) if pair.observed is not None and pair.observed_ci95 else None
        )
        yield Row((" and ".join(pair.annotators), pair.n, share, pair.kappa), section=section)
    if len(pairs) > 1:
        mean = found.average[section]
        share_of_pairs = None if mean["observed"] is None else 100 * mean["observed"]
        yield Row((f"average, {section}", "", share_of_pairs, mean["kappa"]), section=section)


def _confusion_table(found: CategoryAgreement) -> Table:
    columns = (
        text_column("people"),
        *(Column(kind, kind.replace("_", " "), group="automatic") for kind in CATEGORIES),
    )
    rows = (Row((own.replace("_", " "), *(found.confusion[own][kind] for kind in CATEGORIES))) for own in CATEGORIES)
    title = "What people call an answer, and what the probe calls it"
    return Table("categories-confusion", title, columns, tuple(rows), ("Counts of the answers of all annotators.",))
