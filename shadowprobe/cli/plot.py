"""`shadowprobe plot`: a figure of one or several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common, completion
from shadowprobe.cli.table import NameOption, RunDatasetOption


def plot(
    figure: Annotated[
        str | None,
        typer.Argument(
            metavar="[FIGURE]",
            autocompletion=completion.complete_figures,
            help="The figure; without one, all figures are listed.",
        ),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN...", autocompletion=completion.complete_runs, help="Run directories."),
    ] = None,
    out: Annotated[Path | None, common.out_file("A .png, .svg or .pdf file [FIGURE.png].")] = None,
    width: Annotated[str, typer.Option("--width", help="Columns of a page: one or two.")] = "one",
    dataset: RunDatasetOption = None,
    name: NameOption = None,
    collection: Annotated[
        str | None,
        typer.Option("--collection", metavar="human|nonhuman", help="Of AmbER sets only these [all that there are]."),
    ] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Draw a figure for a paper: fonts are embedded, and it is readable in grey and by colour-blind readers.

    The same system has the same colour in every figure over the same runs.
    """
    if figure is None:
        from shadowprobe.cli.listings import figures as list_figures

        list_figures(json=json)
        return
    from shadowprobe.report import figures
    from shadowprobe.runs.results_file import explain_wrong_values

    target = out or Path(f"{figure}.png")
    settings = {"width": width, "dataset": dataset, "names": name or (), "collection": collection, "warn": common.warn}
    with explain_wrong_values(runs or ()):
        figures.write(figure, runs or [], target, force=force, **settings)
    if json:
        common.print_json({"figure": figure, "file": str(target)})
    common.echo(f"Written to {target}", err=True)
