"""A study: several linkers over several datasets, each combination in a run directory of its own."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout, suppress
from functools import lru_cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe import plugins
from shadowprobe.catalogue.datasets import open_dataset
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import ShadowprobeError, UsageError, abridge, format_error, missing_packages, nearest, shorten
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.directory import RUN
from shadowprobe.running.job import FinishedJob, Job, Progress
from shadowprobe.running.linking import LinkingTask, Settings
from shadowprobe.running.naming import FOLDER, default_directory


class StudyLinker(Struct, frozen=True):
    """A linker of a study: its name or place, its options, and what the user calls it."""

    linker: str
    options: dict[str, str] = field(default_factory=dict)
    name: str = ""

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.name or self.linker


class Combination(Struct, frozen=True):
    """A linker and a dataset of a study."""

    linker: StudyLinker
    dataset: str

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{shorten(self.linker.label, 60)} on {shorten(self.dataset, 60)}"


class Study(Struct, frozen=True, kw_only=True):
    """What is run, how it is measured, and where the run directories are made."""

    linkers: list[StudyLinker]
    datasets: list[str]
    folder: Path = FOLDER
    settings: Settings = Settings()
    limit: int | None = None
    batch_size: int | None = None
    keep_replies: bool = False
    force: bool = False
    # How many combinations run at the same time, each in a process of its own.
    concurrency: int = 1

    @property
    def combinations(self) -> list[Combination]:
        """Every linker on every dataset; those of one dataset follow each other."""
        return [Combination(linker, dataset) for dataset in self.datasets for linker in self.linkers]


class Ended(Struct, frozen=True):
    """What became of a combination: a finished run, or the reason why there is none."""

    combination: Combination
    finished: FinishedJob | None = None
    error: str = ""


class StudyWatcher:
    """Its methods are called when a combination begins and ends; the command line derives from it."""

    def begin(self, number: int, combination: Combination) -> None:
        """A combination begins; the first has the number 1."""

    def end(self, number: int, ended: Ended) -> None:
        """A combination has ended."""

    def notice(self, error: Exception) -> None:
        """A combination of this process could not be run; called where the traceback is known."""

    def follow(self, job: Job[LinkingTask]) -> AbstractContextManager[Progress | None]:
        """Shows the progress of a run; only of runs in this process."""
        return nullcontext()


def assign_options(linkers: Sequence[str], given: Mapping[str, str]) -> list[StudyLinker]:
    """Gives each option to the linkers that have it, and `NAME.KEY` only to the linker of that name."""
    # One linker says itself what it takes.
    known = _list_known(linkers) if given and len(linkers) > 1 else {}
    general: dict[str, dict[str, str]] = {linker: {} for linker in linkers}
    special: dict[str, dict[str, str]] = {linker: {} for linker in linkers}
    for option, value in given.items():
        owner, key = _find_owner(option, linkers)
        takers = [linker for linker in (owner or linkers) if takes_option(known.get(linker), key)]
        if not takers:
            every = {name for linker in (owner or linkers) for name in known.get(linker) or ()}
            raise UsageError(f"-o {option}: none of {', '.join(owner or linkers)} has this option{nearest(key, every)}")
        for linker in takers:
            (special if owner else general)[linker][key] = value
    return [StudyLinker(linker, general[linker] | special[linker]) for linker in linkers]


def _list_known(linkers: Iterable[str]) -> dict[str, list[str]]:
    """The options of linkers; one that cannot be loaded is left out, and says why when it is run."""
    known = {}
    for linker in linkers:
        with suppress(ShadowprobeError):
            known[linker] = plugins.linker_options(linker)
    return known


def takes_option(known: list[str] | None, key: str) -> bool:
    """True if an option is among the known ones, if there are any; `of.KEY` is one of the linker that `of` names."""
    return known is None or key in known or key.partition(".")[0] in known


def _find_owner(option: str, linkers: Iterable[str]) -> tuple[list[str], str]:
    """The linker whose name an option begins with, and the rest of it; a class in a file goes by its class name too."""
    for linker in linkers:
        for name in (linker, linker.rpartition(":")[2]):
            if option.startswith(f"{name}.") and option != f"{name}.":
                return [linker], option.removeprefix(f"{name}.")
    return [], option


def run_study(
    study: Study, watcher: StudyWatcher | None = None, open_dataset: Callable[[str], Dataset] = open_dataset
) -> list[Ended]:
    """Runs every combination; one that fails does not stop the others, and one that is finished is not asked again."""
    watcher = watcher or StudyWatcher()
    if (study.folder / RUN).exists():
        raise UsageError(f"{study.folder} is a run directory; several runs need a folder for their directories")
    if study.concurrency > 1:
        ended = dict(_run_in_processes(study, watcher))
        return [ended[number] for number in sorted(ended)]
    # The combinations of one dataset follow each other and share it.
    open_once = lru_cache(maxsize=1)(open_dataset)
    every = []
    for number, combination in enumerate(study.combinations, start=1):
        watcher.begin(number, combination)
        every.append(_run_combination(study, combination, watcher, open_once))
        watcher.end(number, every[-1])
    return every


def _run_combination(
    study: Study, combination: Combination, watcher: StudyWatcher, open_dataset: Callable[[str], Dataset]
) -> Ended:
    linker = combination.linker
    try:
        opened = open_dataset(combination.dataset)
        job = make_linking_job(
            linker.linker,
            opened,
            options=linker.options,
            out=default_directory(linker.name, opened.name, folder=study.folder) if linker.name else None,
            batch_size=study.batch_size,
            limit=study.limit,
            settings=study.settings,
            force=study.force,
            location=combination.dataset,
            keep_replies=study.keep_replies,
            name=linker.name or None,
            folder=study.folder,
        )
        with watcher.follow(job) as progress:
            return Ended(combination, job.run(progress))
    except Exception as error:
        watcher.notice(error)
        return Ended(combination, error=_explain(error))


def _explain(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and (missing := missing_packages(error)) is not None:
        return str(missing)
    if isinstance(error, OSError) and error.filename is not None:
        return abridge(f"{error.filename}: {error.strerror}")
    return format_error(error)


def _run_in_processes(study: Study, watcher: StudyWatcher) -> Iterator[tuple[int, Ended]]:
    """Runs some combinations at the same time, each in a new process, so that none can disturb another."""
    # A new interpreter: a copy of this one would share its open connections and the state of its libraries.
    context = multiprocessing.get_context("spawn")
    waiting = list(enumerate(study.combinations, start=1))[::-1]
    running: dict[Any, tuple[int, Combination, Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < study.concurrency:
                number, combination = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(study, combination, theirs))
                process.start()
                # The end of the process then closes the last copy of its side.
                theirs.close()
                running[ours] = number, combination, process
                watcher.begin(number, combination)
            for connection in wait(list(running)):
                number, combination, process = running.pop(connection)
                ended = _receive(connection, combination, process)
                watcher.end(number, ended)
                yield number, ended
    finally:
        # After an interrupt; what a run has stored is kept, and the same command goes on.
        for _, _, process in running.values():
            process.terminate()
            process.join()


def _receive(connection: Any, combination: Combination, process: Any) -> Ended:
    try:
        ended: Ended | None = connection.recv()
    except (EOFError, OSError):
        ended = None
    process.join()
    connection.close()
    reason = f"its process ended with code {process.exitcode}; the same command goes on"
    return ended or Ended(combination, error=reason)


def _work(study: Study, combination: Combination, connection: Connection) -> None:
    """The main function of a process: runs a combination and sends what became of it."""
    try:
        # Our stdout may be read by a program, and is not for what a linker prints.
        with redirect_stdout(sys.stderr):
            ended = _run_combination(study, combination, StudyWatcher(), open_dataset)
        connection.send(ended)
    except (KeyboardInterrupt, BrokenPipeError):
        # The process that started this one says so.
        sys.exit(1)
