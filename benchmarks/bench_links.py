"""How much memory spaces and commonness take in a database with as many links as a large Wikipedia.

The database is made by DuckDB itself, because a dump of this size takes too long to write. For 50 links there is one
page, and there are three targets for two pages. The spaces and their counts are found in a child process, as a build
does it. The goal is set for `--links 400M`, which takes a few minutes and 5 GB of disk.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from goals import Goal, Measured, parser, peak, show

from shadowprobe.base.languages import read_language
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.load_dumps import SCHEMA
from shadowprobe.build.dumps.load_tables import LINKS_BY_NUMBER
from shadowprobe.build.dumps.source import find_spaces_in_database
from shadowprobe.build.dumps.store import connect
from shadowprobe.build.funnel import Funnel, ignore_progress
from shadowprobe.build.machine import Machine
from shadowprobe.build.settings import BuildSettings

LIMIT = 2.0
LINKS = "4M"
MEMORY = 800_000_000
# Pages come in families of twenty: a disambiguation page, fourteen articles of its name, five redirects to them.
FAMILY, ARTICLES = 20, 14
PER_PAGE = 50
_MAKE = f"""
CREATE MACRO title_of(i) AS 'Name_' || (i // {FAMILY})
    || CASE WHEN i % {FAMILY} = 0 THEN '_(disambiguation)' ELSE '_(thing_' || (i % {FAMILY}) || ')' END;
INSERT INTO page SELECT i, title_of(i), i % {FAMILY} > {ARTICLES} FROM range($pages) t(i);
INSERT INTO redirect SELECT i, title_of(i - {ARTICLES}) FROM range($pages) t(i) WHERE i % {FAMILY} > {ARTICLES};
INSERT INTO disambiguation SELECT i FROM range(0, $pages, {FAMILY}) t(i);
INSERT INTO target SELECT i, title_of(i) FROM range($targets) t(i);
"""
# A disambiguation page links to four articles of its name; all other links lead anywhere.
_LINKS = f"""
INSERT INTO edge SELECT i // {PER_PAGE},
    CASE WHEN i // {PER_PAGE} % {FAMILY} = 0 AND i % {PER_PAGE} < 4 THEN i // {PER_PAGE} + 1 + i % {PER_PAGE}
    ELSE (hash(i) % $targets)::BIGINT END
FROM range($first, $end) t(i)
"""


class Footprint(msgspec.Struct, frozen=True):
    """What the stages cost, and what they found."""

    peak: int
    cpu: float
    seconds: float
    spaces: int
    entities: int
    links: int


def make_database(path: Path, links: int) -> None:
    """Makes a database with so many links."""
    pages = links // PER_PAGE
    targets = pages * 3 // 2
    with connect(path, Machine(memory=MEMORY), read_only=False) as connection:
        connection.execute(f"{SCHEMA}{LINKS_BY_NUMBER}")
        for statement in _MAKE.split(";\n"):
            wanted = {
                name: value for name, value in (("pages", pages), ("targets", targets)) if f"${name}" in statement
            }
            connection.execute(statement, wanted)
        for first in range(0, links, step := max(1, links // 20)):
            connection.execute(_LINKS, {"targets": targets, "first": first, "end": min(links, first + step)})


def child(path: Path) -> None:
    """Finds the spaces and counts their links, and prints what it cost."""
    started, cpu = time.perf_counter(), time.process_time()
    machine = Machine(memory=MEMORY)
    settings = BuildSettings(wiki="", name="", dumps=str(path.parent))
    english, funnel = read_language("en"), Funnel("spaces")
    found = list(find_spaces_in_database(path, english, funnel, settings, ignore_progress, machine))
    entities = [entity for one in found for entity in one.new_entities]
    links = sum(entity.commonness for entity in count_backlinks_in_dumps(path, entities, machine))
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    cost = Footprint(peak(), cpu, seconds, len(found), len(entities), links)
    print(msgspec.json.encode(cost).decode())


def measure(scratch: Path, links: int) -> Measured:
    """The stages in a process of their own."""
    path = scratch / "dumps.duckdb"
    make_database(path, links)
    command = [sys.executable, __file__, "--child", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    cost = msgspec.json.decode(done.stdout, type=Footprint)
    # Every family is a space of four articles, and of any other to which its page links at random.
    assert cost.spaces == links // PER_PAGE // FAMILY
    assert cost.entities >= 4 * cost.spaces
    return Measured(
        Goal(
            f"spaces and commonness among {links / 1e6:,.0f} million links: below {LIMIT:g} GB of memory",
            cost.peak / 1e9,
            "GB",
            cost.peak / 1e9 < LIMIT,
        ),
        {
            "links": links,
            "pages": links // PER_PAGE,
            "database, GB": path.stat().st_size / 1e9,
            "memory limit of the database, GB": MEMORY / 1e9,
            "spaces": cost.spaces,
            "entities": cost.entities,
            "links that count": cost.links,
            "CPU, s": cost.cpu,
            "time, s": cost.seconds,
            "peak, GB": cost.peak / 1e9,
        },
    )


def number_of(text: str) -> int:
    """A number such as 400M."""
    match = re.fullmatch(r"(\d+)([KM]?)", text.upper())
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no number such as 4M or 400M")
    return int(match[1]) * {"": 1, "K": 10**3, "M": 10**6}[match[2]]


def main() -> None:
    """Measures a database of the size that is given."""
    options = parser(__doc__)
    options.add_argument("--links", type=number_of, default=LINKS, help=f"how many [{LINKS}]; the goal is for 400M")
    options.add_argument("--child", type=Path, help="find spaces in this database and print the cost")
    given = options.parse_args()
    if given.child:
        child(given.child)
        return
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory), given.links), json=given.json)


if __name__ == "__main__":
    main()
