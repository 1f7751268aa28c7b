"""All runs of a folder, finished or not: what each is of, how far it is, and its headline figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field, structs

from shadowprobe.base.files import is_locked
from shadowprobe.errors import ShadowprobeError, UsageError
from shadowprobe.running.directory import (
    ANSWERS,
    EXTRA,
    PREDICTIONS,
    RANKINGS,
    RESULTS,
    RUN,
    Kind,
    Results,
    RunCard,
    read_card,
)
from shadowprobe.running.finished import make_labels
from shadowprobe.running.headlines import Headline, list_headlines, name_verdict
from shadowprobe.running.kinds import DATA_KEYS, kind_of
from shadowprobe.running.results_file import read_results

ANSWER_FILES: dict[Kind, str] = {
    "linker": PREDICTIONS,
    "retriever": RANKINGS,
    "reader": ANSWERS,
    "model": ANSWERS,
}
State = Literal["finished", "running", "unfinished", "broken"]


class ListedRun(Struct, frozen=True):
    """A run directory as a list shows it."""

    path: str
    # Empty where the run is broken.
    kind: str
    # What the user called the run, or the system's name with the options that differ from those of its other runs.
    system: str
    # The name of the dataset, the collection or the questions.
    data: str
    state: State
    options: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    # Only the first so many names or questions; None is all.
    limit: int | None = None
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    # How many questions are answered, and how many there are; 0 where the run does not say.
    done: int = 0
    total: int = 0
    # Questions that have no answer though the run is finished.
    missing: int = 0
    headlines: list[Headline] = field(default_factory=list)
    verdict: str = ""
    # What the user called the run.
    name: str = ""
    # Why a broken run cannot be read.
    problem: str = ""


def list_runs(folder: Path) -> list[ListedRun]:
    """The runs in a folder and in its folders, in the order of their paths."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such directory")
    return list_directories(sorted(find_run_directories(folder)))


def list_directories(paths: Iterable[Path]) -> list[ListedRun]:
    """The runs in these directories."""
    return label_runs([list_run(path) for path in paths])


def label_runs(found: Sequence[ListedRun]) -> list[ListedRun]:
    """The same runs; those of one system have the options in which they differ behind its name."""
    labels: dict[str, str] = {}
    # A linker and a retriever of one name are not one system.
    for kind in {run.kind for run in found}:
        alike = [run for run in found if run.kind == kind]
        systems = [{"name": run.system, "options": run.options} for run in alike]
        names = make_labels(systems, names=[run.name for run in alike], is_unique=False)
        labels |= {run.path: label for run, label in zip(alike, names, strict=True)}
    return [structs.replace(run, system=labels[run.path]) for run in found]


def find_run_directories(folder: Path) -> Iterator[Path]:
    """The directories that hold a run; what a probe needed besides is part of its run."""
    for name in (RUN, RESULTS):
        for file in folder.rglob(name):
            is_first = name == RUN or not (file.parent / RUN).exists()
            if is_first and EXTRA not in file.relative_to(folder).parts[:-2]:
                yield file.parent


def list_run(path: Path) -> ListedRun:
    """What a directory holds; a run that cannot be read says why."""
    try:
        card = read_card(path / RUN) if (path / RUN).exists() else RunCard()
        return _list_readable(path, card, read_results(path) if (path / RESULTS).exists() else None)
    except (ShadowprobeError, LookupError, TypeError, ValueError) as error:
        return ListedRun(str(path), "", path.name, "", "broken", problem=str(error))


def _list_readable(path: Path, card: RunCard, results: Results | None) -> ListedRun:
    kind = kind_of(path, results) if results is not None else card.kind
    described = results if results is not None else structs.asdict(card)
    system, data = described[kind], described[DATA_KEYS[kind]] or {}
    answers = path / ANSWER_FILES[kind]
    # A finished run may be continued or measured anew.
    state: State = "running" if is_locked(answers) else "unfinished" if results is None else "finished"
    listed = ListedRun(
        str(path),
        kind,
        system["name"],
        str(data.get("name", "")),
        state,
        options=system["options"],
        digest=str(data.get("digest", "")),
        started=card.started,
        seconds=card.seconds,
        total=card.total,
        name=card.name,
    )
    if results is None:
        return structs.replace(listed, done=_count_lines(answers))
    return structs.replace(
        listed,
        limit=data.get("limit"),
        finished=card.finished,
        done=max(0, card.total - results["missing"]),
        missing=results["missing"],
        headlines=list_headlines(results),
        verdict=name_verdict(results),
    )


def _count_lines(path: Path) -> int:
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
