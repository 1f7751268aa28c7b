"""A file of triples: subject, property and object, one triple per line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, field

from shadowprobe.base.compressed import read_compressed_lines
from shadowprobe.base.files import BOM
from shadowprobe.errors import InputError

_PROPERTY = re.compile(r"P[1-9][0-9]*")


class Triple(Struct, frozen=True):
    """A fact: the object in all its forms, and the frequency of the subject, if known."""

    subject: str
    # `property` is a built-in name of Python.
    number: str = field(name="property")
    object: tuple[str, ...] | str
    frequency: int | None = None

    @property
    def forms(self) -> tuple[str, ...]:
        """The object in all its forms."""
        return (self.object,) if isinstance(self.object, str) else self.object


def read_triples(path: Path) -> Iterator[Triple]:
    """Reads triples from `subject<TAB>property<TAB>object[<TAB>frequency]` or JSON lines with these fields.

    Forms of an object are separated by `|`; in JSON they are a list. The file may be compressed with gzip or bzip2.
    """
    for number, raw in enumerate(read_compressed_lines(path), start=1):
        line = raw.removeprefix(BOM).strip(b"\r\n")
        if line.strip():
            yield _read_triple(path, number, line)


def _read_triple(path: Path, number: int, line: bytes) -> Triple:
    try:
        triple = _parse_json(line) if line.lstrip().startswith(b"{") else _parse_columns(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not UTF-8 (byte {error.start}: {error.reason})", line=number) from None
    except ValueError as error:
        raise InputError(path, str(error), line=number) from None
    wrong = {
        "subject": not triple.subject.strip(),
        "property": not _PROPERTY.fullmatch(triple.number),
        "object": not triple.forms or not all(form.strip() for form in triple.forms),
        "frequency": triple.frequency is not None and triple.frequency < 0,
    }
    problems = {
        "property": f"{triple.number!r} is not the number of a property, such as P19",
        "frequency": "is negative",
    }
    for name in (name for name, is_wrong in wrong.items() if is_wrong):
        raise InputError(path, problems.get(name, "is empty"), line=number, field=name)
    return triple


def _parse_json(line: bytes) -> Triple:
    try:
        return msgspec.json.decode(line, type=Triple)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise ValueError(f"not valid JSON ({error})") from None


def _parse_columns(line: str) -> Triple:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) not in {3, 4}:
        raise ValueError(f"has {len(cells)} columns: expected subject, property, object and perhaps a frequency")
    frequency = cells[3] if len(cells) == 4 else ""
    if frequency and not (frequency.isascii() and frequency.isdecimal()):
        raise ValueError(f"the frequency {frequency!r} is not a whole number")
    forms = tuple(form.strip() for form in cells[2].split("|"))
    return Triple(cells[0], cells[1], forms, int(frequency) if frequency else None)
