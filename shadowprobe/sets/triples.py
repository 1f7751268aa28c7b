"""A file of triples: subjects, properties and objects, one triple a line."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, field

from shadowprobe.build.dumps.files import broken, open_dump
from shadowprobe.errors import InputError
from shadowprobe.jsonl import BOM

_PROPERTY = re.compile(r"P[1-9][0-9]*")


class Triple(Struct, frozen=True):
    """A fact: an object in all its forms, and how common the subject is, where that is known."""

    subject: str
    # `property` itself is a word of Python's.
    number: str = field(name="property")
    object: tuple[str, ...] | str
    frequency: int | None = None

    @property
    def forms(self) -> tuple[str, ...]:
        """The object in all its forms."""
        return (self.object,) if isinstance(self.object, str) else self.object


def read_triples(path: Path) -> Iterator[Triple]:
    """The triples of a file, `subject<TAB>property<TAB>object[<TAB>frequency]` or JSON lines with these fields.

    Forms of an object are parted by `|`, in JSON they are a list. Packed by gzip or bzip2 or not at all.
    """
    with open_dump(path) as file:
        try:
            for number, raw in enumerate(file, start=1):
                line = raw.removeprefix(BOM).strip(b"\r\n")
                if line.strip():
                    yield _checked(path, number, line)
        except (OSError, EOFError, zlib.error) as error:
            raise broken(path, error) from None


def _checked(path: Path, number: int, line: bytes) -> Triple:
    try:
        triple = _of_json(line) if line.lstrip().startswith(b"{") else _of_table(line.decode("utf-8"))
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


def _of_json(line: bytes) -> Triple:
    try:
        return msgspec.json.decode(line, type=Triple)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise ValueError(f"not valid JSON ({error})") from None


def _of_table(line: str) -> Triple:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) not in {3, 4}:
        raise ValueError(f"has {len(cells)} columns, and not subject, property and object, and perhaps a frequency")
    frequency = cells[3] if len(cells) == 4 else ""
    if frequency and not (frequency.isascii() and frequency.isdecimal()):
        raise ValueError(f"the frequency {frequency!r} is not a whole number")
    forms = tuple(form.strip() for form in cells[2].split("|"))
    return Triple(cells[0], cells[1], forms, int(frequency) if frequency else None)
