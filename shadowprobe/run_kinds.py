"""What a run is of, a linker, a retriever or a language model, by its results.json."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from shadowprobe.errors import InputError, UsageError
from shadowprobe.jsonl import read_json
from shadowprobe.run_directory import RESULTS

# The key under which results.json describes the system.
Kind = Literal["linker", "retriever", "model"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NOUNS: dict[Kind, str] = {"linker": "linker", "retriever": "retriever", "model": "language model"}
# The command that makes runs of each.
COMMANDS: dict[Kind, str] = {"linker": "run", "retriever": "retrieve", "model": "answer"}


def read_results(path: Path) -> dict[str, Any]:
    """The results.json of a run directory; says what is the matter where there is none."""
    if not (path / RESULTS).exists():
        hint = "it is not finished: the command that began it goes on" if path.is_dir() else "no such run directory"
        raise InputError(path, f"has no {RESULTS}; {hint}" if path.is_dir() else hint)
    return read_json(path / RESULTS, dict[str, Any])


def kind_of(path: Path, results: dict[str, Any]) -> Kind:
    """What the results of a run are of."""
    found = next((kind for kind in KINDS if isinstance(results.get(kind), dict)), None)
    if found is None:
        raise InputError(path / RESULTS, f"names no system: it has none of {', '.join(KINDS)}")
    return found


def expect(path: Path, results: dict[str, Any], wanted: Kind, what: str) -> None:
    """Refuses a run of another kind than something takes, and names the command that makes the right one."""
    if (kind := kind_of(path, results)) != wanted:
        raise UsageError(
            f"{path} is a run of a {NOUNS[kind]}; {what} takes runs of {NOUNS[wanted]}s,"
            f" which `shadowprobe {COMMANDS[wanted]}` makes"
        )


def kind_of_all(paths: Sequence[Path]) -> Kind:
    """What all of these runs are of; refuses a mixture."""
    kinds = [kind_of(path, read_results(path)) for path in paths]
    for path, kind in zip(paths, kinds, strict=True):
        if kind != kinds[0]:
            raise UsageError(
                f"{paths[0]} is a run of a {NOUNS[kinds[0]]} and {path} one of a {NOUNS[kind]}: give runs of one kind"
            )
    return kinds[0]


def check_names(paths: Sequence[Path], names: Sequence[str]) -> None:
    """Refuses names that are not one for each run."""
    if names and len(names) != len(paths):
        raise UsageError(f"{len(names)} names for {len(paths)} runs: give one for each, or none")


def refuse_one_name(runs: Sequence[Any], what: str = "name") -> None:
    """Refuses runs of which two go by one label."""
    found = [run.label for run in runs]
    if twice := next((label for label in found if found.count(label) > 1), None):
        raise UsageError(f"two runs are called {twice!r}: give each a {what} of its own")


def labels(systems: Sequence[dict[str, Any]], datasets: Sequence[str] = ()) -> list[str]:
    """The names of systems; where two share one, the options and the datasets that differ stand behind it."""
    found = []
    for number, system in enumerate(systems):
        rivals = [other["options"] for other in systems if other["name"] == system["name"]]
        places = {one for other, one in zip(systems, datasets, strict=False) if other["name"] == system["name"]}
        telling = {
            option: value
            for option, value in system["options"].items()
            if any(other.get(option) != value for other in rivals)
        }
        words = " ".join(f"{option}={value}" for option, value in telling.items())
        place = f" on {datasets[number]}" if len(places) > 1 else ""
        found.append(f"{system['name']} ({words}){place}" if words else f"{system['name']}{place}")
    counts = [found[: place + 1].count(label) for place, label in enumerate(found)]
    return [f"{label} #{count}" if count > 1 else label for label, count in zip(found, counts, strict=True)]
