"""`shadowprobe gerbil`: an experiment on a GERBIL instance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common

if TYPE_CHECKING:
    from shadowprobe.gerbil.experiment import Watch

app = typer.Typer(rich_markup_mode=None)
UrlOption = Annotated[
    str, typer.Option("--url", metavar="URL", help="The instance, such as http://gerbil.aksw.org/gerbil.")
]


@app.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """An experiment on a GERBIL instance: the totals of annotators that only GERBIL can reach."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("run", short_help="Upload the gold, run an annotator, print its totals.")
def run(
    url: UrlOption,
    annotator: Annotated[
        list[str],
        typer.Option(
            "--annotator",
            "-a",
            metavar="NAME|[NAME=]URL",
            help="An annotator of GERBIL's list, or a NIF service (may be repeated).",
        ),
    ],
    dataset: common.DatasetOption,
    subset: Annotated[
        list[str] | None,
        typer.Option("--subset", metavar="NAME", help="Only this subset (may be repeated) [all with gold]."),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Where gerbil.json goes [runs/gerbil-ANNOTATOR-DATASET].")
    ] = None,
    poll: Annotated[float, typer.Option("--poll", min=0.05, metavar="SECONDS", help="The pause between looks.")] = 5.0,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", min=1, metavar="SECONDS", help="How long to wait for the start, then for the totals."
        ),
    ] = 7200.0,
    experiment: Annotated[
        str | None, typer.Option("--experiment", metavar="ID", help="Read this experiment and start none.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Forget the experiment in --out and start anew.")] = False,
    json: common.JsonOption = False,
) -> int:
    """Run annotators over a dataset's gold on GERBIL: Table 3, and no probes, since GERBIL returns no answers.

    The texts and the gold (as DBpedia URIs) are uploaded to the instance, and stay there. The same command again goes
    on with the same experiment. Exit 1: done, but a task failed.
    """
    from shadowprobe.gerbil.experiment import Job

    opened = common.open_dataset(dataset)
    job = Job(url, annotator, opened, subsets=subset or (), out=common.directory(out), location=dataset)
    job.instance.limit(timeout)
    card = job.start(force=force, experiment=experiment)
    words = "is done" if card.finished else "goes on" if job.resumed or experiment else "started"
    typer.echo(f"experiment {card.experiment} {words}: {card.page}", err=True)
    try:
        with _waiting(card.experiment) as watch:
            done = job.finish(card, poll=poll, timeout=timeout, watch=watch)
    except KeyboardInterrupt:
        typer.echo(f"experiment {card.experiment} goes on at GERBIL: {card.page}", err=True)
        raise
    if json:
        common.print_json(done)
    else:
        from shadowprobe.report.gerbil_table import note_lines, scores_table

        names = ", ".join(str(one["name"]) for one in done.annotators)
        common.stdout().print(scores_table(done.rows, f"{names} on {opened.name}, by GERBIL (D2KB)"))
        for line in note_lines(done.notes):
            common.stdout().print(line)
    typer.echo(f"Written to {job.out}/", err=True)
    return _code(failed=done.failed, again=True)


@app.command("show", short_help="Print the totals of an experiment, whoever started it.")
def show(
    experiment: Annotated[str, typer.Argument(metavar="ID", help="The id of the experiment.")],
    url: UrlOption,
    json: common.JsonOption = False,
) -> int:
    """Print the tasks of an experiment as they are now; writes nothing. Exit 1: a task failed or still runs."""
    from shadowprobe.gerbil.client import Instance
    from shadowprobe.gerbil.experiment import look, rows_of, score_notes
    from shadowprobe.gerbil.page import DONE

    instance = Instance(url)
    # Only the names of all annotators tell, in an experiment of others, which name is that of the dataset.
    rows = rows_of(look(instance, experiment, instance.annotators()))
    notes = list(score_notes(rows))
    if json:
        page = instance.address(experiment)
        common.print_json({"experiment": experiment, "page": page, "rows": rows, "notes": notes})
    else:
        from shadowprobe.report.gerbil_table import note_lines, scores_table

        common.stdout().print(scores_table(rows, f"experiment {experiment} of {instance.url}"))
        for line in note_lines(notes):
            common.stdout().print(line)
    return _code(failed=any(row.status != DONE for row in rows), again=False)


def _code(*, failed: bool, again: bool) -> int:
    if failed and again:
        typer.echo("shadowprobe: not every task is done, as the status says; --force starts all of them anew", err=True)
    return int(failed)


@contextmanager
def _waiting(experiment: str) -> Iterator[Watch | None]:
    """A line on stderr that tells how far the experiment is, only where stderr is a terminal."""
    console = common.stderr()
    if not console.is_terminal:
        yield None
        return
    with console.status(f"experiment {experiment}: waiting") as status:
        yield lambda done, tasks: status.update(f"experiment {experiment}: {done} of {tasks} tasks done")
