"""`shadowprobe runs`: the runs of a folder, finished or not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def runs(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder of the runs.")] = Path("runs"),
    json: common.JsonOption = False,
) -> None:
    """List runs: the system, the data, when, how far, and the headline figures.

    A run that is not finished is running now, or the command that began it goes on with it.
    """
    from shadowprobe.reporting.tables.runs_tables import runs_tables
    from shadowprobe.running.listing import list_runs

    found = list_runs(folder)
    if json:
        common.print_json(found)
    elif found:
        common.print_tables(runs_tables(found, folder))
    else:
        common.print_lines(f"{folder} has no runs; `shadowprobe run` makes one")
