"""The hand-written material, and the sentences that are made of it."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Row(NamedTuple):
    """An entity: its title and kind, how many chronicles link to it, and its commonness."""

    title: str
    kind: str
    chronicles: int
    commonness: int


def name_of(title: str) -> str:
    """A title as texts write it, without its qualifier."""
    return title.partition(" (")[0].partition(", ")[0]


@cache
def table(name: str) -> dict[str, Any]:
    """One of the files beside this one."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def rows(lines: list[str]) -> list[Row]:
    """The entities of some lines of spaces.toml."""
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [Row(title, kind, int(chronicles), int(commonness)) for title, kind, chronicles, commonness in cells]


def spaces() -> dict[str, list[Row]]:
    """The entities by the name that they share."""
    return {name: rows(lines) for name, lines in table("spaces")["spaces"].items()}


def alone() -> list[Row]:
    """The entities that share their name with nothing."""
    return rows(table("spaces")["alone"]["rows"])


def sentences(row: Row, number: int, which: str) -> list[str]:
    """What the material says of an entity; the number chooses its year, place and persons."""
    words = table("words")
    facts = {
        "title": name_of(row.title),
        "place": words["places"][number % len(words["places"])],
        "person": words["persons"][(number * 3) % len(words["persons"])],
        "year": str(1851 + (number * 7) % 140),
        "number": str(11 + (number * 13) % 80),
    }
    found: list[str] = table("kinds")[row.kind][which]
    return [sentence.format(**facts) for sentence in found]


def filler(start: int, count: int) -> list[str]:
    """Sentences that say nothing of any entity; neighbours in the material come far apart."""
    known: list[str] = table("words")["filler"]
    return [known[(start * 5 + step * 7) % len(known)] for step in range(count)]
