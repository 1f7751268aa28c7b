"""`shadowprobe table`: Table 3 or Table 4 of finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError, nearest

if TYPE_CHECKING:
    from shadowprobe.comparison import Comparison
    from shadowprobe.report.tables import Table

RunDatasetOption = Annotated[
    str | None,
    typer.Option("--dataset", "-d", metavar="NAME|DIR", help="The dataset [that which each run was made with]."),
]
NameOption = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="LABEL", help="What to call a run (one for each, in their order)."),
]
PublishedOption = Annotated[
    bool, typer.Option("--published", help="Add the figures that the paper prints, marked and with their source.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="terminal, markdown, csv, latex or json [by the ending of --out, else terminal].",
    ),
]
OutOption = Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write to this file [print it].")]


def table(
    number: Annotated[int, typer.Argument(metavar="3|4", min=3, max=4, help="Which table of the paper.")],
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN]...", help="Run directories.")] = None,
    published: PublishedOption = False,
    format_name: FormatOption = None,
    out: OutOption = None,
    dataset: RunDatasetOption = None,
    name: NameOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Put runs into Table 3 (precision, recall, F1) or Table 4 (is the answer the prior?) of the paper.

    Without a run, --published prints the paper's own table.
    """
    from shadowprobe.comparison import refuse_strangers
    from shadowprobe.report import tables
    from shadowprobe.runs import read_runs

    if not runs and not published:
        raise UsageError("name a run directory, or give --published for the paper's own table")
    chosen, target = output(format_name, out, json=json, force=force)
    found = read_runs(runs or (), dataset, name or ())
    refuse_strangers(found)
    if number == 3:
        made = [tables.table_3(found, with_published=published)]
    else:
        made = [tables.table_4(found)] if found else []
        made += [tables.published_table_4(found)] if published else []
    deliver(chosen, target, made)


def output(format_name: str | None, out: str | None, *, json: bool, force: bool) -> tuple[str, Path | None]:
    """The format and the file that a user asks for; a file that is there is refused before any work."""
    from shadowprobe.report.tables import FORMATS

    target = common.file(out)
    if format_name is not None and format_name not in FORMATS:
        choices = ", ".join(FORMATS)
        raise UsageError(f"--format {format_name}: choose from {choices}{nearest(format_name, FORMATS)}")
    if json and format_name not in {None, "json"}:
        raise UsageError(f"--json and --format {format_name}: give one of them")
    if target is not None and target.is_dir():
        raise UsageError(f"--out {target}: is a directory; name a file")
    if target is not None and target.exists() and not force:
        raise UsageError(f"{target} exists; give another --out, or --force to write over it")
    by_ending = {ending: name for name, ending in FORMATS.items()}
    guessed = by_ending.get(target.suffix.lower(), "terminal") if target is not None else "terminal"
    return "json" if json else format_name or guessed, target


def deliver(chosen: str, target: Path | None, tables: Sequence[Table], found: Comparison | None = None) -> None:
    """Prints tables, or writes them to a file whole."""
    from shadowprobe.dataset import make_directory
    from shadowprobe.jsonl import write_atomically
    from shadowprobe.report.tables import show, written

    if target is not None:
        make_directory(target.parent)
        write_atomically(target, written(chosen, tables, found).encode())
        typer.echo(f"Written to {target}", err=True)
    elif chosen == "terminal":
        show(tables, common.stdout())
    else:
        typer.echo(written(chosen, tables, found), nl=False)
