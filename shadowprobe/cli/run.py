"""`shadowprobe run`: link, probe, print the table, write the run directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common


def run(
    linker: common.LinkerOption = "blend",
    dataset: common.DatasetOption = "mini",
    option: common.OptionsOption = None,
    out: Annotated[Path | None, common.out_directory("The run directory [runs/LINKER-DATASET].")] = None,
    probe: common.ProbeOption = None,
    also: common.AlsoOption = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size", min=1, help="Snippets per call of the linker; a web service has -o concurrency=N."
        ),
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
        Path | None,
        typer.Option("--from-replies", metavar="RUN", help="Ask nobody: parse the replies that a run has kept."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Forget what --out holds and start afresh.")] = False,
    json: common.JsonOption = False,
) -> int:
    """Run a linker over a dataset: does it read the context, or repeat its prior?

    The same command again goes on where an earlier one stopped. Exit 1: done, but some snippets failed.
    """
    from shadowprobe.running.api import make_linking_job
    from shadowprobe.running.linking import Settings

    opened = common.open_dataset(dataset)
    with common.stdout_is_ours():
        job = make_linking_job(
            linker,
            opened,
            options=common.parse_options(option),
            out=out,
            batch_size=batch_size,
            limit=limit,
            settings=Settings(
                tuple(probe or ()), tuple(also or ()), redirects, gerbil_threshold, rounds, seed, gerbil_nil
            ),
            force=force,
            location=dataset,
            keep_replies=keep_replies,
            from_replies=from_replies,
        )
        task = job.task
        for variants in task.variants:
            left = variants.cost if force else variants.left()
            if more := sum(left.values()):
                parts = ", ".join(f"{name} {count}" for name, count in left.items() if count)
                common.echo(f"{variants.probe.name} needs {more} more snippets linked: {parts}", err=True)
        total = task.total + sum(sum(variants.cost.values()) for variants in task.variants)
        with common.working("linking", total, lambda: task.status) as progress:
            finished = job.run(progress)
    common.print_results(finished.results, json=json)
    return common.print_outcome(finished, task.unit)
