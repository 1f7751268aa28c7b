"""Runs every benchmark, and says of each goal whether it holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
from goals import SKIPPED, Measured, parser

BENCHMARKS = (
    "bench_runner",
    "bench_predictions",
    "bench_probes",
    "bench_debias",
    "bench_startup",
    "bench_memory",
    "bench_report",
    "bench_web",
    "bench_extract",
    "bench_crawl",
    "bench_crawl_cpu",
    "bench_resume",
    "bench_captures",
    "bench_cutting",
    "bench_duplicates",
    "bench_stages",
    "bench_dumps",
    "bench_links",
    "bench_pagelinks",
    "bench_references",
    "bench_retrieval",
    "bench_rankings",
    "bench_lm",
    "bench_view",
)


def measured(benchmark: str) -> Measured | None:
    """What a benchmark finds, in a process of its own so that none warms the next one up; None without its packages."""
    print(f"{benchmark} ...", file=sys.stderr, flush=True)
    script = Path(__file__).with_name(f"{benchmark}.py")
    done = subprocess.run([sys.executable, str(script), "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode == SKIPPED:
        print(f"{benchmark} is left out", file=sys.stderr)
        return None
    if done.returncode != 0:
        # A goal that is missed is a finding; a benchmark that falls over is a fault.
        sys.exit(f"{benchmark} failed")
    return msgspec.json.decode(done.stdout, type=Measured)


def table(found: dict[str, Measured]) -> str:
    """One line for each goal."""
    rows = [("goal", "measured", "")]
    rows += [(each.goal.goal, each.goal.words, each.goal.verdict) for each in found.values()]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(f"{goal:<{first}}  {words:>{second}}  {verdict}".rstrip() for goal, words, verdict in rows)


def main() -> None:
    """Prints the table, or all figures as JSON."""
    given = parser(__doc__).parse_args()
    found = {benchmark: result for benchmark in BENCHMARKS if (result := measured(benchmark)) is not None}
    if given.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        print(table(found))


if __name__ == "__main__":
    main()
