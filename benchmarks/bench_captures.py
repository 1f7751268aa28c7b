"""CPU time to look up 100,000 references in an index of 5 million captures, against the bare join in DuckDB."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from goals import SKIPPED, Goal, Measured, parser, show

ROWS, REFERENCES, RUNS = 5_000_000, 100_000, 3
LIMIT = 3.5
# Every reference is in the index once, and each tenth in another spelling of its URL.
STEP = ROWS // REFERENCES
_TABLE = f"""
SELECT
    format('org,site{{:06d}})/news/{{:07d}}', i // 500, i) AS url_surtkey,
    format('https://www.site{{:06d}}.org/news/{{:07d}}', i // 500, i) AS url,
    TIMESTAMP '2024-02-20 00:00:00' + to_seconds(i) AS fetch_time,
    200::SMALLINT AS fetch_status,
    'text/html' AS content_mime_type,
    'text/html' AS content_mime_detected,
    format('crawl-data/CC-MAIN-2024-10/segments/1707947473347.0/warc/{{:05d}}.warc.gz', i % 900) AS warc_filename,
    (i * 37 % 1000000000)::INTEGER AS warc_record_offset,
    (5000 + i % 20000)::INTEGER AS warc_record_length
FROM range({ROWS}) AS numbers(i) ORDER BY 1
"""
_JOIN = """
SELECT table_.url, warc_filename, warc_record_offset, warc_record_length, fetch_time
FROM read_parquet($file) AS table_ JOIN wanted ON wanted.key = table_.url_surtkey WHERE fetch_status = 200
"""


def list_urls() -> set[str]:
    """The references."""
    spelled = "https://www.", "http://"
    numbers = range(0, ROWS, STEP)
    return {f"{spelled[not i // STEP % 10]}site{i // 500:06d}.org/news/{i:07d}" for i in numbers}


def make_table(path: Path) -> None:
    """Writes the index, sorted by key as Common Crawl's is."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"COPY ({_TABLE}) TO '{path}' (FORMAT parquet, COMPRESSION gzip)")


def look_up(path: Path) -> int:
    """Finds the captures as a build does."""
    from shadowprobe.build.captures.capture_index import find_captures
    from shadowprobe.compute.executor import SerialExecutor

    return sum(1 for _ in find_captures(str(path), list_urls(), "", SerialExecutor()))


def join(path: Path) -> int:
    """Joins the keys with the table in DuckDB, and does nothing else."""
    import duckdb
    import numpy as np

    keys = [f"org,site{i // 500:06d})/news/{i:07d}" for i in range(0, ROWS, STEP)]
    with duckdb.connect() as connection:
        connection.register("batch", {"key": np.array(keys, dtype=object)})
        connection.execute("CREATE TEMP TABLE wanted AS SELECT key FROM batch")
        return len(connection.execute(_JOIN, {"file": str(path)}).fetchall())


def run_child(work: str, path: Path) -> dict[str, float]:
    """The CPU seconds of one of both, in a process of its own; its imports do not count."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", work, "--table", str(path)], stdout=subprocess.PIPE, check=True
    )
    return msgspec.json.decode(done.stdout, type=dict[str, float])


def measure(path: Path) -> Measured:
    """Both, the least of several runs."""
    ours, bare = (
        min((run_child(work, path) for _ in range(RUNS)), key=lambda each: each["seconds"]) for work in ("ours", "join")
    )
    ratio = ours["seconds"] / bare["seconds"]
    return Measured(
        Goal(
            f"{REFERENCES:,} references in an index of {ROWS:,} captures: at most {LIMIT:g} times the CPU time of the"
            " bare join, and all are found",
            ratio,
            "times",
            ratio <= LIMIT and ours["found"] == bare["found"] == REFERENCES,
        ),
        {
            "look-up, CPU s": ours["seconds"],
            "baseline: join in DuckDB, CPU s": bare["seconds"],
            "found": ours["found"],
        },
    )


def main() -> None:
    """Measures both on the same table."""
    options = parser(__doc__)
    options.add_argument("--child", choices=("ours", "join"), help="do this and print what it took")
    options.add_argument("--table", type=Path, help="the table of --child")
    given = options.parse_args()
    try:
        import duckdb  # noqa: F401
        import numpy  # noqa: F401

        import shadowprobe.build.captures.capture_index  # noqa: F401
    except ImportError:
        sys.exit(SKIPPED)
    if given.child:
        began = time.process_time()
        found = (look_up if given.child == "ours" else join)(given.table)
        print(msgspec.json.encode({"seconds": time.process_time() - began, "found": found}).decode())
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "index.parquet"
        make_table(path)
        show(measure(path), json=given.json)


if __name__ == "__main__":
    main()
