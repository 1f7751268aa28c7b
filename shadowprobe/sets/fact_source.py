"""The source of facts: a dump of Wikidata, or the API of a Wikibase."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

import shadowprobe
from shadowprobe.base.files import read_text_lines
from shadowprobe.build.archive import Archive
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.errors import InputError
from shadowprobe.sets.fact_store import open_store
from shadowprobe.sets.service import Service
from shadowprobe.sets.wikibase_api import Wikibase, api_address, load_names
from shadowprobe.sets.wikidata_dump import load_dump

# These files under the directory of the sets hold the sources. A repeated command reads them instead of asking again.
FOLDER, FACTS, ENTITIES, VIEWS = "wikidata", "facts.sqlite", "entities.warc.gz", "pageviews.warc.gz"


class Origin(Struct, frozen=True, kw_only=True):
    """A dump, or the address of an API and the names to look up; a dump may be restricted to names too.

    With `subclasses`, an entity is of a kind if P31 names the kind or a class below it, through any number of P279.
    Without it, P31 must name the kind itself. In Wikidata, short films are films only with `subclasses`.
    """

    dump: Path | None = None
    api: str = ""
    names: tuple[str, ...] = ()
    language: str = "en"
    user_agent: str = ""
    subclasses: bool = True

    def describe(self) -> dict[str, Any]:
        """Returns the entry in a card."""
        place = {"dump": self.dump.name} if self.dump is not None else {"api": api_address(self.api)}
        return place | ({"names": len(self.names)} if self.names else {})


class Facts(NamedTuple):
    """An open file of facts, and the number of items that were left out when it was made."""

    connection: sqlite3.Connection
    dropped: Counter[str]


def read_names(path: Path) -> tuple[str, ...]:
    """Reads the names of a file, one per line, each once."""
    names = dict.fromkeys(" ".join(line.split()) for _, line in read_text_lines(path))
    names.pop("", None)
    if not names:
        raise InputError(path, "holds no name: write one name per line")
    return tuple(names)


def open_service(directory: Path, name: str, user_agent: str) -> Service:
    """Opens a service whose answers are stored under a directory."""
    archive = Archive(directory / FOLDER / name, software=f"shadowprobe/{shadowprobe.__version__}")
    return Service(archive, user_agent)


@contextmanager
def open_facts(
    origin: Origin, directory: Path, properties: Collection[str], progress: Progress = ignore_progress, *, classes: bool
) -> Iterator[Facts]:
    """Opens the facts of some properties, in a file under a directory; with `classes`, the classes of entities too."""
    store = directory / FOLDER / FACTS
    dropped: Counter[str] = Counter()
    if origin.dump is not None:
        load_dump(origin.dump, store, origin.language, properties, progress)
    else:
        with closing(open_service(directory, ENTITIES, origin.user_agent)) as service:
            wikibase = Wikibase(origin.api, service, origin.language)
            subclasses = origin.subclasses and classes
            load_names(wikibase, origin.names, store, properties, subclasses=subclasses, progress=progress)
            dropped.update(wikibase.dropped)
    with open_store(store) as connection:
        yield Facts(connection, dropped)
