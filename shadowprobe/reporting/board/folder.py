"""The leaderboard and the reports of its runs as a folder of files, for publishing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shadowprobe.base.files import make_directory, write_atomically, write_pieces
from shadowprobe.errors import ShadowprobeError, UsageError
from shadowprobe.reporting.board.page import compose_board
from shadowprobe.reporting.html.page import compose
from shadowprobe.running.finished import FinishedRun, group_by_data
from shadowprobe.running.listing import list_directories

INDEX, REPORTS = "index.html", "reports"
# More systems than this are too many columns for one report.
SIDE_BY_SIDE = 6


def write_folder(runs: Sequence[FinishedRun], out: Path, *, title: str, force: bool = False) -> list[str]:
    """Writes index.html, a report of each run, and one of the runs over each dataset side by side.

    Returns what could not be reported, and why.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give a directory")
    if (out / INDEX).exists() and not force:
        raise UsageError(f"{out / INDEX} exists; give another --out, or --force to write over it")
    make_directory(out / REPORTS)
    reports: dict[str, str] = {}
    comparisons: dict[str, str] = {}
    problems: list[str] = []
    for data, group in group_by_data(runs).items():
        for run in group:
            address = f"{REPORTS}/{len(reports) + 1}.html"
            if _write_report(out / address, [run], data, problems):
                reports[str(run.path)] = address
        if 1 < len(group) <= SIDE_BY_SIDE:
            address = f"{REPORTS}/all-{len(comparisons) + 1}.html"
            if _write_report(out / address, group, data, problems):
                comparisons[f"{group[0].data['digest']} {group[0].data.get('limit') or ''}"] = address
    listed = list_directories([run.path for run in runs])
    write_atomically(out / INDEX, compose_board(listed, title, reports=reports, comparisons=comparisons).encode())
    return problems


def _write_report(path: Path, runs: Sequence[FinishedRun], data: str, problems: list[str]) -> bool:
    """Writes a report if its data is still there; notes why not."""
    try:
        write_pieces(path, (piece.encode() for piece in compose(runs)))
    except ShadowprobeError as error:
        problems.append(f"{data}: {error}")
        return False
    return True
