"""Makes the built-in datasets `mini` and `mini-train` from the hand-written files in data/sources/mini."""

from __future__ import annotations

import argparse
import random
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from check_mini_source import MARK, check_files, plain

from shadowprobe.base.languages import words_of
from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.dataset.dataset import Card, write_dataset
from shadowprobe.dataset.neutral import make_neutral_snippets

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "data" / "sources"
SEED = 7
VERSION = "1"
LICENSE = "CC BY 4.0, the shadowprobe authors"
MADE = (
    "Written for shadowprobe; scripts/make_mini.py assembles it from data/sources/mini. Rank within a space is an"
    " editorial judgement of prominence: there are no backlink counts in it."
)
Snippets = dict[Subset, list[Snippet]]


def read_sources() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The spaces and the tail entities of all source files, in the order of the files."""
    spaces, tail = [], []
    for path in source_files():
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        spaces += data.get("space", [])
        tail += data.get("tail", [])
    return spaces, tail


def source_files() -> list[Path]:
    """The hand-written files, in alphabetical order."""
    return sorted((SOURCES / "mini").glob("*.toml"))


def entity(raw: dict[str, Any]) -> Entity:
    """An entity as the dataset holds it."""
    return Entity(
        title=raw["title"],
        page_id=raw.get("page_id"),
        qid=raw.get("qid"),
        kind=raw["kind"],
        description=raw["description"],
        redirects=tuple(raw.get("redirects", ())),
    )


def pick(count: int, what: str) -> int:
    """A lot drawn by the seed and what it is for, so that a new space changes no other's lot."""
    return random.Random(f"{SEED}:{what}").randrange(count)


class Assembly:
    """Snippets on their way into the benchmark part and the train part."""

    def __init__(self) -> None:
        self.benchmark: Snippets = {"top": [], "shadow": [], "tail": [], "neutral": []}
        self.train: Snippets = {"top": [], "shadow": [], "tail": []}

    def add(self, subset: Subset, raw: dict[str, Any], space: str | None, *, benchmark: bool) -> None:
        """Puts one snippet of an entity into the benchmark, if asked to, and the others into the train part."""
        chosen = pick(len(raw["snippets"]), f"snippet:{raw['title']}") if benchmark else None
        for number, marked in enumerate(raw["snippets"]):
            part, name = (self.benchmark, "mini") if number == chosen else (self.train, "mini-train")
            match = MARK.search(marked)
            assert match is not None
            part[subset].append(
                Snippet(
                    id=f"{name}-{subset}-{len(part[subset]) + 1:04d}",
                    subset=subset,
                    text=plain(marked),
                    start=match.start(),
                    end=match.start() + len(match[1]),
                    space=space,
                    gold=raw["title"],
                )
            )


def main() -> int:
    """Checks the sources, assembles both parts, writes them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "data", help="the directory for mini/ and mini-train/")
    out: Path = parser.parse_args().out
    if check_files(source_files()):
        return 1
    spaces, tail = read_sources()
    assembly = Assembly()
    for space in spaces:
        top, *shadows = space["entity"]
        chosen = pick(len(shadows), f"shadow:{space['name']}")
        assembly.add("top", top, space["name"], benchmark=True)
        for index, shadow in enumerate(shadows):
            assembly.add("shadow", shadow, space["name"], benchmark=index == chosen)
    for raw in tail:
        assembly.add("tail", raw, None, benchmark=True)
    names = (space["name"] for space in spaces)
    assembly.benchmark["neutral"] = list(make_neutral_snippets(names, words_of("en").neutral, "mini"))
    everything = [raw for space in spaces for raw in space["entity"]] + tail
    kinds = Counter(raw["kind"] for raw in everything)
    for name, title, snippets in (
        ("mini", "mini: hand-written contexts of real entities that share a name", assembly.benchmark),
        ("mini-train", "mini-train: what the benchmark part of mini leaves over", assembly.train),
    ):
        card = Card(
            name=name,
            version=VERSION,
            title=title,
            source="written for shadowprobe",
            license=LICENSE,
            made=MADE,
            about="Entities by kind: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())),
        )
        dataset = write_dataset(
            out / name,
            card,
            [entity(raw) for raw in everything],
            [EntitySpace(s["name"], tuple(raw["title"] for raw in s["entity"])) for s in spaces],
            snippets,
            force=True,
        )
        print(f"{dataset.path.name}: {dataset.card.counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
