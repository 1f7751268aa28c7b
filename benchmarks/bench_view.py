"""How soon the leaderboard of 200 runs is seen in a real Chromium, and how long a sort and a filter take there.

The server is a process of its own. Times are the browser's: from the navigation to the drawn table, and from a click
or a key to the next layout. It needs the extra [serve], and Debian's `chromium` and `chromium-driver`.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from goals import SKIPPED, Goal, Measured, parser, show

import shadowprobe

RUNS, REPEATS = 200, 5
SCREEN_LIMIT, ACTION_LIMIT = 1000.0, 100.0
# Until the table is laid out: reading its height makes the browser do that.
SORT = """
  const begin = performance.now();
  document.querySelector("[data-sort=shadow_f1]").click();
  document.getElementById("board").offsetHeight;
  return performance.now() - begin;
"""
FILTER = """
  const begin = performance.now();
  const field = document.getElementById("system");
  field.value = field.value ? "" : "system 1";
  field.dispatchEvent(new Event("input"));
  document.getElementById("board").offsetHeight;
  return performance.now() - begin;
"""
SHOWN = "const [one] = performance.getEntriesByType('navigation'); return one.domContentLoadedEventEnd;"


def make_runs(folder: Path, count: int) -> None:
    """So many finished runs of systems with names of their own."""
    shadowprobe.run("bm25", "mini", out=folder / "000", limit=20)
    text = (folder / "000/results.json").read_text(encoding="utf-8")
    for number in range(1, count):
        place = folder / f"{number:03d}"
        shutil.copytree(folder / "000", place)
        named = text.replace('"name": "bm25"', f'"name": "system {number}"', 1)
        (place / "results.json").write_text(named, encoding="utf-8")


@contextmanager
def viewing(folder: Path) -> Iterator[str]:
    """The address of the server."""
    command = [sys.executable, "-m", "shadowprobe", "view", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://\S+/", process.stderr.readline() if process.stderr else "")
            if found is None:
                sys.exit("the server did not start")
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)


def measure(browser: Any, url: str, count: int) -> dict[str, float]:
    """The best of several repeats of each."""
    screens, sorts, filters = [], [], []
    for _ in range(REPEATS):
        browser.visit(url)
        browser.wait(f"document.querySelectorAll('#board tbody td.system').length === {count}")
        screens.append(float(browser.script(SHOWN)))
        sorts.append(float(browser.script(SORT)))
        filters.append(float(browser.script(FILTER)))
    return {"first screen, ms": min(screens), "sort, ms": min(sorts), "filter, ms": min(filters)}


def main() -> None:
    """Measures in a browser."""
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=RUNS)
    given = options.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
    try:
        import starlette  # noqa: F401 -- only whether it is there
        from browser import chromium, missing
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(SKIPPED)
    if reason := missing():
        print(reason, file=sys.stderr)
        sys.exit(SKIPPED)
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_runs(folder / "runs", given.runs)
        with viewing(folder / "runs") as url, chromium(folder) as browser:
            found = measure(browser, url, given.runs)
    action = max(found["sort, ms"], found["filter, ms"])
    goal = Goal(
        f"view with {given.runs} runs: first screen below 1 s, sort or filter below 100 ms",
        found["first screen, ms"],
        "ms",
        found["first screen, ms"] < SCREEN_LIMIT and action < ACTION_LIMIT,
    )
    show(Measured(goal, found), json=given.json)


if __name__ == "__main__":
    main()
