"""The lines of the keys of a TOML file, for messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.base.toml_file import TomlFile, find_lines
from shadowprobe.errors import InputError

TEXT = '''\
# A comment with = and [brackets]

title = "a"
datasets = [
  "one",  # key = "in a comment"
  "two",
]
text = """
fake = 1
[fake]
"""
a.b.c = 1

[plain]
"quoted key" = { x = 1, y = [ {z = 2} ] }
[plain.inner]   # with a comment
last = 1

[[systems]]
linker = "prior"

  [[systems]]
  linker = "blend"
  [systems.options]
  weight = 0.5
[[systems.parts]]
part = 1
[[systems.parts]]
part = 2
'''


def test_each_key_has_the_line_on_which_its_statement_begins() -> None:
    assert find_lines(TEXT) == {
        ("title",): 3,
        ("datasets",): 4,
        ("datasets", 0): 4,
        ("datasets", 1): 4,
        ("text",): 8,
        ("a",): 12,
        ("a", "b"): 12,
        ("a", "b", "c"): 12,
        ("plain",): 14,
        ("plain", "quoted key"): 15,
        ("plain", "quoted key", "x"): 15,
        ("plain", "quoted key", "y"): 15,
        ("plain", "quoted key", "y", 0): 15,
        ("plain", "quoted key", "y", 0, "z"): 15,
        ("plain", "inner"): 16,
        ("plain", "inner", "last"): 17,
        ("systems", 0): 19,
        ("systems", 0, "linker"): 20,
        ("systems", 1): 22,
        ("systems", 1, "linker"): 23,
        ("systems", 1, "options"): 24,
        ("systems", 1, "options", "weight"): 25,
        ("systems", 1, "parts", 0): 26,
        ("systems", 1, "parts", 0, "part"): 27,
        ("systems", 1, "parts", 1): 28,
        ("systems", 1, "parts", 1, "part"): 29,
    }


def test_other_line_ends_and_separators_count_as_in_an_editor(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    # An editor sees three lines; U+2028 is a part of the text.
    file.write_bytes(b"\xef\xbb\xbf" + 'a = "x\u2028y"\r\n\r\nb = 1\r\n'.encode())
    toml = TomlFile(file)
    assert toml.values == {"a": "x\u2028y", "b": 1}
    assert toml.make_error("is wrong", "b").line == 3


def test_a_key_that_is_not_there_is_reported_at_the_table_that_lacks_it(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("x = 1\n[[systems]]\nname = 'a'\n")
    toml = TomlFile(file)
    assert str(toml.make_error("is missing", "systems", 0, "linker")) == f"{file}:2: field `linker`: is missing"
    assert str(toml.make_error("is missing", "datasets")) == f"{file}: field `datasets`: is missing"


def test_an_array_of_tables_is_reported_at_its_first_header(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('limit = 1\n\n[[system]]\nlinker = "prior"\n[[system]]\nlinker = "bm25"\n')
    error = TomlFile(tmp_path / "a.toml").make_error("is no key", "system")
    assert str(error) == f"{tmp_path}/a.toml:3: field `system`: is no key"


def test_a_statement_of_very_many_lines_gets_no_line() -> None:
    # The end of a statement is looked for in its first 501 lines.
    first, last = "a = 1\nb = [\n", "]\nc = 1\n"
    assert find_lines(first + "1,\n" * 500 + last) == {("a",): 1}
    lines = find_lines(first + "1,\n" * 499 + last)
    assert (lines["a",], lines["b",], lines["c",]) == (1, 2, 503)


def test_a_file_may_have_a_million_characters(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"#" * 1_000_000)
    assert TomlFile(tmp_path / "a.toml").values == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a = 1\nb = \n", ":2: not valid TOML (Invalid value)"),
        (b"a = 1\na = 2\n", ":2: not valid TOML (Cannot overwrite a value)"),
        (b"a = 1\nb = [1,\n2", ":3: not valid TOML (Unclosed array)"),
        (b"a = 1\nb = '\xff'\n", ":2: is not UTF-8 (byte 5: invalid start byte)"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, ": not valid TOML (nested too deeply, or with too long a number)"),
        (b"a = " + b"9" * 5000, ": not valid TOML (nested too deeply, or with too long a number)"),
        (b"#" * 1_000_001, ": is too long: it has more than 1000000 characters"),
    ],
    ids=["value", "twice", "unclosed", "encoding", "nested", "number", "long"],
)
def test_a_file_that_is_no_toml_is_refused_in_one_line(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        TomlFile(file)
    assert str(error.value) == f"{file}{words}"
