"""How much CPU time the dump of a table of links takes, against `zcat`, `sed` and DuckDB's reader of CSV.

Both sides read the same compressed dump into a table of a DuckDB database, with the links of articles only. Both must
have the same rows in the end. CPU times include all processes of a side.
"""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
from goals import Goal, Measured, parser, show

LIMIT = 1.0
MEGABYTES = 100
REPEATS = 3
ROWS = 60_000
# Links of a page, and one of so many links from another namespace.
PER_PAGE, OTHER = 40, 10
HEAD = b"""-- MySQL dump 10.19
CREATE TABLE `pagelinks` (
  `pl_from` int(8) unsigned NOT NULL DEFAULT 0,
  `pl_from_namespace` int(11) NOT NULL DEFAULT 0,
  `pl_target_id` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`pl_from`,`pl_target_id`)
) ENGINE=InnoDB;

/*!40000 ALTER TABLE `pagelinks` DISABLE KEYS */;
"""
TAIL = b"/*!40000 ALTER TABLE `pagelinks` ENABLE KEYS */;\n"
OURS = """
import sys
from pathlib import Path
from shadowprobe.build.dumps.load_tables import TablePart
from shadowprobe.build.dumps.loading import Loader
from shadowprobe.build.dumps.store import connect
from shadowprobe.build.machine import Machine
machine = Machine(memory=10**9, workers=2)
columns = {"pl_from": "number", "pl_from_namespace": "number", "pl_target_id": "number"}
rows = "INSERT INTO edge SELECT pl_from, pl_target_id FROM batch WHERE pl_from_namespace = 0"
with connect(Path(sys.argv[2]), machine, read_only=False) as connection:
    connection.execute("CREATE TABLE edge (source BIGINT, key BIGINT)")
    loader = Loader(connection, {"pagelinks": (rows,)}, lambda *_: None, machine)
    loader.load([TablePart(Path(sys.argv[1]), "pagelinks", columns)])
"""
PEER = """
import sys, duckdb
with duckdb.connect(sys.argv[1], config={"threads": 2, "preserve_insertion_order": False}) as connection:
    connection.execute("SET enable_progress_bar = false")
    connection.execute('''CREATE TABLE edge AS SELECT source, key FROM read_csv('/dev/stdin', header = false,
        auto_detect = false, delim = ',', columns = {'source': 'BIGINT', 'namespace': 'INTEGER', 'key': 'BIGINT'})
        WHERE namespace = 0''')
"""
SED = r"s/^INSERT INTO `pagelinks` VALUES (//;T;s/);$//;s/),(/\n/g;p"


def write_dump(path: Path, size: int) -> int:
    """Writes a dump of about this many bytes, and returns how many there are."""
    generator = np.random.default_rng(7)
    written, page = 0, 10
    with gzip.open(path, "wb", 1) as file:
        file.write(HEAD)
        while written < size:
            pages = page + np.arange(ROWS) // PER_PAGE
            targets = np.sort(generator.integers(1, 80_000_000, (ROWS // PER_PAGE, PER_PAGE)), axis=1).ravel()
            others = (generator.integers(0, OTHER, ROWS) == 0).astype(int)
            rows = zip(pages.tolist(), others.tolist(), targets.tolist(), strict=True)
            line = f"INSERT INTO `pagelinks` VALUES {','.join(map('(%d,%d,%d)'.__mod__, rows))};\n".encode()
            file.write(line)
            written += len(line)
            page = int(pages[-1]) + 1
        file.write(TAIL)
    return written


def cpu_of(command: str) -> float:
    """The CPU time of a shell command with all its processes."""
    before = os.times()
    subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def digest(path: Path) -> tuple[int, ...]:
    """What is in a database."""
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute("SELECT count(*), sum(source), sum(key), bit_xor(source * key) FROM edge").fetchall()[
            0
        ]


def measure(scratch: Path, megabytes: int) -> Measured:
    """Both sides in turns."""
    dump = scratch / "w-1-pagelinks.sql.gz"
    size = write_dump(dump, megabytes * 10**6) / 1e9
    ours, peer = scratch / "ours.duckdb", scratch / "peer.duckdb"
    python = shlex.quote(sys.executable)
    commands = {
        ours: f"{python} -c {shlex.quote(OURS)} {dump} {ours}",
        peer: f"zcat {dump} | sed -n {shlex.quote(SED)} | {python} -c {shlex.quote(PEER)} {peer}",
    }
    times: dict[Path, list[float]] = {ours: [], peer: []}
    for _ in range(REPEATS):
        for path, command in commands.items():
            path.unlink(missing_ok=True)
            times[path].append(cpu_of(command))
    # Speed is of no use unless the rows are right.
    assert digest(ours) == digest(peer)
    ratio = min(times[ours]) / min(times[peer])
    return Measured(
        Goal(
            f"CPU time of links from pagelinks.sql.gz: at most {LIMIT:g} times zcat, sed and DuckDB's CSV reader",
            ratio,
            "times",
            ratio <= LIMIT,
        ),
        {
            "dump, GB": size,
            "ours, CPU s per GB": min(times[ours]) / size,
            "baseline: zcat, sed, DuckDB CSV, CPU s per GB": min(times[peer]) / size,
            "ours / baseline": ratio,
        },
    )


def main() -> None:
    """Measures a dump of the size that is given."""
    options = parser(__doc__)
    options.add_argument("--megabytes", type=int, default=MEGABYTES, help=f"size of the dump [{MEGABYTES}]")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory), given.megabytes), json=given.json)


if __name__ == "__main__":
    main()
