"""Files of one JSON object per line, read with errors that name the line and the field."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from shadowprobe.errors import InputError

T = TypeVar("T")
_FIELD_AT = re.compile(r"^(?P<problem>.*?) - at `\$\.?(?P<field>.*)`$")
_FIELD_NAMED = re.compile(r"field `(?P<field>[^`]+)`")


def input_error(path: Path, error: msgspec.MsgspecError, line: int | None = None) -> InputError:
    """Turns msgspec's complaint into one that names file, line and field."""
    text = str(error)
    at = _FIELD_AT.match(text)
    if at and at["field"]:
        return InputError(path, at["problem"], line=line, field=at["field"].lstrip("."))
    named = _FIELD_NAMED.search(text)
    problem = text if isinstance(error, msgspec.ValidationError) else f"not valid JSON ({text})"
    return InputError(path, problem, line=line, field=named["field"] if named else None)


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
        try:
            return msgspec.json.decode(file.read(), type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _readable(path, error) from None


def read_lines(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
    """Line number and object of each line that is not blank, checked against its type."""
    decode = msgspec.json.Decoder(kind).decode
    with open_for_reading(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                if line.strip():
                    raise _readable(path, error, number) from None


def _readable(path: Path, error: Exception, line: int | None = None) -> InputError:
    if isinstance(error, msgspec.MsgspecError):
        return input_error(path, error, line)
    return InputError(path, f"is not UTF-8 ({error})", line=line)


def encode_lines(objects: Iterable[Any]) -> bytes:
    """The objects as JSON lines."""
    encode = msgspec.json.Encoder().encode
    return b"".join(encode(item) + b"\n" for item in objects)


def encode_json(item: Any) -> bytes:
    """The object as JSON that a person can read and diff."""
    return msgspec.json.format(msgspec.json.encode(item), indent=2) + b"\n"


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a whole file or leaves the old one: a reader never meets half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
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
