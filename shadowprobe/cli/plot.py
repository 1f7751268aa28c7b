"""`shadowprobe plot`: a figure of one or several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def plot(
    figure: Annotated[
        str | None, typer.Argument(metavar="[FIGURE]", help="Which figure; without one they are listed.")
    ] = None,
    runs: Annotated[list[Path] | None, typer.Argument(metavar="RUN...", help="Run directories.")] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="A .png, .svg or .pdf file [FIGURE.png].")
    ] = None,
    width: Annotated[str, typer.Option("--width", help="Columns of a page: one or two.")] = "one",
    dataset: Annotated[
        str | None, typer.Option("--dataset", "-d", metavar="NAME|DIR", help="The dataset [that of each run].")
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="What to call a run, once for each in their order.")
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option("--collection", metavar="human|nonhuman", help="Of AmbER sets only these [all that there are]."),
    ] = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Draw a figure for a paper: fonts are embedded, and it reads in grey and by colour-blind readers.

    The same system has the same colour in every figure over the same runs.
    """
    from shadowprobe import figures

    if figure is None:
        _list(json=json)
        return
    target = common.file(out) or Path(f"{figure}.png")
    how = {"width": width, "dataset": dataset, "names": name or (), "collection": collection}
    figures.write(figure, runs or [], target, force=force, **how)
    if json:
        common.print_json({"figure": figure, "file": str(target)})
    typer.echo(f"Written to {target}", err=True)


def _list(*, json: bool) -> None:
    from shadowprobe import figures

    found = list(figures.listed())
    if json:
        common.print_json([{"name": name, "about": about} for name, about in found])
        return
    from shadowprobe.figures.listing import figures_table

    common.stdout().print(figures_table(found))
