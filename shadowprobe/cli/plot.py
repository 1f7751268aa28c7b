"""`shadowprobe plot`: a figure of one or several runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.cli.table import NameOption, RunDatasetOption
from shadowprobe.errors import UsageError


def plot(
    figure: Annotated[
        str | None,
        typer.Argument(
            metavar="[FIGURE]",
            autocompletion=common.complete("figures"),
            help="The figure; without one, all figures are listed.",
        ),
    ] = None,
    runs: Annotated[list[Path] | None, common.runs_argument("Run directories.")] = None,
    out: Annotated[Path | None, common.out_file("A .png, .svg or .pdf file [FIGURE.png].")] = None,
    width: Annotated[str, typer.Option(help="Columns of a page: one or two.")] = "one",
    dataset: RunDatasetOption = None,
    name: NameOption = None,
    collection: Annotated[
        str | None, typer.Option(metavar="human|nonhuman", help="Of AmbER sets only these [all that there are].")
    ] = None,
    order: Annotated[
        list[str] | None, typer.Option(metavar="SYSTEM", help="Which system comes first, then next (repeat it).")
    ] = None,
    colour: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM=COLOUR", help="The colour of a system: #RRGGBB or teal (repeat it)."),
    ] = None,
    serif: Annotated[bool, typer.Option("--serif", help="A serif font, as the text of most papers has.")] = False,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Draw a figure for a paper: fonts are embedded, and it is readable in grey and by colour-blind readers.

    A system has the same colour in every figure, unless another one has it already; --colour chooses it.
    """
    if figure is None:
        from shadowprobe.cli.listings import figures as list_figures

        list_figures(json=json)
        return
    from shadowprobe.reporting import figures
    from shadowprobe.running.results_file import explain_wrong_values

    target = out or Path(f"{figure}.png")
    settings = {
        "width": width,
        "dataset": dataset,
        "names": name or (),
        "collection": collection,
        "order": order or (),
        "colours": _read_colours(colour or ()),
        "serif": serif,
        "warn": common.warn,
    }
    of_training = figures.FIGURES.get(figure) == figures.TRAINING
    source = ("training.json", "train-encoder --force") if of_training else ()
    with explain_wrong_values(runs or (), *source):
        figures.write(figure, runs or [], target, force=force, **settings)
    if json:
        common.print_json({"figure": figure, "file": str(target)})
    common.echo(f"Written to {target}", err=True)


def _read_colours(pairs: Sequence[str]) -> dict[str, str]:
    """The colours by system; the name of a system may itself have an equals sign."""
    for pair in pairs:
        if "=" not in pair:
            raise UsageError(f"--colour {pair}: give SYSTEM=COLOUR, such as bm25=teal")
    return {system: colour for system, _, colour in (pair.rpartition("=") for pair in pairs)}
