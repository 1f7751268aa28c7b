"""Where facts come from: a dump of Wikidata, or the API of a Wikibase."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

import shadowprobe
from shadowprobe.build.archive import Archive
from shadowprobe.errors import InputError
from shadowprobe.jsonl import BOM, open_for_reading
from shadowprobe.retrieval.wikidata.api import Wikibase, api_address, load_names
from shadowprobe.retrieval.wikidata.dump import Progress, load_dump
from shadowprobe.retrieval.wikidata.service import Service
from shadowprobe.retrieval.wikidata.store import reading

# Under the directory of the sets: what they were made of, which the same command does not ask for again.
FOLDER, FACTS, ASKED, VIEWS = "wikidata", "facts.sqlite", "entities.warc.gz", "pageviews.warc.gz"


class Origin(Struct, frozen=True, kw_only=True):
    """A dump, or the address of an API and the names to ask it for; names can be asked of a dump too.

    With `subclasses` an entity is of a kind if P31 names the kind or a class below it, through any number of P279;
    without, if P31 names the kind itself. Wikidata's short films are films, and its studio albums albums, only so.
    """

    dump: Path | None = None
    api: str = ""
    names: tuple[str, ...] = ()
    language: str = "en"
    user_agent: str = ""
    subclasses: bool = True

    def described(self) -> dict[str, Any]:
        """What a card says of it."""
        place = {"dump": self.dump.name} if self.dump is not None else {"api": api_address(self.api)}
        return place | ({"names": len(self.names)} if self.names else {})


class Facts(NamedTuple):
    """A file of facts that is open, and what was left out when it was made."""

    connection: sqlite3.Connection
    dropped: Counter[str]


def read_names(path: Path) -> tuple[str, ...]:
    """The names of a file, one a line, each once."""
    with open_for_reading(path) as file:
        lines = file.read().removeprefix(BOM).splitlines()
    names: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        try:
            names[" ".join(line.decode("utf-8").split())] = None
        except UnicodeDecodeError as error:
            raise InputError(path, f"is not UTF-8 (byte {error.start}: {error.reason})", line=number) from None
    names.pop("", None)
    if not names:
        raise InputError(path, "holds no name: give one a line")
    return tuple(names)


def open_service(directory: Path, name: str, user_agent: str) -> Service:
    """A service whose answers are kept under a directory."""
    archive = Archive(directory / FOLDER / name, software=f"shadowprobe/{shadowprobe.__version__}")
    return Service(archive, user_agent)


@contextmanager
def open_facts(
    origin: Origin, directory: Path, properties: Collection[str], progress: Progress | None = None, *, classes: bool
) -> Iterator[Facts]:
    """The facts of some properties, in a file under a directory; `classes` says that kinds are to be told."""
    store = directory / FOLDER / FACTS
    dropped: Counter[str] = Counter()
    if origin.dump is not None:
        load_dump(origin.dump, store, origin.language, properties, progress)
    else:
        with closing(open_service(directory, ASKED, origin.user_agent)) as service:
            wikibase = Wikibase(origin.api, service, origin.language)
            subclasses = origin.subclasses and classes
            load_names(wikibase, origin.names, store, properties, subclasses=subclasses, progress=progress)
            dropped.update(wikibase.dropped)
    with reading(store) as connection:
        yield Facts(connection, dropped)
