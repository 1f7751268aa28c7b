"""results.json of a linker's run as it is read back, able to say what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from shadowprobe.errors import InputError
from shadowprobe.jsonl import read_json
from shadowprobe.results import SCHEMA, Results


class HeadLinker(Struct):
    """Who answered."""

    name: str
    version: str
    options: dict[str, Any]


class HeadDataset(Struct):
    """What was asked."""

    name: str
    version: str
    digest: str
    spaces: int
    snippets: int
    limit: int | None


class Head(Struct):
    """What every file begins with, whatever was measured."""

    schema: int
    linker: HeadLinker
    dataset: HeadDataset
    settings: dict[str, Any]
    missing: int
    identity: dict[str, int]
    notes: list[str]
    probes: dict[str, dict[str, Any]]
    subsets: dict[str, dict[str, Any]] = {}


class Told(dict[str, Any]):
    """A table of the file that says in one line what it lacks: an earlier version or a person may have left it out."""

    path: Path
    # The command that scores what a run has stored.
    command: str

    def __missing__(self, key: str) -> Any:
        run = self.path.parent
        anew = f"`shadowprobe {self.command} --predictions {run} --out {run}` makes it anew"
        raise InputError(self.path, f"is missing; {anew}", field=key)


def read_results_file(path: Path) -> Results:
    """What the file holds; refuses one whose head is not that of a linker's run."""
    head = read_json(path, Head)
    if head.schema != SCHEMA:
        raise InputError(path, f"is {head.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    found: Results = told(read_json(path, dict[str, Any]), path)
    return found


def told(value: Any, path: Path, command: str = "score") -> Any:
    """A value with every table in it able to say what it lacks, and which command would score it again."""
    if isinstance(value, list):
        return [told(one, path, command) for one in value]
    if not isinstance(value, dict):
        return value
    table = Told({key: told(one, path, command) for key, one in value.items()})
    table.path, table.command = path, command
    return table
