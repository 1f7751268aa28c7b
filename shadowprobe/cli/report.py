"""`shadowprobe report`: runs as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Directories of finished runs of one kind, over one dataset or collection."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Where to write [RUN/report.html; report.html for several runs]."),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", "-d", metavar="NAME|DIR", help="The dataset, or the collection, of the runs [where it was]."
        ),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries", metavar="FILE|DIR", help="The queries of retrievers and language models [the built-in ones]."
        ),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", metavar="LABEL", help="What to call a run; one for each, in order.")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add the rows that the papers on retrieval print, marked as published.")
    ] = False,
    force: common.ForceOption = False,
) -> None:
    """Write a report: one HTML file with the verdict, the tables, the figures and every mention, query or answer.

    It opens from disk and asks nobody for anything. Several runs stand side by side.
    """
    from shadowprobe.report.html.writing import write_report_of

    written = write_report_of(
        runs,
        common.file(out),
        dataset=dataset,
        queries=queries,
        names=name or (),
        published=published,
        force=force,
    )
    typer.echo(f"Written to {written}", err=True)
