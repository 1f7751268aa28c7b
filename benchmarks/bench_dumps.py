"""How much memory spaces and commonness of a whole wiki take from its dumps, against dictionaries in memory.

A child process reads a synthetic dump twice, as a build does: from the tables, and from the text of the pages alone;
the worse of the two counts. The baseline reads the same tables with the same reader into the dictionaries and sets
that one would write by hand. All must find the same. The goal is set for `--size 1GB`, which takes a few minutes.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from goals import Goal, Measured, parser, peak, show

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.languages import read_language
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.dump_files import find_dump_files
from shadowprobe.build.dumps.source import find_spaces_in_dumps
from shadowprobe.build.dumps.sql import Kind, TableDump
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.machine import Machine
from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.settings import BuildSettings

LIMIT = 2.0
SIZE = "64MB"
MEMORY = 1_000_000_000
MAKE = Path(__file__).resolve().parent.parent / "scripts" / "make_dump.py"


class Footprint(msgspec.Struct, frozen=True):
    """What one way cost, and what it found."""

    peak: int
    seconds: float
    cpu: float
    spaces: int
    entities: int
    digest: str


def from_database(directory: Path, scratch: Path) -> tuple[list[FoundSpace], list[FoundEntity]]:
    """As a build does it."""
    database = scratch / "dumps.duckdb"
    settings = BuildSettings(wiki="", name="", dumps=str(directory))
    machine = Machine(memory=MEMORY)
    found = list(find_spaces_in_dumps(database, read_language("en"), Funnel("spaces"), settings, machine=machine))
    entities = [entity for one in found for entity in one.new_entities]
    return [one.space for one in found], list(count_backlinks_in_dumps(database, entities, machine))


def shown(title: str) -> str:
    """A title as people read it."""
    return title.replace("_", " ")


def from_dictionaries(directory: Path, _: Path) -> tuple[list[FoundSpace], list[FoundEntity]]:
    """As one would do it by hand."""
    language = read_language("en")
    tables = find_dump_files(directory).tables

    def rows(table: str, **columns: Kind) -> Iterator[tuple[Any, ...]]:
        for batch in TableDump(tables[table], table).read_batches(columns):
            # Numbers as Python has them, which take less memory than NumPy's own.
            values = (batch[name] for name in columns)
            yield from zip(*(each.tolist() if isinstance(each, np.ndarray) else each for each in values), strict=True)

    pages = {
        number: (shown(title), bool(redirect))
        for number, title, redirect in rows("page", page_id="number", page_title="text", page_is_redirect="number")
    }
    numbers = {title: number for number, (title, _) in pages.items()}
    properties: dict[str, dict[int, str]] = defaultdict(dict)
    for number, name, value in rows("page_props", pp_page="number", pp_propname="text", pp_value="text"):
        properties[name][number] = value
    redirects: dict[str, list[str]] = defaultdict(list)
    for number, target in rows("redirect", rd_from="number", rd_title="text"):
        redirects[shown(target)].append(pages[number][0])
    targets = {number: shown(title) for number, title in rows("linktarget", lt_id="number", lt_title="text")}
    links: dict[int, list[str]] = defaultdict(list)
    linking: dict[str, set[int]] = defaultdict(set)
    for source, target in rows("pagelinks", pl_from="number", pl_target_id="number"):
        links[source].append(targets[target])
        linking[targets[target]].add(source)
    spaces: list[FoundSpace] = []
    entities: dict[str, None] = {}
    for number in sorted(properties["disambiguation"]):
        page = pages[number][0]
        whole = re.compile(rf"(?<![^\W_]){re.escape(language.name_of(page))}(?![^\W_])")
        kept = [
            title
            for title in sorted(links[number], key=lambda title: title.replace(" ", "_").encode())
            if whole.search(title) and title in numbers and not pages[numbers[title]][1]
            if numbers[title] not in properties["disambiguation"] and not language.is_list(title)
        ]
        if len(kept) >= 2:
            spaces.append(FoundSpace(language.name_of(page), page, tuple(kept)))
            entities |= dict.fromkeys(kept)
    counted = []
    for title in entities:
        others = sorted(redirects[title])
        number = numbers[title]
        sources = {source for other in (title, *others) for source in linking[other] if not pages[source][1]}
        qid = properties["wikibase_item"].get(number)
        counted.append(FoundEntity(title, number, len(sources - {number}), qid, tuple(others)))
    return spaces, counted


WAYS = {"database": from_database, "dictionaries": from_dictionaries}


def child(way: str, directory: Path, scratch: Path) -> None:
    """Goes one way and prints what it cost."""
    started = time.perf_counter()
    spaces, entities = WAYS[way](directory, scratch)
    seconds, cpu = time.perf_counter() - started, sum(os.times()[:4])
    # The text of a page does not say its item, and so no way is asked for it here.
    plain = [msgspec.structs.replace(entity, qid=None) for entity in entities]
    digest = hashlib.sha256(encode_lines([*spaces, *plain])).hexdigest()
    print(msgspec.json.encode(Footprint(peak(), seconds, cpu, len(spaces), len(entities), digest)).decode())


def footprint(way: str, directory: Path, scratch: Path) -> Footprint:
    """What a way costs in a process of its own."""
    scratch.mkdir()
    command = [sys.executable, __file__, "--child", way, str(directory), str(scratch)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Footprint)


def size_of(directory: Path) -> int:
    """The bytes of all files of a directory."""
    return sum(path.stat().st_size for path in directory.iterdir())


def measure(scratch: Path, size: str) -> Measured:
    """All ways over one dump."""
    dump, text = scratch / "dump", scratch / "text"
    subprocess.run([sys.executable, str(MAKE), str(dump), "--size", size], stdout=subprocess.DEVNULL, check=True)
    text.mkdir()
    for articles in dump.glob("*-pages-articles.xml"):
        (text / articles.name).symlink_to(articles)
    ours = {
        "tables": footprint("database", dump, scratch / "from-tables"),
        "text": footprint("database", text, scratch / "from-text"),
    }
    baseline = footprint("dictionaries", dump, scratch / "from-dictionaries")
    # Little memory is of no use unless the numbers are right.
    assert {found.digest for found in ours.values()} == {baseline.digest}
    worst = max(found.peak for found in ours.values()) / 1e9
    total = size_of(dump)
    return Measured(
        Goal(
            f"spaces and commonness from a dump of {total / 1e9:.2f} GB: below {LIMIT:g} GB of memory"
            f" ({ours['tables'].peak / baseline.peak:.2f} times that of dictionaries)",
            worst,
            "GB",
            worst < LIMIT,
        ),
        {
            "dump, GB": total / 1e9,
            "spaces": baseline.spaces,
            "entities": baseline.entities,
            **{f"from the {way}: peak, GB": found.peak / 1e9 for way, found in ours.items()},
            **{f"from the {way}: s": found.seconds for way, found in ours.items()},
            **{f"from the {way}: CPU s": found.cpu for way, found in ours.items()},
            "from the text: CPU s per GB of it": ours["text"].cpu / (size_of(text) / 1e9),
            "baseline: dictionaries of the tables, peak, GB": baseline.peak / 1e9,
            "baseline: dictionaries of the tables, s": baseline.seconds,
            "memory, tables / baseline": ours["tables"].peak / baseline.peak,
            "time, tables / baseline": ours["tables"].seconds / baseline.seconds,
        },
    )


def main() -> None:
    """Measures a dump of the size that is given."""
    options = parser(__doc__)
    options.add_argument(
        "--size", default=SIZE, help=f"of the synthetic dump, {SIZE} unless told; the goal is set for 1GB"
    )
    options.add_argument("--child", nargs=3, metavar=("WAY", "DUMPS", "SCRATCH"), help="go one way and print its cost")
    given = options.parse_args()
    if given.child:
        way, directory, scratch = given.child
        child(way, Path(directory), Path(scratch))
        return
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory), given.size), json=given.json)


if __name__ == "__main__":
    main()
