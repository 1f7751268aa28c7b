"""What `shadowprobe run` prints about several combinations of linkers and datasets."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager

from shadowprobe.cli import common
from shadowprobe.cli.run import follow_linking
from shadowprobe.running.job import Job, Progress
from shadowprobe.running.linking import LinkingTask
from shadowprobe.running.study import Combination, Ended, Study, StudyWatcher, run_study

DONE, NOT_RUN = 0, 2


def run_and_print(study: Study, *, json: bool, debug: bool = False) -> int:
    """Runs a study and prints its summary; returns the exit code, 2 if a combination could not be run."""
    watcher = StudyLines(len(study.combinations), debug=debug)
    with common.stdout_is_ours():
        every = run_study(study, watcher, common.open_dataset)
    if json:
        common.print_json([_describe(ended) for ended in every])
    else:
        _print_summary(every)
    failed = [ended for ended in every if ended.finished is None]
    if failed:
        common.echo(
            f"shadowprobe: {len(failed)} of {len(every)} combinations could not be run; the same command tries them"
            " again:",
            err=True,
        )
        for ended in failed:
            common.echo(f"  {ended.combination.label}: {ended.error}", err=True)
        return NOT_RUN
    return watcher.code


class StudyLines(StudyWatcher):
    """A line on stderr when a combination begins and when it ends, and a progress bar in between."""

    def __init__(self, total: int, *, debug: bool) -> None:
        self.total, self.debug, self.code = total, debug, DONE

    def begin(self, number: int, combination: Combination) -> None:
        """Says which combination begins."""
        common.echo(f"{self._subject(number, combination)}begins", err=True)

    def end(self, number: int, ended: Ended) -> None:
        """Says how it went, and where the results are."""
        subject = self._subject(number, ended.combination)
        if ended.finished is None:
            common.echo(f"{subject}could not be run: {ended.error}", err=True)
        else:
            code = common.print_outcome(ended.finished, LinkingTask.unit, subject)
            self.code = max(self.code, code)

    def notice(self, error: Exception) -> None:
        """Shows the traceback with --debug."""
        if self.debug:
            traceback.print_exception(error)

    def _subject(self, number: int, combination: Combination) -> str:
        return f"[{number}/{self.total}] {combination.label}: "

    def follow(self, job: Job[LinkingTask]) -> AbstractContextManager[Progress | None]:
        """Shows a progress bar, as for a run alone."""
        return follow_linking(job)


def _print_summary(every: Sequence[Ended]) -> None:
    """The table `summary` of the finished runs."""
    from shadowprobe.reporting.tables.named_tables import SUMMARY, make_tables
    from shadowprobe.running.finished import read_runs

    paths = dict.fromkeys(ended.finished.out for ended in every if ended.finished is not None)
    if paths:
        common.print_tables(make_tables(SUMMARY, read_runs(list(paths), is_mixed=True)))


def _describe(ended: Ended) -> dict[str, object]:
    """A combination as an entry of the JSON list."""
    combination, finished = ended.combination, ended.finished
    return {
        "linker": combination.linker.linker,
        "name": combination.linker.name,
        "dataset": combination.dataset,
        "run": str(finished.out) if finished is not None else None,
        "error": ended.error or None,
        "results": finished.results if finished is not None else None,
    }
