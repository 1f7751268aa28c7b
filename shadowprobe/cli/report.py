"""`shadowprobe report`: runs as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Directories of finished runs over one dataset.")
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Where to write [RUN/report.html; report.html for several runs]."),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", metavar="NAME|DIR", help="The dataset of the runs [where it was]."),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", metavar="LABEL", help="What to call a run; one for each, in order.")
    ] = None,
    force: common.ForceOption = False,
) -> None:
    """Write a report: one HTML file with the verdict, the tables, the figures and every mention.

    It opens from disk and asks nobody for anything. Several runs stand side by side.
    """
    from shadowprobe.report.html.page import write_report
    from shadowprobe.runs import read_runs

    target = common.file(out)
    typer.echo(f"Written to {write_report(read_runs(runs, dataset, name or ()), target, force=force)}", err=True)
