"""JSON files and JSON lines: what is read, and how an error names its place."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import Struct

from shadowprobe import InputError, Prediction
from shadowprobe.base.jsonl import NonBlank, convert_to_json, encode_json, encode_lines, read_json, read_lines


class Thing(Struct):
    """What the files of these tests hold."""

    name: NonBlank
    schema: int = 1
    parts: list[dict[str, int]] = []


def write(tmp_path: Path, content: bytes | str) -> Path:
    path = tmp_path / "f.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{\n"name": }', ":2: not valid JSON (JSON is malformed: invalid character (byte 10))"),
        ('{"name": "a"', ":1: not valid JSON (Input data was truncated)"),
        ('\n{"name": }', ":2: not valid JSON (JSON is malformed: invalid character (byte 10))"),
        (b'{\n\n"name": "\xff"}', ":3: is not UTF-8 (byte 12: invalid start byte)"),
        ('{"name": "a", "other": ' + "[" * 100_000, ": not valid JSON (nested too deeply)"),
        ('{"name": " "}', ": field `name`: is empty"),
        ('{"name": 1}', ": field `name`: Expected `str`, got `int`"),
        ("{}", ": field `name`: Object missing required field `name`"),
        ("[]", ": Expected `object`, got `array`"),
        ('{"name": "a", "name": "b"}', ": field `name`: stands twice in one object"),
        ('{"schema": 1, "name": "a", "name": "b"}', ": field `name`: stands twice in one object"),
        ('{"name": "a", "parts": [{"x": 1, "x": 2}]}', ": field `x`: stands twice in one object"),
        ('{"name": "a", "schema": 2}', ": field `schema`: is 2, and this shadowprobe reads 1: update it"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, content: bytes | str, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as refused:
        read_json(path, Thing, schema=1)
    assert str(refused.value) == f"{path}{message}"


def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    assert read_json(write(tmp_path, b'\xef\xbb\xbf{"name": "a"}'), Thing) == Thing("a")
    assert read_json(write(tmp_path, '{"name": "a", "schema": 2}'), Thing) == Thing("a", 2)


def test_repeated_keys_are_looked_for_up_to_a_million_bytes(tmp_path: Path) -> None:
    start, end = '{"name": "a", "name": "', '"}'
    room = 1_000_000 - len(start) - len(end)
    with pytest.raises(InputError, match="stands twice"):
        read_json(write(tmp_path, start + "b" * room + end), Thing)
    assert len(read_json(write(tmp_path, start + "b" * (room + 1) + end), Thing).name) == room + 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON (Input data was truncated)"),
        ('{"name": "a", "name": "b"}', "field `name`: stands twice in one object"),
        ('{"name":"a","parts":[{"x":1},{"x":2,"x":3}]}', ""),
        ('{"name":"a","parts":[{"x":1},{"x":2}]}', ""),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, f'{{"name": "a"}}\n\n{line}\n')
    if not message:
        # The objects of a list may have the same keys, and are not looked at.
        assert [number for number, _ in read_lines(path, Thing)] == [1, 3]
        return
    with pytest.raises(InputError) as refused:
        list(read_lines(path, Thing))
    assert str(refused.value) == f"{path}:3: {message}"


def test_a_wrong_choice_lists_the_right_ones(tmp_path: Path) -> None:
    path = write(tmp_path, '{"id": "a", "status": "none"}\n')
    with pytest.raises(InputError, match=r"`status`: Invalid enum value 'none': choose from linked, nil, skipped$"):
        list(read_lines(path, Prediction))
    # What is no text has no choice.
    with pytest.raises(InputError, match=r"`status`: Expected `str`, got `int`$"):
        list(read_lines(write(tmp_path, '{"id": "a", "status": 1}\n'), Prediction))


def test_a_line_without_its_end_is_ignored_only_if_it_may_be_torn(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf{"name": "a"}\n{"name": "b"}')
    assert [thing.name for _, thing in read_lines(path, Thing)] == ["a", "b"]
    assert [thing.name for _, thing in read_lines(path, Thing, torn=True)] == ["a"]


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, '{"name": "a"}\n\n{"name": "b"}\n')
    digest = hashlib.sha256()
    list(read_lines(path, Thing, digest=digest))
    assert digest.hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_is_written_ends_with_a_line_break() -> None:
    assert encode_lines([{"a": 1}, {"b": [2]}]) == b'{"a":1}\n{"b":[2]}\n'
    assert encode_json({"a": {"b": 1}}) == b'{\n  "a": {\n    "b": 1\n  }\n}\n'


@pytest.mark.parametrize(
    ("item", "plain"),
    [
        (np.float64(0.5), 0.5),
        (np.array([1, 2]), [1, 2]),
        (Path("a/b"), "a/b"),
        ({"a": (1, np.bool_(True))}, {"a": [1, True]}),
    ],
)
def test_numbers_and_paths_become_plain(item: Any, plain: Any) -> None:
    assert convert_to_json(item) == plain
