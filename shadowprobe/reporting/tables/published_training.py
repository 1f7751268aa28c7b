"""The tables of the paper on EntityQuestions about trained encoders, as they are printed."""

from __future__ import annotations

from shadowprobe.reporting.published import retrieval as papers
from shadowprobe.reporting.tables.table import MARK, Column, Row, Table, text_column, write_tenth

SOURCE = f"{MARK.strip()}: as printed in {papers.ENTITY_QUESTIONS_SOURCE}; the first 20 documents, on other data."


def published_tables() -> list[Table]:
    """Tables 2, 3 and 4; their source is below the last."""
    return [_table_2(), _table_3(), _table_4().with_notes(SOURCE)]


def _table_2() -> Table:
    columns = [text_column("system"), *(_figures(relation) for relation in papers.TRAINED_RELATIONS)]
    rows = (Row((system, *figures), published=True) for system, figures in papers.FINE_TUNING.items())
    note = "FT: fine-tuned on one question pattern; similar: on other words for it; OnlyP, OnlyQ: one encoder alone."
    title = "Published Table 2: fine-tuning on one relation, by relation (%)"
    return Table("published-training-2", title, tuple(columns), tuple(rows), (note,))


def _table_3() -> Table:
    columns = (text_column("relation"), text_column("system"), *map(_figures, ("NQ", "Rel", "EntityQ.")))
    rows = (
        Row((relation, system, *figures), published=True, section=relation)
        for relation, systems in papers.AUGMENTATION.items()
        for system, figures in systems.items()
    )
    note = "NQ: Natural Questions; Rel: the relation that was trained; EntityQ.: the mean over all relations."
    title = "Published Table 3: one relation alone, and mixed with Natural Questions (%)"
    return Table("published-training-3", title, columns, tuple(rows), (note,))


def _table_4() -> Table:
    columns = (text_column("system"), _figures("EntityQ."))
    rows = (Row((system, figure), published=True) for system, figure in papers.QUESTION_ENCODERS.items())
    title = "Published Table 4: question encoders over a fixed index (%)"
    return Table("published-training-4", title, columns, tuple(rows))


def _figures(name: str) -> Column:
    return Column(name, name, write_tenth)
