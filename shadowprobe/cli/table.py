"""`shadowprobe table`: a table of a paper, with finished runs in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.reporting.tables.table import Table
    from shadowprobe.running.comparison import Comparison

# Of directories of trained encoders.
TRAINING = "training"
RunDatasetOption = Annotated[str | None, common.dataset_option("The dataset [that which each run was made with].")]
# Of commands for runs of every kind.
DataOption = Annotated[str | None, common.dataset_option("The dataset, or the collection, of the runs [where it was].")]
QueriesOption = Annotated[
    Path | None,
    typer.Option(
        "--queries", metavar="FILE|DIR", help="The queries of retrievers and language models [where they were]."
    ),
]
NameOption = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="LABEL", help="What to call a run (one for each, in their order)."),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="terminal, markdown, csv, latex, json or html [by the ending of --out, else terminal].",
    ),
]
OutOption = Annotated[Path | None, common.out_file("Write to this file [print it].")]


def table(
    which: Annotated[
        str,
        typer.Argument(
            metavar="summary|3|4|kinds|suspicion|amber|confusion|questions|readers|answers|training",
            help="Which table.",
        ),
    ],
    runs: Annotated[list[Path] | None, common.runs_argument("Run directories.", "[RUN]...")] = None,
    published: common.PublishedOption = False,
    format_name: FormatOption = None,
    out: OutOption = None,
    dataset: RunDatasetOption = None,
    name: NameOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Put runs into a table of the papers, or many runs into one overview.

    Of all systems and datasets: summary (headline figures, verdicts, and which system is best). Of linkers: 3
    (precision, recall, F1), 4 (is the answer the prior?), kinds (which kinds of entities are overshadowed?) and
    suspicion (which answers to doubt). Of retrievers: amber (is the right document among the first k?), confusion (does
    a namesake stand above it?) and questions (EntityQuestions). Of readers: readers (are queries answered, and who
    loses what is lost?). Of language models: answers (AmbigDocs). Of directories of `train-encoder`: training (what it
    gained and lost). Without a run, --published prints the paper's own Table 3 or 4, or those about training.
    """
    from shadowprobe.reporting.tables.named_tables import make_tables
    from shadowprobe.running.finished import check_comparable, read_runs
    from shadowprobe.running.results_file import explain_wrong_values

    if not runs and not published:
        raise UsageError("name a run directory, or give --published for the paper's own table")
    chosen = choose_format(format_name, out, json=json, force=force)
    if which == TRAINING:
        with explain_wrong_values(runs or (), "training.json", "train-encoder --force"):
            deliver(chosen, out, _training_tables(runs or [], name or [], dataset, published=published))
        return
    is_summary = which == "summary"
    finished = read_runs(runs or (), dataset, name or (), warn=common.warn, is_mixed=is_summary)
    if not is_summary:
        check_comparable(finished)
    with explain_wrong_values(runs or ()):
        tables = make_tables(which, finished, published=published)
        deliver(chosen, out, tables)


def _training_tables(
    paths: Sequence[Path], names: Sequence[str], dataset: str | None, *, published: bool
) -> list[Table]:
    """The tables of directories of `train-encoder`, which are no runs."""
    from shadowprobe.reporting.tables.training_tables import make_training_tables
    from shadowprobe.training.record import read_trainings

    if dataset is not None:
        raise UsageError(f"--dataset: goes with runs of linkers; table {TRAINING} needs nothing but the directories")
    return make_training_tables(read_trainings(paths, names), published=published)


def choose_format(format_name: str | None, target: Path | None, *, json: bool, force: bool) -> str:
    """The format that a user chose; a file that exists is refused before any work."""
    from shadowprobe.reporting.tables.rendering import FORMATS

    if format_name is not None:
        common.choose("--format", format_name, tuple(FORMATS))
    if json and format_name not in {None, "json"}:
        raise UsageError(f"--json and --format {format_name}: give one of them")
    if target is not None and target.is_dir():
        raise UsageError(f"--out {target}: is a directory; name a file")
    if target is not None and target.exists() and not force:
        raise UsageError(f"{target} exists; give another --out, or --force to write over it")
    by_ending = {ending: name for name, ending in FORMATS.items()}
    guessed = by_ending.get(target.suffix.lower(), "terminal") if target is not None else "terminal"
    return "json" if json else format_name or guessed


def deliver(chosen: str, target: Path | None, tables: Sequence[Table], comparison: Comparison | None = None) -> None:
    """Prints tables, or writes them to a file whole."""
    from shadowprobe.base.files import make_directory, write_atomically
    from shadowprobe.reporting.tables.rendering import render

    if target is not None:
        make_directory(target.parent)
        write_atomically(target, render(chosen, tables, comparison).encode())
        common.echo(f"Written to {target}", err=True)
    elif chosen == "terminal":
        common.print_tables(tables)
    else:
        common.echo(render(chosen, tables, comparison), end="")
