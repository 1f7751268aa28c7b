"""`shadowprobe debias`: correct the answers of finished runs for their prior."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.cli.table import FormatOption, NameOption, RunDatasetOption, choose_format, deliver
from shadowprobe.errors import UsageError


def debias(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            autocompletion=common.complete("runs"),
            help="Directories of finished runs of linkers with scores.",
        ),
    ],
    weight: Annotated[
        float | None,
        typer.Option("--weight", metavar="W", help="From 0 (no correction) to 1 [chosen by cross-fitting over names]."),
    ] = None,
    top_loss: Annotated[
        float | None,
        typer.Option(
            "--top-loss",
            metavar="POINTS",
            help="What a chosen weight may cost on Top, among the names that choose it [1].",
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option("--scale", metavar="SCALE", help="What the scores are: log, probability or other [looked at]."),
    ] = None,
    out: Annotated[
        Path | None, common.out_directory("Where to write the corrected run [RUN-debiased]; of one run only.")
    ] = None,
    format_name: FormatOption = None,
    dataset: RunDatasetOption = None,
    name: NameOption = None,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Correct the answers of runs for their prior: subtract what each candidate scores in neutral contexts.

    It asks no system. It shows what changes, with paired intervals, and whether that pays. RUN/debias.json gets the
    figures, and RUN-debiased is a run with the corrected answers for every other command.
    """
    from shadowprobe.measure.candidate_scores import KINDS
    from shadowprobe.reporting.tables.correction_tables import correction_table
    from shadowprobe.running.correction import carry_out, plan_correction
    from shadowprobe.running.finished import check_labels, read_runs
    from shadowprobe.running.results_file import explain_wrong_values

    chosen = choose_format(format_name, None, json=json, force=force)
    kind = common.choose("--scale", scale, KINDS) if scale is not None else None
    if out is not None and len(runs) > 1:
        raise UsageError("--out: goes with one run; without it each is written to its own RUN-debiased")
    finished = read_runs(runs, dataset, name or (), warn=common.warn)
    check_labels(finished)
    with explain_wrong_values(runs):
        # Nothing is written unless all can be corrected.
        share = top_loss / 100 if top_loss is not None else None
        plans = [plan_correction(run, out, weight=weight, top_loss=share, scale=kind, force=force) for run in finished]
        corrected = {plan.run.label: carry_out(plan) for plan in plans}
    deliver(chosen, None, [correction_table({label: one.found for label, one in corrected.items()})])
    for one in corrected.values():
        common.echo(f"Written to {one.out}/", err=True)
