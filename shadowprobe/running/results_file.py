"""results.json as it is read back: its head is checked, and a missing figure is reported in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from shadowprobe.base.jsonl import read_json
from shadowprobe.errors import InputError, UsageError, format_error
from shadowprobe.running.directory import RESULTS, SCHEMA, Kind, Results
from shadowprobe.running.kinds import SCORING_COMMANDS, kind_of


class _System(Struct):
    name: str
    options: dict[str, Any]


class _Data(Struct):
    name: str
    digest: str


class _Dataset(_Data):
    version: str
    spaces: int
    snippets: int
    limit: int | None


class _RetrievalSettings(Struct):
    depth: int
    k: list[int]


class _Queries(_Data):
    documents: int | None
    sets: int
    limit: int | None


class _Head(Struct):
    """What every results.json has, whatever was measured."""

    schema: int
    missing: int
    notes: list[str]
    probes: dict[str, dict[str, Any]]


class _LinkerHead(_Head, kw_only=True):
    linker: _System
    dataset: _Dataset
    settings: dict[str, Any]
    identity: dict[str, int]
    subsets: dict[str, dict[str, Any]] = {}


class _RetrieverHead(_Head, kw_only=True):
    retriever: _System
    collection: _Data
    queries: dict[str, str]
    settings: _RetrievalSettings


class _ReadData(_Data):
    limit: int | None


class _Documents(Struct):
    source: str
    k: int | None = None


class _ReaderHead(_Head, kw_only=True):
    reader: _System
    collection: _ReadData
    queries: dict[str, str]
    documents: _Documents


class _ModelHead(_Head, kw_only=True):
    model: _System
    queries: _Queries


HEADS: dict[Kind, type[_Head]] = {
    "linker": _LinkerHead,
    "retriever": _RetrieverHead,
    "reader": _ReaderHead,
    "model": _ModelHead,
}


class _CheckedDict(dict[str, Any]):
    """An object of results.json; a key that an earlier version or a person left out is reported in one line."""

    path: Path
    command: str

    def __missing__(self, key: str) -> Any:
        run = self.path.parent
        again = f"`shadowprobe {self.command} --predictions {run} --out {run}` measures it again"
        raise InputError(self.path, f"is missing; {again}", field=key)


def read_results(run: Path) -> Results:
    """The results of a run directory; refuses a file whose head is not that of a run."""
    path = run / RESULTS
    if not path.exists():
        if not run.is_dir():
            raise InputError(run, "no such run directory")
        raise InputError(run, f"has no {RESULTS}; it is not finished: the command that began it goes on")
    results = read_json(path, dict[str, Any])
    kind = kind_of(run, results)
    read_json(path, HEADS[kind], schema=SCHEMA)
    try:
        checked: Results = _check(results, path, SCORING_COMMANDS[kind])
    except RecursionError:
        raise InputError(path, "is nested too deeply: no run writes such results") from None
    return checked


@contextmanager
def explain_wrong_values(
    runs: Iterable[Path], file: str = RESULTS, again: str = "score --predictions RUN --out RUN"
) -> Iterator[None]:
    """Turns the errors of a block that shows results into one line: a value in them is missing or has a wrong type.

    `file` is the file of these values in each directory, and `again` the command that makes it again.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        files = ", ".join(str(run / file) for run in runs)
        raise UsageError(
            f"{files}: a value is missing or has a wrong type ({format_error(error)}; --debug shows where);"
            f" `shadowprobe {again}` measures the run again"
        ) from error


def _check(value: Any, path: Path, command: str) -> Any:
    """A value whose objects report what they lack."""
    if isinstance(value, list):
        return [_check(item, path, command) for item in value]
    if not isinstance(value, dict):
        return value
    checked = _CheckedDict({key: _check(item, path, command) for key, item in value.items()})
    checked.path, checked.command = path, command
    return checked
