"""Files with one JSON object per line; errors name the line and the field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar, get_args

import msgspec

from shadowprobe.base.files import BOM, open_for_reading
from shadowprobe.base.model import Status, Subset
from shadowprobe.errors import InputError

T = TypeVar("T")


class Digest(Protocol):
    """A hash of hashlib."""

    def update(self, data: bytes, /) -> None:
        """Adds bytes."""


CHOICES = {"status": get_args(Status), "subset": get_args(Subset)}
# Text with at least one character that is not white space.
NonBlank = Annotated[str, msgspec.Meta(pattern=r"\S")]
_EMPTY = re.compile(r"Expected `\w+` (?:matching regex '\\\\S'|of length >= 1)")
_FIELD_AT = re.compile(r"^(?P<problem>.*?) - at `\$\.?(?P<field>.*)`$")
_FIELD_NAMED = re.compile(r"field `([^`]+)`")
# A key; in the text of a value its quotes would be escaped.
_KEY = re.compile(rb'"(\w+)":')
# Larger files are not read a second time for repeated keys.
SMALL = 1_000_000
_BYTE = re.compile(r"\(byte (\d+)\)$")


def read_json(path: Path, kind: type[T], *, schema: int | None = None) -> T:
    """Reads the object of a JSON file and checks its type; refuses another `schema` than the given one."""
    with open_for_reading(path) as file:
        content = file.read().removeprefix(BOM)
    try:
        item = msgspec.json.decode(content, type=kind)
    except (ValueError, RecursionError) as error:
        raise _make_error(path, content, error) from None
    if len(content) <= SMALL:
        _refuse_repeated_keys(path, content)
    if schema is not None and (other := getattr(item, "schema", schema)) != schema:
        raise InputError(path, f"is {other}, and this shadowprobe reads {schema}: update it", field="schema")
    return item


def read_lines(
    path: Path, kind: type[T], *, torn: bool = False, digest: Digest | None = None, is_known: bool = False
) -> Iterator[tuple[int, T]]:
    """Yields line number and object of each line that is not blank, and checks the type.

    With `torn`, an incomplete last line is ignored: a kill in the middle of a write leaves one. `digest` is updated
    with the bytes of the file. Repeated keys are not looked for in a file that `is_known` because it was read before.
    """
    with open_for_reading(path) as file:
        lines = file if digest is None else _digest_lines(file, digest)
        yield from decode_lines(path, lines, kind, torn=torn, is_known=is_known)


def _digest_lines(lines: Iterable[bytes], digest: Digest) -> Iterator[bytes]:
    for line in lines:
        digest.update(line)
        yield line


def decode_lines(
    path: Path, lines: Iterable[bytes], kind: type[T], *, torn: bool = False, is_known: bool = False
) -> Iterator[tuple[int, T]]:
    """Decodes lines that were read from a path, for example after decompression; errors name the path."""
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
            raise _make_error(path, line, error, number) from None
        if not is_known:
            # The objects inside the object of a line may well have its keys.
            keys = _KEY.findall(line.partition(b":[{")[0])
            if len(keys) != len(set(keys)):
                _refuse_repeated_keys(path, line, number)
        yield number, item


def _refuse_repeated_keys(path: Path, content: bytes, line: int | None = None) -> None:
    """Raises if an object has a key twice: readers differ in which of the two they use."""

    def check_keys(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            field = next(key for key in keys if keys.count(key) > 1)
            raise InputError(path, "stands twice in one object", line=line, field=field)

    # What msgspec decodes and json does not, as a number of thousands of digits, is not looked at.
    with suppress(ValueError, RecursionError):
        json.loads(content, object_pairs_hook=check_keys)


def _make_error(path: Path, content: bytes, error: Exception, line: int | None = None) -> InputError:
    """Turns the decoder's error into one that names file, line and field."""

    def find_line(byte: int) -> int:
        return line if line is not None else content.count(b"\n", 0, byte) + 1

    try:
        content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        problem = f"is not UTF-8 (byte {wrong.start}: {wrong.reason})"
        return InputError(path, problem, line=find_line(wrong.start))
    if isinstance(error, RecursionError):
        return InputError(path, "not valid JSON (nested too deeply)", line=line)
    text = str(error)
    if not isinstance(error, msgspec.ValidationError):
        byte = _BYTE.search(text)
        place = int(byte[1]) if byte else len(content)
        return InputError(path, f"not valid JSON ({text})", line=find_line(place))
    at = _FIELD_AT.match(text)
    if at and at["field"]:
        field = at["field"].lstrip(".")
        choices = f": choose from {', '.join(CHOICES[field])}" if field in CHOICES and "enum" in text else ""
        problem = "is empty" if _EMPTY.fullmatch(at["problem"]) else at["problem"]
        return InputError(path, f"{problem}{choices}", line=line, field=field)
    named = _FIELD_NAMED.search(text)
    return InputError(path, text, line=line, field=named[1] if named else None)


def encode_lines(objects: Iterable[Any]) -> bytes:
    """Encodes objects as JSON lines."""
    encode = msgspec.json.Encoder().encode
    return b"".join(encode(item) + b"\n" for item in objects)


def encode_json(item: Any) -> bytes:
    """Encodes an object as indented JSON that a person can read and compare."""
    return msgspec.json.format(msgspec.json.encode(item), indent=2) + b"\n"


def convert_to_json(item: Any) -> Any:
    """Returns the object as if it was written to JSON and read again: NumPy numbers and paths become plain values."""
    return msgspec.json.decode(msgspec.json.encode(item, enc_hook=_simplify))


def _simplify(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
