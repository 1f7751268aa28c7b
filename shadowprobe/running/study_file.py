"""The file of a study: which linkers, datasets and probes, in TOML."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from shadowprobe import plugins
from shadowprobe.base.files import directory_name
from shadowprobe.base.jsonl import NonBlank
from shadowprobe.base.toml_file import TomlFile
from shadowprobe.catalogue.datasets import KNOWN
from shadowprobe.errors import InputError, ShadowprobeError, nearest
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.running.linking import Settings
from shadowprobe.running.study import Study, StudyLinker, takes_option

FILE = "study.toml"
EXAMPLE = """\
# A study: every system on every dataset.
#
#   shadowprobe run --config study.toml
#
# runs it and prints a summary. The same command goes on where it stopped.
# Paths are relative to this file.

# Known datasets (`shadowprobe datasets` lists them), or directories.
datasets = ["mini", "places"]

# Only the first 40 names of each dataset, to try it out. Without this line, all.
limit = 40

# The folder of the run directories.
out = "runs"

# How many runs at the same time, each in a process of its own. More than 1 helps
# where services or models are slow. Each run has its own rate and connections.
concurrency = 1

# Probes that need more snippets linked, beside the usual ones; see `shadowprobe probes`.
# also = ["masked_mention"]

# Only these probes, and no others.
# probes = ["overshadowing", "prior"]

# A table of redirects: old<TAB>new, or JSON.
# redirects = "redirects.tsv"

# bootstrap_rounds = 1000
# bootstrap_seed = 7
# gerbil_threshold = false
# gerbil_nil = false
# batch_size = 32
# keep_replies = false

# The systems: linkers by name (`shadowprobe linkers` lists them) or as "file.py:Class".
[[systems]]
linker = "prior"

[[systems]]
linker = "bm25"

# With a name, a linker can be there twice. The name is also that of its runs in tables.
[[systems]]
linker = "blend"
name = "blend-25"
options = { weight = 0.25 }

[[systems]]
linker = "blend"
name = "blend-50"
options = { weight = 0.5 }

# A web service. A path in an option begins with "./" or "../" if it is relative to
# this file. Tokens are no options: they are in the environment.
# [[systems]]
# linker = "rel"
# name = "REL"
# [systems.options]
# url = "http://localhost:5555"
# concurrency = 4
"""
# Where msgspec found a wrong value.
_AT = re.compile(r"^(?P<problem>.*?) - at `\$(?P<place>.*)`$", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_NOUNS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}

Positive = Annotated[int, Meta(ge=1)]


class SystemKeys(Struct):
    """The keys of a system."""

    linker: NonBlank
    name: NonBlank | None = None
    options: dict[str, Any] = {}


class StudyKeys(Struct):
    """The keys of a study."""

    datasets: Annotated[list[NonBlank], Meta(min_length=1)]
    systems: Annotated[list[SystemKeys], Meta(min_length=1)]
    out: NonBlank = "runs"
    limit: Positive | None = None
    probes: list[NonBlank] = []
    also: list[NonBlank] = []
    redirects: NonBlank | None = None
    gerbil_threshold: bool = False
    gerbil_nil: bool = False
    bootstrap_rounds: Annotated[int, Meta(ge=100)] = ROUNDS
    bootstrap_seed: Annotated[int, Meta(ge=0)] = SEED
    batch_size: Positive | None = None
    keep_replies: bool = False
    concurrency: Positive = 1


def read_study(path: Path, *, force: bool = False) -> Study:
    """Reads a study; every error names the file, the line and the key."""
    file = TomlFile(path)
    _refuse_unknown_keys(file)
    try:
        keys = msgspec.convert(file.values, StudyKeys)
    except msgspec.ValidationError as error:
        raise _make_error(file, str(error)) from None
    folder = path.parent
    return Study(
        linkers=_read_linkers(file, keys.systems),
        datasets=_find_datasets(file, keys.datasets),
        folder=folder / keys.out,
        settings=Settings(
            tuple(_find_class(name, folder) for name in keys.probes),
            tuple(_find_class(name, folder) for name in keys.also),
            folder / keys.redirects if keys.redirects is not None else None,
            keys.gerbil_threshold,
            keys.bootstrap_rounds,
            keys.bootstrap_seed,
            keys.gerbil_nil,
        ),
        limit=keys.limit,
        batch_size=keys.batch_size,
        keep_replies=keys.keep_replies,
        force=force,
        concurrency=keys.concurrency,
    )


def _refuse_unknown_keys(file: TomlFile) -> None:
    of_study, of_system = StudyKeys.__struct_fields__, SystemKeys.__struct_fields__
    for key in file.values:
        if key not in of_study:
            raise file.make_error(f"is no key of a study{nearest(key, of_study)}: {', '.join(of_study)}", key)
    systems = file.values.get("systems")
    for number, system in enumerate(systems if isinstance(systems, list) else ()):
        for key in system if isinstance(system, dict) else ():
            if key not in of_system:
                # TOML counts what stands below a header to its table.
                hint = "; it belongs above the first [[systems]]" if key in of_study else nearest(key, of_system)
                raise file.make_error(f"is no key of a system{hint}: {', '.join(of_system)}", "systems", number, key)


def _find_datasets(file: TomlFile, datasets: list[str]) -> list[str]:
    """The datasets by name, or as directories relative to the file."""
    known = [dataset.name for dataset in KNOWN]
    places = []
    for number, dataset in enumerate(datasets):
        place = dataset if dataset in known else str(file.path.parent / dataset)
        if place in places:
            raise file.make_error(f"`{dataset}` stands there twice", "datasets", number)
        if dataset not in known and not Path(place).is_dir():
            problem = f"`{dataset}` is no directory and no known dataset{nearest(dataset, known)}: {', '.join(known)}"
            raise file.make_error(problem, "datasets", number)
        places.append(place)
    return places


def _read_linkers(file: TomlFile, systems: list[SystemKeys]) -> list[StudyLinker]:
    linkers: dict[str, StudyLinker] = {}
    for number, system in enumerate(systems):
        name = system.name or system.linker
        # Two names that differ only in what a directory cannot be called would share their runs.
        if directory_name(name) in linkers:
            key = "name" if system.name else "linker"
            raise file.make_error(
                f"two systems are called `{name}`; give each a `name` of its own", "systems", number, key
            )
        place = _find_class(system.linker, file.path.parent)
        options = _read_options(file, number, system)
        _check_linker(file, number, place, options)
        linkers[directory_name(name)] = StudyLinker(place, options, system.name or "")
    return list(linkers.values())


def _check_linker(file: TomlFile, number: int, place: str, options: Iterable[str]) -> None:
    """Refuses an unknown linker or option; a linker that cannot be loaded stops no other, and says why when it runs."""
    names = plugins.names(plugins.LINKERS)
    if ":" not in place and place not in names:
        problem = f"unknown linker `{place}`{nearest(place, names)}: `shadowprobe linkers` lists them"
        raise file.make_error(problem, "systems", number, "linker")
    try:
        known = plugins.linker_options(place)
    except ShadowprobeError:
        return
    for key in options:
        if not takes_option(known, key):
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            problem = f"linker `{place}` has no option `{key}`{nearest(key, known)}: {takes}"
            raise file.make_error(problem, "systems", number, "options", key)


def _read_options(file: TomlFile, number: int, system: SystemKeys) -> dict[str, str]:
    """The options as text, as the command line gives them."""
    options = {}
    for key, value in system.options.items():
        if not isinstance(value, str | int | float):
            raise file.make_error(
                "an option is text, a number, true or false; several values are one text with commas",
                *("systems", number, "options", key),
            )
        text = str(value).lower() if isinstance(value, bool) else str(value)
        options[key] = os.path.normpath(file.path.parent / text) if text.startswith(("./", "../")) else text
    return options


def _find_class(place: str, folder: Path) -> str:
    """A linker or probe by name, or the place of its class, relative to the folder of the study."""
    module, colon, name = place.rpartition(":")
    return f"{folder / module}:{name}" if colon and module.endswith(".py") else place


def _make_error(file: TomlFile, message: str) -> InputError:
    """The error of msgspec about a value, with its line."""
    at = _AT.match(message)
    problem, place = (at["problem"], at["place"]) if at else (message, "")
    keys: list[str | int] = [name or int(number) for name, number in _STEP.findall(place)]
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", problem):
        return file.make_error(f"has no `{missing[1]}`", *(keys or [missing[1]]))
    if "length >= 1" in problem or "matching regex" in problem:
        return file.make_error("is empty", *keys)
    words = re.sub(r"`([^`]+)`", lambda match: _name_types(match[1]), problem)
    return file.make_error(f"{words[:1].lower()}{words[1:]}", *keys)


def _name_types(types: str) -> str:
    """Types as a user knows them; an optional value is left out or has the other type."""
    names = [name.strip() for name in types.split("|")]
    return " or ".join(_NOUNS.get(name, name) for name in names if name != "null" or len(names) == 1)
