"""`shadowprobe compare`: finished runs side by side, paired by snippet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadowprobe.cli import common
from shadowprobe.cli.table import (
    FormatOption,
    NameOption,
    OutOption,
    PublishedOption,
    RunDatasetOption,
    deliver,
    output,
)
from shadowprobe.errors import UsageError


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Run directories over the same dataset.")],
    published: PublishedOption = False,
    format_name: FormatOption = None,
    out: OutOption = None,
    dataset: RunDatasetOption = None,
    name: NameOption = None,
    rounds: common.RoundsOption = 1000,
    seed: common.SeedOption = 7,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Compare runs over the same snippets: Tables 3 and 4, and every pair of systems with its tests.

    Each difference has a paired bootstrap interval, McNemar's exact p (by Holm for several systems), win / tie /
    loss, and the smallest difference that so many snippets can show.
    """
    from shadowprobe.comparison import compare as compare_runs
    from shadowprobe.report.tables import of_comparison
    from shadowprobe.runs import read_runs

    chosen, target = output(format_name, out, json=json, force=force)
    if len(runs) < 2 and not published:
        raise UsageError("compare needs two runs, or one and --published; `shadowprobe table` shows one alone")
    if chosen == "csv" and published:
        raise UsageError("--published: the CSV has pairs of runs alone; `shadowprobe table 3 --published` has the rest")
    found = read_runs(runs, dataset, name or ())
    compared = compare_runs(found, rounds=rounds, seed=seed)
    deliver(chosen, target, of_comparison(found, compared, with_published=published), compared)
