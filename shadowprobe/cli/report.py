"""`shadowprobe report`: runs as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common, completion
from shadowprobe.cli.table import DataOption, NameOption, QueriesOption


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            autocompletion=completion.complete_runs,
            help="Directories of finished runs of one kind, over one dataset or collection.",
        ),
    ],
    out: Annotated[
        Path | None, common.out_file("Where to write [RUN/report.html; report.html for several runs].")
    ] = None,
    dataset: DataOption = None,
    queries: QueriesOption = None,
    name: NameOption = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add the rows that the papers on retrieval print, marked as published.")
    ] = False,
    force: common.ForceOption = False,
) -> None:
    """Write a report: one HTML file with the verdict, the tables, the figures and every mention, query or answer.

    It opens from disk and asks nobody for anything. Several runs stand side by side.
    """
    from shadowprobe.report.html.page import write_report
    from shadowprobe.runs.finished import read_runs
    from shadowprobe.runs.results_file import explain_wrong_values

    finished = read_runs(runs, dataset, name or (), warn=common.warn)
    with explain_wrong_values(runs):
        written = write_report(
            finished,
            out,
            dataset=dataset,
            queries=queries,
            published=published,
            force=force,
        )
    common.echo(f"Written to {written}", err=True)
