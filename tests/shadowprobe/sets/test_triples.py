"""Triples in columns or in JSON lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from shadowprobe.base.files import BOM
from shadowprobe.errors import InputError
from shadowprobe.sets.triples import Triple, read_triples


def read(path: Path, content: bytes) -> list[Triple]:
    path.write_bytes(content)
    return list(read_triples(path))


def test_columns_and_json_say_the_same(tmp_path: Path) -> None:
    expected = [Triple("Ann", "P19", ("Rome", "Roma"), 7), Triple("Bob", "P20", ("Oslo",))]
    columns = b"Ann\tP19\tRome | Roma\t7\n\n Bob \tP20\tOslo\r\n"
    assert read(tmp_path / "t.tsv", BOM + columns) == expected
    assert read(tmp_path / "t.tsv.gz", gzip.compress(columns)) == expected
    lines = b'{"subject":"Ann","property":"P19","object":["Rome","Roma"],"frequency":7}\n'
    assert read(tmp_path / "t.jsonl", lines + b' {"subject":"Bob","property":"P20","object":"Oslo"}')[0] == expected[0]
    assert read(tmp_path / "t.tsv", b"Bob\tP20\tOslo\t") == expected[1:]
    assert read(tmp_path / "t.tsv", b"Bob\tP20\tOslo\t0")[0].frequency == 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Ann\tP19", "has 2 columns: expected subject"),
        ("Ann\tP19\tRome\t7\tx", "has 5 columns: expected subject"),
        ("Ann\tP19\tRome\t-7", "the frequency '-7' is not a whole number"),
        ("Ann\tP19\tRome\t²", "the frequency '²' is not a whole number"),
        (" \tP19\tRome", "field `subject`: is empty"),
        ("Ann\tP0\tRome", "field `property`: 'P0' is not the number of a property, such as P19"),
        ("Ann\tP19x\tRome", "field `property`: 'P19x' is not the number"),
        ("Ann\tP19\t", "field `object`: is empty"),
        ("Ann\tP19\tRome|", "field `object`: is empty"),
        ('{"subject":"Ann","property":"P19","object":[]}', "field `object`: is empty"),
        ('{"subject":"Ann","property":"P19","object":"x","frequency":-1}', "field `frequency`: is negative"),
        ('{"subject":"Ann"', r"not valid JSON \("),
        ('{"subject":"Ann","property":"P19"}', "missing required field `object`"),
    ],
)
def test_a_wrong_line_is_named_with_its_field(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InputError, match=rf"t\.tsv:2: .*{problem}"):
        read(tmp_path / "t.tsv", f"Bob\tP20\tOslo\n{line}\n".encode())


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.tsv:1: is not UTF-8 \(byte 3: "):
        read(tmp_path / "t.tsv", b"Ann\xff\tP19\tRome\n")
