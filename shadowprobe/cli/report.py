"""`shadowprobe report`: runs as one HTML file, or as a folder of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from shadowprobe.cli import common
from shadowprobe.cli.table import DataOption, NameOption, QueriesOption
from shadowprobe.errors import UsageError

if TYPE_CHECKING:
    from shadowprobe.running.finished import FinishedRun


def report(
    runs: Annotated[
        list[Path], common.runs_argument("Directories of finished runs; over several datasets they become a folder.")
    ],
    out: Annotated[
        Path | None,
        common.out_file(
            "Where to write: a .html file, or a folder [RUN/report.html; report.html for several runs over the same"
            " data; else the folder `report`]."
        ),
    ] = None,
    dataset: DataOption = None,
    queries: QueriesOption = None,
    name: NameOption = None,
    published: common.PublishedOption = False,
    force: common.ForceOption = False,
) -> None:
    """Write a report: one HTML file with the verdict, the tables, the figures and every mention, query or answer.

    It opens from disk and sends no request. Several runs over the same data stand side by side. Of runs over
    several datasets it makes a folder: a leaderboard, index.html, and a report of each run.
    """
    from shadowprobe.reporting.html.page import write_report
    from shadowprobe.running.finished import group_by_data, read_runs
    from shadowprobe.running.results_file import explain_wrong_values

    finished = read_runs(runs, dataset, name or (), warn=common.warn, is_mixed=True)
    is_folder = len(group_by_data(finished)) > 1 or (out is not None and out.suffix.lower() not in {".html", ".htm"})
    with explain_wrong_values(runs):
        if is_folder:
            _write_folder(finished, out or Path("report"), queries, published=published, force=force)
            return
        written = write_report(finished, out, dataset=dataset, queries=queries, published=published, force=force)
    common.echo(f"Written to {written}", err=True)


def _write_folder(
    runs: Sequence[FinishedRun], out: Path, queries: Path | None, *, published: bool, force: bool
) -> None:
    from shadowprobe.reporting.board.folder import write_folder

    if queries is not None or published:
        option = "--queries" if queries is not None else "--published"
        raise UsageError(f"{option}: goes with the report of runs over the same data, in one .html file")
    for problem in write_folder(runs, out, title="Runs", force=force):
        common.warn(f"no report of {problem}")
    common.echo(f"Written to {out}/index.html", err=True)
