"""Says whether two directories of outputs contain the same numbers; scripts/make_outputs.sh makes such directories.

    python scripts/compare_numbers.py OLD NEW

results.json is compared value by value; a key that only NEW has is listed and allowed. Of tables and figures the
numbers are compared in their order. The tables of a report may be laid out anew: every number of the old ones must be
in the new report. Exits with 1 where a number differs or an output of OLD is missing.
"""

from __future__ import annotations

import base64
import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

# A sign belongs to a number only where no digit stands before it: `1-2` is a range.
NUMBER = re.compile(r"(?<![\d.])[-+−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?|(?<=\d)[-−]\d+(?:\.\d+)?", re.IGNORECASE)
# Digits of a figure that nobody sees: coordinates are in points.
FIGURE_DIGITS = 2
Numbers = list[str]


def numbers_in(text: str) -> Numbers:
    """The numbers of a text in their order."""
    return NUMBER.findall(text)


def compare_values(old: Any, new: Any, place: str) -> Iterator[tuple[str, str]]:
    """Differences between two JSON values: `added`, `missing` or `different`, each with its place."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            inside = f"{place}.{key}"
            if key not in new:
                yield "missing", inside
            elif key not in old:
                yield "added", inside
            else:
                yield from compare_values(old[key], new[key], inside)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from compare_values(one, other, f"{place}[{number}]")
    elif not is_same(old, new):
        yield "different", f"{place}: {old!r} and {new!r}"


def is_same(old: Any, new: Any) -> bool:
    """True for two equal values of one type; two that are not a number are equal too."""
    if isinstance(old, float) and isinstance(new, float) and math.isnan(old) and math.isnan(new):
        return True
    return type(old) is type(new) and old == new


class ReportReader(HTMLParser):
    """The texts of a report, each figure, and the browser's data."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.figures: dict[str, str] = {}
        self.data: Any = None
        self.blocks: list[Any] = []
        self._skipped = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps a figure, and notes that a script or a style begins."""
        attributes = dict(attrs)
        if tag == "img" and attributes.get("src"):
            self.figures[attributes.get("id") or "figure"] = attributes["src"] or ""
        if tag in {"script", "style"}:
            name = (attributes.get("id") or "").partition("-")[0]
            self._skipped = name if name in {"data", "block"} else tag

    def handle_endtag(self, tag: str) -> None:
        """Goes back to the text around a script or a style."""
        if tag in {"script", "style"}:
            self._skipped = ""

    def handle_data(self, data: str) -> None:
        """Keeps a text, or the data of the browser."""
        if self._skipped == "data":
            self.data = json.loads(data)
        elif self._skipped == "block":
            # Base 85 with a comma in place of <.
            self.blocks.append(json.loads(zlib.decompress(base64.b85decode(data.replace(",", "<")))))
        elif not self._skipped:
            self.texts.append(data)


def read_report(path: Path) -> dict[str, Any]:
    """The numbers of a report by what they stand in."""
    reader = ReportReader()
    reader.feed(path.read_text(encoding="utf-8"))
    svg = "data:image/svg+xml,"
    return {
        # A report may lay its tables out anew: each number must be somewhere in them or in the text.
        "shown": dict.fromkeys(numbers_in(" ".join(reader.texts)), True),
        **{name: figure_numbers(unquote(source.removeprefix(svg))) for name, source in reader.figures.items()},
        "data": without_words(reader.data),
        "blocks": without_words(reader.blocks),
    }


def without_words(value: Any) -> Any:
    """A JSON value whose texts are only their numbers: a report may be worded anew."""
    if isinstance(value, dict):
        return {key: without_words(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_words(one) for one in value]
    return numbers_in(value) if isinstance(value, str) else value


def figure_numbers(svg: str) -> dict[str, Numbers]:
    """The coordinates of a figure by the elements that have them; texts are drawn as such too."""
    found: dict[str, Numbers] = {}
    for element in ElementTree.fromstring(svg).iter():
        tag = element.tag.rpartition("}")[2]
        values = [
            element.attrib[name] for name in ("d", "x", "y", "width", "height", "transform") if name in element.attrib
        ]
        found.setdefault(tag, []).extend(
            f"{float(number):.{FIGURE_DIGITS}f}" for value in values for number in re.findall(r"-?\d+\.?\d*", value)
        )
    return found


READERS: dict[str, Callable[[Path], Any]] = {
    "results.json": lambda path: json.loads(path.read_text(encoding="utf-8")),
    ".html": read_report,
    ".svg": lambda path: figure_numbers(path.read_text(encoding="utf-8")),
    **dict.fromkeys((".latex", ".tex", ".csv", ".markdown"), lambda path: numbers_in(path.read_text(encoding="utf-8"))),
}


def outputs(directory: Path) -> Iterator[tuple[Path, Callable[[Path], Any]]]:
    """The files of a directory that hold numbers to compare, each with what reads it."""
    for path in sorted(directory.rglob("*")):
        reader = READERS.get(path.name) or READERS.get(path.suffix)
        if reader is not None and path.is_file():
            yield path.relative_to(directory), reader


def compare(old: Path, new: Path) -> tuple[int, list[tuple[str, str]]]:
    """How many outputs were compared, and all differences between them."""
    differences: list[tuple[str, str]] = []
    names = list(outputs(old))
    for name, read in names:
        if not (new / name).exists():
            differences.append(("missing", str(name)))
        else:
            differences += compare_values(read(old / name), read(new / name), str(name))
    return len(names), differences


def main(old: str, new: str) -> int:
    """Prints the differences, and returns the exit code."""
    count, differences = compare(Path(old), Path(new))
    if not count:
        print(f"{old} holds no outputs: scripts/make_outputs.sh makes them")
        return 2
    for kind, place in differences:
        print(f"{kind:9}  {place}")
    wrong = sum(kind != "added" for kind, _ in differences)
    print(
        f"{count} outputs compared: {wrong} numbers differ or are missing, {len(differences) - wrong} keys were added"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: compare_numbers.py OLD NEW")
    sys.exit(main(sys.argv[1], sys.argv[2]))
