"""How far a build is: the funnels of the stages that are done."""

from __future__ import annotations

from pathlib import Path

from shadowprobe.build.funnel import Funnel
from shadowprobe.errors import UsageError

STAGES = ("spaces", "commonness", "references", "crawl", "snippets", "tail", "assemble")


def funnels(out: Path) -> list[Funnel]:
    """The counts of every stage that is done, in their order."""
    directory = out / "build"
    if not directory.is_dir():
        raise UsageError(f"{out} holds no build; `shadowprobe build --wiki URL --out {out}` begins one")
    return [Funnel.read(path) for name in STAGES if (path := directory / f"{name}.json").exists()]
