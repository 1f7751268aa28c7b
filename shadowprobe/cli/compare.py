"""`shadowprobe compare`: finished runs side by side, paired by item."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from shadowprobe.cli import common
from shadowprobe.cli.table import DataOption, FormatOption, NameOption, OutOption, QueriesOption, choose_format, deliver
from shadowprobe.errors import UsageError


def compare(
    runs: Annotated[
        list[Path],
        common.runs_argument("Run directories of one kind, over one dataset or collection.", "RUN RUN..."),
    ],
    published: common.PublishedOption = False,
    format_name: FormatOption = None,
    out: OutOption = None,
    dataset: DataOption = None,
    queries: QueriesOption = None,
    name: NameOption = None,
    rounds: common.RoundsOption = 1000,
    seed: common.SeedOption = 7,
    force: common.ForceOption = False,
    json: common.JsonOption = False,
) -> None:
    """Compare runs over the same snippets, queries or questions: their tables, and every pair of systems with tests.

    Each difference has a paired bootstrap interval, McNemar's exact p (by Holm for several systems), win / tie /
    loss, and the smallest difference that so many items can show.
    """
    from shadowprobe.reporting.tables.named_tables import compared_tables
    from shadowprobe.running.comparison import compare as compare_runs
    from shadowprobe.running.finished import read_runs
    from shadowprobe.running.results_file import explain_wrong_values

    chosen = choose_format(format_name, out, json=json, force=force)
    if len(runs) < 2 and not published:
        raise UsageError("compare needs two runs, or one and --published; `shadowprobe table` shows one alone")
    if chosen == "csv" and published:
        raise UsageError("--published: the CSV has pairs of runs alone; `shadowprobe table` has the rest")
    finished = read_runs(runs, dataset, name or (), warn=common.warn)
    with explain_wrong_values(runs):
        comparison = compare_runs(finished, collection=dataset, queries=queries, rounds=rounds, seed=seed)
        tables = compared_tables(finished, comparison, published=published)
        deliver(chosen, out, tables, comparison)
