"""`shadowprobe gerbil`: an experiment on a GERBIL instance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Run an experiment on a GERBIL instance: the totals of annotators that only GERBIL can reach.",
)
UrlOption = Annotated[
    str, typer.Option("--url", metavar="URL", help="The instance, such as http://gerbil.aksw.org/gerbil.")
]


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
        list[str] | None, typer.Option(metavar="NAME", help="Only this subset (may be repeated) [all with gold].")
    ] = None,
    out: Annotated[
        Path | None, common.out_directory("The directory for gerbil.json [runs/gerbil-ANNOTATOR-DATASET].")
    ] = None,
    poll: Annotated[float, typer.Option(min=0.05, metavar="SECONDS", help="The pause between polls.")] = 5.0,
    timeout: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="How long to wait for the start, then for the totals.")
    ] = 7200.0,
    experiment: Annotated[
        str | None, typer.Option(metavar="ID", help="Read this experiment instead of a new one.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the experiment in --out by a new one.")] = False,
    json: common.JsonOption = False,
) -> int:
    """Run annotators over a dataset's gold on GERBIL: Table 3, but no probes, because GERBIL returns no answers.

    The texts and the gold (as DBpedia URIs) are uploaded to the instance, and stay there. The same command again
    continues the same experiment. Exit 1: done, but a task failed.
    """
    from shadowprobe.gerbil.experiment import GerbilJob
    from shadowprobe.reporting.tables.gerbil_table import gerbil_table

    opened = common.open_dataset(dataset)
    job = GerbilJob(url, annotator, opened, subsets=subset or (), out=out, location=dataset)
    job.instance.limit(timeout)
    card = job.start(force=force, experiment=experiment)
    words = "is done" if card.finished else "goes on" if job.resumed or experiment else "started"
    common.echo(f"experiment {card.experiment} {words}: {card.page}", err=True)
    try:
        name = f"experiment {card.experiment}"
        with common.status_line(f"{name}: waiting") as show:
            done = job.finish(
                card, poll=poll, timeout=timeout, watch=lambda n, tasks: show(f"{name}: {n} of {tasks} tasks done")
            )
    except KeyboardInterrupt:
        common.echo(f"experiment {card.experiment} goes on at GERBIL: {card.page}", err=True)
        raise
    names = ", ".join(str(one["name"]) for one in done.annotators)
    table = gerbil_table(done.rows, f"{names} on {opened.name}, by GERBIL (D2KB)", done.notes)
    common.print_listing(done, table, json=json)
    common.echo(f"Written to {job.out}/", err=True)
    if done.failed:
        common.echo("shadowprobe: not every task is done (see the status); --force starts all of them again", err=True)
    return int(done.failed)


@app.command("show", short_help="Print the totals of any experiment.")
def show(
    experiment: Annotated[str, typer.Argument(metavar="ID", help="The id of the experiment.")],
    url: UrlOption,
    json: common.JsonOption = False,
) -> int:
    """Print the tasks of an experiment as they are now; writes nothing. Exit 1: a task failed or still runs."""
    from shadowprobe.gerbil.experiment import explain_scores, fetch_tasks, make_row
    from shadowprobe.gerbil.gerbil_client import Instance
    from shadowprobe.gerbil.gerbil_page import DONE
    from shadowprobe.reporting.tables.gerbil_table import gerbil_table

    instance = Instance(url)
    # In an unknown experiment, only the names of all annotators show which name belongs to the dataset.
    tasks = fetch_tasks(instance, experiment, instance.annotators())
    rows = [make_row(task.annotator, task.dataset, task) for task in tasks]
    notes = list(explain_scores(rows))
    items = {"experiment": experiment, "page": instance.address(experiment), "rows": rows, "notes": notes}
    table = gerbil_table(rows, f"experiment {experiment} of {instance.url}", notes)
    common.print_listing(items, table, json=json)
    return int(any(row.status != DONE for row in rows))
