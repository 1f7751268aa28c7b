"""A study: what a watcher sees, which option goes to whom, and what is said of a combination that cannot run."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from world import write_world

from shadowprobe import Dataset, UsageError
from shadowprobe.catalogue.datasets import open_dataset
from shadowprobe.running.job import Job, Progress
from shadowprobe.running.linking import LinkingTask
from shadowprobe.running.study import (
    Combination,
    Ended,
    Study,
    StudyLinker,
    StudyWatcher,
    _receive,
    assign_options,
    run_study,
    takes_option,
)


class Watcher(StudyWatcher):
    """Notes what it is told, in order."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.errors: list[Exception] = []

    def begin(self, number: int, combination: Combination) -> None:
        self.seen.append(f"{number} begins: {combination.label}")

    def end(self, number: int, ended: Ended) -> None:
        self.seen.append(f"{number} ends: {ended.error or 'finished'}")

    def notice(self, error: Exception) -> None:
        self.errors.append(error)

    @contextmanager
    def follow(self, job: Job[LinkingTask]) -> Iterator[Progress | None]:
        self.seen.append(f"follows {job.out}")
        yield None


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_world(Path("world"))


def test_combinations_are_counted_from_one_and_watched_in_order() -> None:
    watcher = Watcher()
    study = Study(linkers=[StudyLinker("prior"), StudyLinker("blend", name="mine")], datasets=["world"])
    first, second = run_study(study, watcher)
    assert watcher.seen == [
        "1 begins: prior on world",
        "follows runs/prior-world",
        "1 ends: finished",
        "2 begins: mine on world",
        # A name is that of the directory, with the dataset behind it.
        "follows runs/mine-world",
        "2 ends: finished",
    ]
    assert first.finished is not None
    assert first.finished.outcome.answered == 21
    assert second.combination == study.combinations[1]


def test_the_combinations_of_one_dataset_open_it_once() -> None:
    opened: list[str] = []

    def open_and_count(location: str) -> Dataset:
        opened.append(location)
        return open_dataset(location)

    write_world(Path("other"))
    study = Study(linkers=[StudyLinker("prior"), StudyLinker("blend")], datasets=["world", "other"], limit=1)
    run_study(study, None, open_and_count)
    assert opened == ["world", "other"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "No such file or directory", "weights.bin"), "weights.bin: No such file or directory"),
        (OSError("the disk is full"), "OSError: the disk is full"),
        (ModuleNotFoundError("No module named 'spacy'", name="spacy"), "pip install"),
        (ModuleNotFoundError("No module named 'mine'", name="mine"), "ModuleNotFoundError: No module named 'mine'"),
        (UsageError("it is too old"), "it is too old"),
    ],
)
def test_a_combination_that_cannot_run_says_why_in_one_line(error: Exception, words: str) -> None:
    def refuse(location: str) -> Dataset:
        raise error

    watcher = Watcher()
    (ended,) = run_study(Study(linkers=[StudyLinker("prior")], datasets=["world"]), watcher, refuse)
    assert ended.finished is None
    assert words in ended.error
    assert watcher.errors == [error]
    assert watcher.seen == ["1 begins: prior on world", f"1 ends: {ended.error}"]


def test_a_run_directory_is_refused_as_the_folder_of_several_runs() -> None:
    Path("runs").mkdir()
    Path("runs/run.json").touch()
    with pytest.raises(UsageError, match="runs is a run directory; several runs need a folder"):
        run_study(Study(linkers=[StudyLinker("prior")], datasets=["world"]))


def test_an_option_is_one_of_the_linker_or_of_a_linker_that_it_names() -> None:
    assert takes_option(["of", "weight"], "weight")
    assert takes_option(["of", "weight"], "of.weight")
    assert not takes_option(["weight"], "of.weight")
    assert not takes_option([], "weight")
    # Of a linker that cannot be loaded nothing is known.
    assert takes_option(None, "weight")


def test_a_name_with_nothing_behind_its_dot_owns_no_option() -> None:
    with pytest.raises(UsageError, match=r"-o blend\.: none of prior, blend has this option"):
        assign_options(["prior", "blend"], {"blend.": "1"})


def test_an_option_of_one_linker_must_be_one_that_it_has() -> None:
    with pytest.raises(UsageError, match=r"-o blend\.weigth: none of blend has this option .did you mean `weight`"):
        assign_options(["prior", "blend"], {"blend.weigth": "1"})


def test_a_class_in_a_file_owns_options_by_its_class_name() -> None:
    Path("mine.py").write_text(
        "from shadowprobe import Linker\n\n\n"
        "class Mine(Linker):\n"
        '    name = "own"\n\n'
        "    def __init__(self, depth: int = 1):\n"
        "        self.depth = depth\n"
    )
    assert assign_options(["mine.py:Mine", "blend"], {"Mine.depth": "2", "mine.py:Mine.depth": "3"}) == [
        StudyLinker("mine.py:Mine", {"depth": "3"}),
        StudyLinker("blend"),
    ]


def test_a_process_that_is_killed_while_it_sends_has_ended() -> None:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    # A message begins with its length in four bytes: of these 100, only 3 arrive.
    os.write(theirs.fileno(), (100).to_bytes(4, "big") + b"abc")
    theirs.close()
    killed = SimpleNamespace(join=lambda: None, exitcode=-9)
    ended = _receive(ours, Combination(StudyLinker("prior"), "world"), killed)
    assert ended.error == "its process ended with code -9; the same command goes on"


def test_processes_are_watched_and_one_that_ends_stops_no_other() -> None:
    Path("ends.py").write_text(
        "import os\n\n"
        "from shadowprobe import Linker\n\n\n"
        "class Ends(Linker):\n"
        "    def setup(self):\n"
        "        os._exit(3)\n"
    )
    watcher = Watcher()
    linkers = [StudyLinker("ends.py:Ends"), StudyLinker("prior"), StudyLinker("nobody")]
    study = Study(linkers=linkers, datasets=["world"], concurrency=2)
    first, second, third = run_study(study, watcher)
    assert first.error == "its process ended with code 3; the same command goes on"
    assert second.finished is not None
    assert second.finished.out == Path("runs/prior-world")
    assert third.error.startswith("unknown linker `nobody`")
    # Two begin at once, and the third when one of them has ended.
    assert watcher.seen[:2] == ["1 begins: ends.py:Ends on world", "2 begins: prior on world"]
    assert sorted(line.partition(":")[0] for line in watcher.seen[2:]) == ["1 ends", "2 ends", "3 begins", "3 ends"]
    assert "ends" in watcher.seen[2]


def test_long_names_are_cut_in_messages() -> None:
    long = StudyLinker("x" * 61)
    assert Combination(long, "y" * 60).label == f"{'x' * 60}... on {'y' * 60}"
    assert Combination(StudyLinker("prior", name="mine"), "y" * 61).label == f"mine on {'y' * 60}..."
