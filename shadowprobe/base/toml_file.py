"""A TOML file that a user writes: its values, and the line of each key for messages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from shadowprobe.base.files import read_text_lines
from shadowprobe.errors import InputError

# A path to a value: keys of tables and places in arrays.
Keys = tuple[str | int, ...]
# A statement of more lines than that gets no line in a message: finding its end would take too long.
MOST_LINES = 500
MOST_CHARACTERS = 1_000_000
_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


class TomlFile:
    """The values of a TOML file, and the lines on which they stand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = "\n".join(line for _, line in read_text_lines(path))
        if len(self._text) > MOST_CHARACTERS:
            raise InputError(path, f"is too long: it has more than {MOST_CHARACTERS} characters")
        try:
            self.values: dict[str, Any] = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))
            line = int(place["line"]) if place and place["line"] else self._text.count("\n") + 1
            raise InputError(path, f"not valid TOML ({_PLACE.sub('', str(error))})", line=line) from None
        except (RecursionError, ValueError):
            # Tables inside each other thousands of times, or a number of thousands of digits.
            raise InputError(path, "not valid TOML (nested too deeply, or with too long a number)") from None

    @cached_property
    def _lines(self) -> dict[Keys, int]:
        return find_lines(self._text)

    def make_error(self, problem: str, *keys: str | int) -> InputError:
        """An error about the value of a key, or about the table that should have it; it names the line and the key."""
        names = [key for key in keys if isinstance(key, str)]
        lines = (self._find_line(keys[:end]) for end in range(len(keys), 0, -1))
        line = next((line for line in lines if line is not None), None)
        return InputError(self.path, problem, line=line, field=names[-1] if names else None)

    def _find_line(self, keys: Keys) -> int | None:
        """The first line of a value; an array of tables begins with the header of its first one."""
        return next((line for path, line in self._lines.items() if path[: len(keys)] == keys), None)


def find_lines(text: str) -> dict[Keys, int]:
    """The line on which the statement begins that gives a value to each key of a valid TOML text.

    The parser of Python does not say. But each statement is valid TOML alone, so that its end is the first line with
    which it can be parsed.
    """
    lines: dict[Keys, int] = {}
    table: Keys = ()
    lengths: dict[Keys, int] = {}
    statement: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        statement.append(line)
        try:
            found = tomllib.loads("\n".join(statement))
        except ValueError:
            if len(statement) > MOST_LINES:
                return lines
            continue
        first = number - len(statement) + 1
        if statement[0].lstrip().startswith("["):
            table = _open_table(found, lengths)
            lines[table] = first
        else:
            lines |= {(*table, *keys): first for keys in _list_keys(found)}
        statement = []
    return lines


def _open_table(found: Any, lengths: dict[Keys, int]) -> Keys:
    """The path that a header such as `[a.b]` or `[[a]]` opens; `lengths` are those of the arrays of tables so far."""
    table: Keys = ()
    while found:
        ((key, found),) = found.items()
        table = (*table, key)
        if isinstance(found, list):
            lengths[table] = lengths.get(table, 0) + 1
            found = found[0]
        if table in lengths:
            # A header means the last table of an array.
            table = (*table, lengths[table] - 1)
    return table


def _list_keys(value: Any) -> Iterator[Keys]:
    """The paths of all values inside a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (key,)
        yield from ((key, *keys) for keys in _list_keys(inner))
