"""The table of what a reader loses with the documents of a retriever, and of who loses it."""

from __future__ import annotations

from collections.abc import Sequence

from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.reporting.retriever_summary import TASK_NAMES
from shadowprobe.reporting.tables.table import Column, Row, Table, estimate, text_column, write_points, write_tenth
from shadowprobe.running.reading_losses import Loss


def losses_table(losses: Sequence[Loss]) -> Table:
    """A row for each run, task and group."""
    rows = []
    for loss in losses:
        part = f"{COLLECTION_NAMES.get(loss.collection, loss.collection)}, {TASK_NAMES.get(loss.task, loss.task)}"
        means = (loss.oracle, loss.retrieved, loss.gap, loss.by_retriever, loss.by_reader)
        rows.append(Row((part, loss.label, loss.group, *map(estimate, means)), section=part))
    columns = (
        text_column("task"),
        text_column("system"),
        text_column("group", "about"),
        Column("oracle", "right\ndocuments", write_tenth),
        Column("retrieved", "retrieved", write_tenth),
        Column("gap", "lost", write_tenth),
        Column("by_retriever", "by the retriever,\npoints", write_points),
        Column("by_reader", "by the reader,\npoints", write_points),
    )
    note = (
        "Lost: the score with the right documents minus that with the retriever's. By the retriever: over the queries"
        " without a right document among those read; by the reader: over the others. In brackets 95% intervals."
    )
    return Table("losses", "AmbER: who loses what is lost end to end? (%)", columns, tuple(rows), (note,))
