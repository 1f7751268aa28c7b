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
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The run directory [runs/LINKER-DATASET].")
    ] = None,
    probe: common.ProbeOption = None,
    also: common.AlsoOption = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", min=1, help="Snippets per call of the linker.")
    ] = None,
    limit: common.LimitOption = None,
    redirects: common.RedirectsOption = None,
    gerbil_threshold: common.ThresholdOption = False,
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
    from shadowprobe.session import Job

    opened = common.open_dataset(dataset)
    with common.stdout_is_ours():
        job = Job(
            linker,
            opened,
            options=common.parse_options(option),
            out=common.directory(out),
            batch_size=batch_size,
            limit=limit,
            settings=common.settings(probe, also, redirects, gerbil_threshold, rounds, seed),
            force=force,
            location=dataset,
            keep_replies=keep_replies,
            from_replies=from_replies,
        )
        for variants in job.variants:
            left = variants.cost if force else variants.left()
            if total := sum(left.values()):
                parts = ", ".join(f"{name} {count}" for name, count in left.items() if count)
                typer.echo(f"{variants.probe.name} needs {total} more snippets linked: {parts}", err=True)
        with common.linking(job.total) as progress:
            finished = job.run(progress)
    common.print_results(finished.results, json=json)
    outcome = finished.outcome
    assert outcome is not None
    words = [f"{outcome.answered} answered in {outcome.seconds:.1f} s"]
    if outcome.resumed:
        words.insert(0, f"{outcome.resumed} taken from an earlier run")
    if outcome.repeated:
        words.append(f"{outcome.repeated} of them repeated a text and were not asked again")
    typer.echo(f"{'; '.join(words)}. Written to {finished.out}/", err=True)
    if outcome.failed:
        typer.echo(
            f"shadowprobe: {outcome.failed} snippets failed and count as skipped: {finished.out}/failures.jsonl lists"
            " them, and the same command tries them again",
            err=True,
        )
        return 1
    return 0
