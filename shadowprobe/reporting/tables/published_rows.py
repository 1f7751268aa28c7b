"""The figures that the papers on retrieval and reading print, added to the tables of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec import structs

from shadowprobe.queries.amber_sets import TASKS
from shadowprobe.reporting.published import retrieval as papers
from shadowprobe.reporting.tables.table import MARK, Column, Row, Table, write_tenth

# The number of documents in the table of the paper on EntityQuestions.
K = 20
USER_STUDY = {
    "user-study-documents": papers.AMBER_THREE_DOCUMENTS,
    "user-study-answers": papers.AMBER_EXACT_MATCH,
}


def add_published(tables: Sequence[Table]) -> list[Table]:
    """The same tables with the rows or columns of the papers, and their sources below the last that has some."""
    added = [_add(table) for table in tables]
    notes: dict[str, str] = {}
    for table, before in zip(added, tables, strict=True):
        if table is not before:
            source = papers.ENTITY_QUESTIONS_SOURCE if table.key == "questions" else papers.AMBER_SOURCE
            notes[source] = table.key
    for source, key in notes.items():
        note = f"{MARK.strip()}: as printed in {source}, on other data and other documents."
        added = [table.with_notes(note) if table.key == key else table for table in added]
    return added


def _add(table: Table) -> Table:
    """The table with what a paper has for it; the same one where it has nothing."""
    if table.key == "questions":
        return _add_questions(table)
    if table.key.startswith("reading-"):
        return _add_systems(table, papers.AMBER_READING.get(table.key.removeprefix("reading-"), {}))
    if table.key in USER_STUDY:
        return _add_user_study(table)
    if not table.key.startswith("amber-"):
        return table
    _, collection, what = table.key.split("-")
    if what == "confusion":
        return _add_systems(table, papers.AMBER_CONFUSION.get(collection, {}))
    return _add_systems(table, papers.AMBER_BY_K.get(int(what), {}).get(collection, {}))


def _add_systems(table: Table, systems: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Table:
    """Rows for the systems of the paper below those of the runs, task by task."""
    rows: list[Row] = []
    keys = {name: task for task, name in TASKS.items()}
    for task, measured in groupby(table.rows, key=lambda row: row.section):
        rows += measured
        for system, figures in systems.items():
            if keys.get(task) in figures:
                cells = (task, system, *figures[keys[task]])
                # What only runs have.
                nothing = (None,) * (len(table.columns) - len(cells))
                rows.append(Row((*cells, *nothing), published=True, section=task))
    return structs.replace(table, rows=tuple(rows)) if len(rows) > len(table.rows) else table


def _add_user_study(table: Table) -> Table:
    """Rows of Table 8, which has figures for people and for things only."""
    rows = []
    for system, (people, things) in USER_STUDY[table.key].items():
        figures = {"system": system, "n": "", "lacking": "", "human": people, "nonhuman": things}
        cells = tuple(figures.get(column.key) for column in table.columns)
        rows.append(Row(cells, published=True, section="published"))
    return structs.replace(table, rows=(*table.rows, *rows))


def _add_questions(table: Table) -> Table:
    """Columns for the systems of the paper, and a row for what they reach on Natural Questions."""
    if not any(column.name == f"first {K}" for column in table.columns):
        return table
    columns = (Column(f"{system} published", f"first {K}", write_tenth, f"{system}{MARK}") for system in papers.SYSTEMS)
    figures = {**papers.ENTITY_QUESTIONS, "macro": papers.MACRO, "micro": papers.MICRO}
    nothing = (None,) * len(papers.SYSTEMS)
    rows = [structs.replace(row, cells=(*row.cells, *figures.get(row.cells[0], nothing))) for row in table.rows]
    unknown = (None,) * (len(table.columns) - 4)
    natural = ("NQ", "", "Natural Questions", "", *unknown, *papers.NATURAL_QUESTIONS)
    rows.append(Row(natural, published=True, section=rows[-1].section))
    return structs.replace(table, columns=(*table.columns, *columns), rows=tuple(rows))
