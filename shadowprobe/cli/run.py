"""`shadowprobe run`: link, probe, print the table, write the run directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.compute.executor import Executor
    from shadowprobe.running.job import Job, Progress
    from shadowprobe.running.linking import LinkingTask

# The file of a study says the rest.
BESIDE_CONFIG = frozenset({"config", "force", "json"})


def run(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Run a study from a TOML file; `shadowprobe init` writes one.")
    ] = None,
    linker: Annotated[
        list[str] | None,
        common.system_option("linker", "-l", "The linker (may be repeated: all are run) [blend]."),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        common.dataset_option(
            "A known dataset, or the directory of one (may be repeated: each linker is run on all) [mini].", "datasets"
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="[LINKER.]KEY=VALUE",
            help="An option of the linkers that have it, or of the one named.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call the run in tables; its directory is runs/NAME.")
    ] = None,
    out: Annotated[
        Path | None,
        common.out_directory(
            "The run directory [runs/LINKER-DATASET, with the options that differ from the defaults]; of several runs,"
            " the folder of their directories [runs]."
        ),
    ] = None,
    probe: common.ProbeOption = None,
    also: common.AlsoOption = None,
    batch_size: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Snippets per call of the linker; a web service has -o concurrency=N."),
    ] = None,
    limit: common.LimitOption = None,
    redirects: common.RedirectsOption = None,
    gerbil_threshold: common.ThresholdOption = False,
    gerbil_nil: common.NilOption = False,
    rounds: common.RoundsOption = 1000,
    seed: common.SeedOption = 7,
    keep_replies: Annotated[
        bool,
        typer.Option("--keep-replies", help="Keep what a service says, word for word, in replies.jsonl."),
    ] = False,
    from_replies: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Send no request: parse the replies that a run has kept.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes that load the linker and link at a time [1].")
    ] = None,
    executor: common.ExecutorOption = "local",
    ray_address: common.RayAddressOption = None,
    gpus: Annotated[
        float, typer.Option(min=0.0, metavar="F", help="Of --executor ray: GPUs of each worker, such as 0.5 [none].")
    ] = 0.0,
    force: common.AfreshOption = False,
    json: common.JsonOption = False,
) -> int:
    """Run a linker over a dataset: does it read the context, or repeat its prior?

    With several linkers or datasets, all combinations are run, and a summary follows. The same command again goes on
    where an earlier one stopped. Exit 1: done, but some snippets failed. Exit 2: a combination could not be run.
    """
    if config is not None:
        from shadowprobe.cli.study import run_and_print
        from shadowprobe.running.study_file import read_study

        _refuse_beside_config(context)
        return run_and_print(read_study(config, force=force), json=json, debug=bool(context.obj))
    from shadowprobe.running.api import make_linking_job
    from shadowprobe.running.linking import Settings

    settings = Settings(tuple(probe or ()), tuple(also or ()), redirects, gerbil_threshold, rounds, seed, gerbil_nil)
    linkers, datasets = list(dict.fromkeys(linker or ["blend"])), list(dict.fromkeys(dataset or ["mini"]))
    options = common.parse_options(option)
    if len(linkers) * len(datasets) > 1:
        from shadowprobe.cli.study import run_and_print
        from shadowprobe.running.naming import FOLDER
        from shadowprobe.running.study import Study, assign_options

        for given, word in ((name, "--name"), (from_replies, "--from-replies"), (workers, "--workers")):
            if given is not None:
                raise UsageError(f"{word}: goes with one linker and one dataset, not with several")
        study = Study(
            linkers=assign_options(linkers, options),
            datasets=datasets,
            folder=out or FOLDER,
            settings=settings,
            limit=limit,
            batch_size=batch_size,
            keep_replies=keep_replies,
            force=force,
        )
        return run_and_print(study, json=json, debug=bool(context.obj))
    opened = common.open_dataset(datasets[0])
    with common.stdout_is_ours(), _open_workers(executor, workers, ray_address, gpus) as open_executor:
        job = make_linking_job(
            linkers[0],
            opened,
            options={key.removeprefix(f"{linkers[0]}."): value for key, value in options.items()},
            out=out,
            batch_size=batch_size,
            limit=limit,
            settings=settings,
            force=force,
            location=datasets[0],
            keep_replies=keep_replies,
            from_replies=from_replies,
            name=name,
            executor=open_executor,
        )
        with follow_linking(job) as progress:
            finished = job.run(progress)
    common.print_results(finished.results, json=json)
    return common.print_outcome(finished, job.task.unit)


@contextmanager
def _open_workers(name: str, workers: int | None, address: str | None, gpus: float) -> Iterator[Executor | None]:
    """The executor of the options; none if this process links."""
    if name == "local" and workers in {None, 1} and address is None and not gpus:
        yield None
        return
    from shadowprobe.compute.executor import make_executor

    with make_executor(name, workers, address, gpus) as executor:
        yield executor


def _refuse_beside_config(context: typer.Context) -> None:
    """Refuses options that the file of a study has as keys."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in BESIDE_CONFIG and source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]}: does not go with --config; the file says what is run, and how")


@contextmanager
def follow_linking(job: Job[LinkingTask]) -> Iterator[Progress | None]:
    """Says what probes need linked besides, and shows a progress bar."""
    task = job.task
    for variants in task.variants:
        left = variants.cost if job.force else variants.left()
        if more := sum(left.values()):
            parts = ", ".join(f"{name} {count}" for name, count in left.items() if count)
            common.echo(f"{variants.probe.name} needs {more} more snippets linked: {parts}", err=True)
    total = task.total + sum(sum(variants.cost.values()) for variants in task.variants)
    with common.working("linking", total, lambda: task.status) as progress:
        yield progress
