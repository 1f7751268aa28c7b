"""The page on limits, compared with the code: each of its numbers is the one in force."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "limits.md"
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|") and "`" in line[-40:]]
ROW = re.compile(r"\| .+ \| (?P<number>[\d,.]+)(?P<unit>%| \w+|) \| `(?P<place>[\w.]+)` \|")
UNITS = {"": 1, "%": 0.01, "s": 1, "minutes": 60, "kB": 1000, "MB": 1000**2, "KiB": 1024, "MiB": 1024**2}


def read_value(row: str) -> object:
    """The number in the code; it is read before a fixture shortens pauses."""
    place = row.rpartition("`")[0].rpartition("`")[2]
    return pkgutil.resolve_name(f"shadowprobe.{place}")


@pytest.mark.parametrize(("row", "value"), [(row, read_value(row)) for row in ROWS])
def test_a_documented_limit_is_the_one_in_force(row: str, value: object) -> None:
    match = ROW.fullmatch(row)
    assert match, "a row has what is limited, a number with its unit, and a place in the code"
    documented = float(match["number"].replace(",", "")) * UNITS[match["unit"].strip()]
    assert value == pytest.approx(documented, rel=1e-12)


def test_no_limit_is_documented_twice() -> None:
    places = [row.rpartition("| ")[2] for row in ROWS]
    assert len(places) == len(set(places)) > 100
