"""Messages: one line, of limited length, that names its place and what to do."""

from __future__ import annotations

import pytest

from shadowprobe.errors import (
    InputError,
    LinkerError,
    abridge,
    format_error,
    missing_extra,
    missing_packages,
    nearest,
    shorten,
)


def test_a_message_keeps_two_thirds_of_its_beginning_and_a_third_of_its_end() -> None:
    assert abridge("1" * 400 + "2" * 401) == "1" * 400 + " ... " + "2" * 200
    assert len(abridge("x" * 10_000)) == 600 + len(" ... ")
    assert abridge("x" * 600) == "x" * 600


def test_a_message_is_one_line_that_can_be_encoded() -> None:
    assert abridge("two\n lines\t\ud800") == "two lines \\ud800"


def test_a_text_in_a_message_is_cut_at_its_end() -> None:
    assert shorten("a  b\nc", 5) == "a b c"
    assert shorten("a b c d", 5) == "a b c..."
    assert shorten("x" * 201) == "x" * 200 + "..."
    assert shorten("x" * 200) == "x" * 200


def test_the_place_of_bad_input_is_file_line_and_field() -> None:
    assert str(InputError("f.json", "is bad")) == "f.json: is bad"
    assert str(InputError("f.json", "is bad", line=0)) == "f.json:0: is bad"
    assert str(InputError("f.json", "is bad", line=7, field="id")) == "f.json:7: field `id`: is bad"


def test_an_error_that_was_not_written_for_the_user_has_the_name_of_its_class() -> None:
    assert format_error(LinkerError("no model")) == "no model"
    assert format_error(ValueError("no model")) == "ValueError: no model"


def test_a_missing_package_says_what_to_install() -> None:
    assert str(missing_extra("dense")) == "`dense` needs its extra: pip install 'shadowprobe[dense]'"
    assert str(missing_packages(ModuleNotFoundError(name="lxml.html"))) == (
        "`lxml` is not installed: pip install 'shadowprobe[build]'"
    )
    assert missing_packages(ModuleNotFoundError(name="other")) is None
    assert missing_packages(ModuleNotFoundError()) is None


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("priro", " (did you mean `prior`?)"),
        ("oracl", " (did you mean `oracle`?)"),
        ("xyz", ""),
        ("prt", " (did you mean `prior`?)"),
    ],
)
def test_a_hint_is_the_nearest_name_if_half_of_it_is_the_same(word: str, hint: str) -> None:
    # `prt` and `prior` share two letters, `pr`: 2 * 2 / (3 + 5) is a half.
    assert nearest(word, ["prior", "oracle"]) == hint
