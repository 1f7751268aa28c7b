"""The words of languages, and neutral contexts of a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.base.languages import PLACE, Language, known_languages, read_language, words_of
from shadowprobe.base.spans import find_name
from shadowprobe.errors import BuildError, InputError


@pytest.mark.parametrize(
    ("code", "page", "name"),
    [
        ("en", "Mercury (disambiguation)", "Mercury"),
        ("en", "Mercury (Disambiguation)", "Mercury"),
        ("en", "Mercury", "Mercury"),
        ("en", "Mercury (planet)", "Mercury (planet)"),
        ("en", "Mercury (disambiguation) II", "Mercury (disambiguation) II"),
        ("de", "Zürich (Begriffsklärung)", "Zürich"),
        ("fr", "Mercure (homonymie)", "Mercure"),
        ("es", "Mercurio (desambiguación)", "Mercurio"),
    ],
)
def test_the_name_is_the_title_without_its_suffix(code: str, page: str, name: str) -> None:
    assert read_language(code).name_of(page) == name


def test_lists_are_known_by_how_their_title_begins() -> None:
    english, german = read_language("en"), read_language("de")
    assert english.is_list("List of bridges")
    assert not english.is_list("Listening post")
    assert not english.is_list("The List of Adrian")
    assert german.is_list("Liste der Brücken")
    assert not german.is_list("List of bridges")


@pytest.mark.parametrize("code", known_languages())
def test_every_language_has_seven_contexts_with_one_place_for_the_name_in_each(code: str) -> None:
    found = read_language(code)
    assert len(set(found.neutral)) == 7
    assert [template.count(PLACE) for template in found.neutral] == [1] * 7
    assert [len(find_name(template, PLACE)) for template in found.neutral] == [1] * 7
    assert found.suffixes
    assert found.categories
    assert found.lists
    assert found.references


def test_a_language_that_is_not_known_takes_titles_as_they_are() -> None:
    assert words_of("xx") == Language("xx")
    assert words_of("xx").name_of("Mercury (disambiguation)") == "Mercury (disambiguation)"
    assert not words_of("xx").is_list("List of bridges")


@pytest.mark.parametrize("code", ["xx", "../en", "", "en/../en"])
def test_without_contexts_of_ours_the_user_is_asked_for_some(code: str) -> None:
    with pytest.raises(BuildError, match=r"only for de, en, es, fr.*by --templates"):
        read_language(code)


def test_the_code_of_a_language_is_known_in_capitals_too() -> None:
    assert read_language("EN") == read_language("en")


@pytest.mark.parametrize("code", ["zh", "ja", "th", "lo", "km", "my", "JA", "zh-tw"])
def test_a_language_without_spaces_is_refused_whatever_contexts_there_are(code: str, tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_text("{name}.\n", encoding="utf-8")
    with pytest.raises(BuildError, match=rf"^`{code}` is written without spaces between words, .* whole words"):
        read_language(code, path)
    # What `describe` needs of it is another matter.
    assert words_of(code).code == code.lower()


def test_contexts_of_the_user_stand_in_place_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_text("\ufeffSono pensieri su {name}.\n\n  E poi l'{name}!  \n", encoding="utf-8")
    for code in ("it", "en"):
        assert read_language(code, path).neutral == ("Sono pensieri su {name}.", "E poi l'{name}!")
    assert read_language("en", path).suffixes == read_language("en").suffixes


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"A {name}.\nNo place.\n", r"templates.txt:2: must hold {name} once"),
        (b"{name} and {name}\n", r"templates.txt:1: must hold {name} once"),
        (b"A {name}.\n\nWe saw {name}s there.\n", r"templates.txt:3: {name} must stand by itself"),
        (b"Super{name} went.\n", r"templates.txt:1: {name} must stand by itself"),
        (b"It was {name}2.\n", r"templates.txt:1: {name} must stand by itself"),
        ("Ä{name} ging.\n".encode(), r"templates.txt:1: {name} must stand by itself"),
        (b"\n  \n", "holds no sentence"),
        (b"caf\xe9 {name}\n", "is not UTF-8"),
    ],
)
def test_contexts_that_cannot_be_used_are_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_language("en", path)


def test_a_file_of_contexts_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_language("en", tmp_path / "none.txt")
