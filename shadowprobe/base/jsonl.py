"""Files of one JSON object per line, read with errors that name the line and the field."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec

from shadowprobe.errors import InputError, UsageError
from shadowprobe.model import Status, Subset

T = TypeVar("T")
CHOICES = {"status": get_args(Status), "subset": get_args(Subset)}
# Some editors and spreadsheets put it before the first line.
BOM = b"\xef\xbb\xbf"
_FIELD_AT = re.compile(r"^(?P<problem>.*?) - at `\$\.?(?P<field>.*)`$")
_FIELD_NAMED = re.compile(r"field `([^`]+)`")
_BYTE = re.compile(r"\(byte (\d+)\)$")


def open_for_reading(path: Path) -> Any:
    """Opens a file for reading bytes, or says in one line why it cannot."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "is a directory, not a file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None


def read_json(path: Path, kind: type[T]) -> T:
    """The object in a JSON file, checked against its type."""
    with open_for_reading(path) as file:
        content = file.read().removeprefix(BOM)
    try:
        return msgspec.json.decode(content, type=kind)
    except (ValueError, RecursionError) as error:
        raise _readable(path, content, error) from None


def read_lines(path: Path, kind: type[T], *, torn: bool = False) -> Iterator[tuple[int, T]]:
    """Line number and object of each line that is not blank, checked against its type.

    With `torn`, a last line without its end is passed over: all that a kill in the middle of a write can leave.
    """
    with open_for_reading(path) as file:
        yield from decode_lines(path, file, kind, torn=torn)


def decode_lines(path: Path, lines: Iterable[bytes], kind: type[T], *, torn: bool = False) -> Iterator[tuple[int, T]]:
    """The same of lines that need unpacking first; the path says where they come from."""
    decode = msgspec.json.Decoder(kind).decode
    for number, raw in enumerate(lines, start=1):
        line = raw.removeprefix(BOM) if number == 1 else raw
        if torn and not line.endswith(b"\n"):
            return
        try:
            item = decode(line)
        except (ValueError, RecursionError) as error:
            if not line.strip():
                continue
            raise _readable(path, line, error, number) from None
        yield number, item


def _readable(path: Path, content: bytes, error: Exception, line: int | None = None) -> InputError:
    """Turns the decoder's complaint into one that names file, line and field."""

    def line_of(byte: int) -> int:
        return line if line is not None else content.count(b"\n", 0, byte) + 1

    try:
        content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        problem = f"is not UTF-8 (byte {wrong.start}: {wrong.reason})"
        return InputError(path, problem, line=line_of(wrong.start))
    if isinstance(error, RecursionError):
        return InputError(path, "not valid JSON (nested too deeply)", line=line)
    text = str(error)
    if not isinstance(error, msgspec.ValidationError):
        byte = _BYTE.search(text)
        place = int(byte[1]) if byte else len(content)
        return InputError(path, f"not valid JSON ({text})", line=line_of(place))
    at = _FIELD_AT.match(text)
    if at and at["field"]:
        field = at["field"].lstrip(".")
        choices = f": choose from {', '.join(CHOICES[field])}" if field in CHOICES and "enum" in text else ""
        return InputError(path, f"{at['problem']}{choices}", line=line, field=field)
    named = _FIELD_NAMED.search(text)
    return InputError(path, text, line=line, field=named[1] if named else None)


def encode_lines(objects: Iterable[Any]) -> bytes:
    """The objects as JSON lines."""
    encode = msgspec.json.Encoder().encode
    return b"".join(encode(item) + b"\n" for item in objects)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with open_for_reading(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def encode_json(item: Any) -> bytes:
    """The object as JSON that a person can read and diff."""
    return msgspec.json.format(msgspec.json.encode(item), indent=2) + b"\n"


def as_read_back(item: Any) -> Any:
    """The object as it will be when it has been written and read: NumPy's numbers are numbers, a path is its text."""
    return msgspec.json.decode(msgspec.json.encode(item, enc_hook=_plain))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


# How the name of a file ends that is not yet what it is to be.
_HALF = ".half"


def drop_halves(directory: Path) -> None:
    """Removes what a kill in the middle of an atomic write leaves; only where nobody else is writing."""
    for half in directory.glob(f".*{_HALF}"):
        half.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a whole file or leaves the old one: a reader never meets half of it."""
    try:
        _replace(path, content)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_HALF)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes files that only the owner can read; a result is meant to be shared.
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
