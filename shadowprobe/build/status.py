"""The status of a build: the funnels of its finished stages."""

from __future__ import annotations

from pathlib import Path

from shadowprobe.base.jsonl import read_json
from shadowprobe.build.funnel import Funnel
from shadowprobe.errors import UsageError

STAGES = ("spaces", "commonness", "references", "crawl", "snippets", "tail", "assemble")
# The counts of a build: of each stage, and of the pages that come from an existing crawl.
CAPTURES = "captures"
FUNNELS = (*STAGES[:3], CAPTURES, *STAGES[3:])


def read_funnels(out: Path) -> list[Funnel]:
    """Reads the counts of all finished stages, in their order."""
    directory = out / "build"
    if not directory.is_dir():
        raise UsageError(f"{out} holds no build; `shadowprobe build --wiki URL --out {out}` starts one")
    return [read_json(path, Funnel) for name in FUNNELS if (path := directory / f"{name}.json").exists()]
