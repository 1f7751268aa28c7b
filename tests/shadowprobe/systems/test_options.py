"""The options of a system: their types, their values, and how the card of a run shows them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal

import pytest

from shadowprobe import Linker, UsageError, WebLinker
from shadowprobe.systems.options import (
    convert_option,
    describe_system,
    find_types,
    inner_linkers,
    list_incidental,
    list_options,
    mask_options,
    option_values,
)


def test_options_are_written_down_without_secrets() -> None:
    given = {
        "url": "http://h/?k=v",
        "apikey": "A",
        "api_key": "B",
        "my_token": "C",
        "keyword": "D",
        "n": 3,
        "none": None,
        "max_tokens": 512,
        # Nothing to hide.
        "token": "",
    }
    assert mask_options(given) == {
        "url": "http://h/?k=***",
        "apikey": "***",
        "api_key": "***",
        "my_token": "***",
        "keyword": "D",
        "n": 3,
        "none": None,
        "max_tokens": 512,
        "token": "",
    }


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("7", int, 7),
        ("0.5", float, 0.5),
        ("7", str, "7"),
        ("a/b", Path, Path("a/b")),
        *((text, bool, True) for text in ("1", "true", "Yes", "on")),
        *((text, bool, False) for text in ("0", "false", "NO", "off")),
        ("fast", Literal["fast", "slow"], "fast"),
        ("7", int | None, 7),
        ("None", int | None, None),
        ("none", str | None, None),
        # None is a word like any other if it is not among the types.
        ("none", str, "none"),
        ("auto", int | Literal["auto"], "auto"),
        ("7", int | Literal["auto"], 7),
        ("1, 2,,3", list[int], [1, 2, 3]),
        ("a,b", tuple[str, ...], ("a", "b")),
        ("a,b", list, "a,b"),
    ],
)
def test_the_text_of_an_option_becomes_a_value_of_its_type(text: str, kind: Any, value: Any) -> None:
    assert convert_option("top", text, kind) == value


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("many", int, "option `top`: 'many' is not a whole number"),
        ("0.5", int, "option `top`: '0.5' is not a whole number"),
        ("many", float, "option `top`: 'many' is not a number"),
        ("maybe", bool, "option `top`: 'maybe' is neither true nor false"),
        ("fast", Literal["a", "b"], "option `top`: 'fast' is not one of a, b"),
        ("none", int, "option `top`: 'none' is not a whole number"),
    ],
)
def test_a_text_that_is_no_value_is_refused(text: str, kind: Any, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        convert_option("top", text, kind)
    assert str(refused.value) == problem


class Base(Linker):
    name = "base"
    incidental = frozenset({"speed"})

    def __init__(self, speed: int = 3) -> None:
        self.speed = speed


class Outer(Base):
    name = "outer"

    def __init__(self, of: Linker, top=5, mode: "Unknown" = None, share: "float" = 0.5, **rest: int) -> None:  # type: ignore[no-untyped-def,name-defined]  # noqa: ANN001, F821, UP037
        super().__init__(**rest)
        self.of, self.top = of, top

    def share(self) -> None:
        """A method, which is not the value of the option with its name."""


class Closed(Base):
    def __init__(self, depth: int = 1) -> None:
        super().__init__()
        self.depth = depth


def test_options_of_a_base_follow_as_long_as_they_are_passed_on() -> None:
    assert list(list_options(Outer)) == ["of", "top", "mode", "share", "speed"]
    assert list(list_options(Closed)) == ["depth"]
    assert list(list_options(Base)) == ["speed"]
    assert list(list_options(Linker)) == []


def test_a_type_is_read_from_the_annotation_or_from_the_default() -> None:
    kinds = find_types(Outer)
    # One of the types is not known here: simple ones are read all the same, and the others are text.
    assert (kinds["share"], kinds["top"], kinds["mode"], kinds["speed"]) == (float, int, str, int)


def test_a_linker_inside_of_another_has_its_options_after_its_name() -> None:
    class Debiased(Linker):
        name = "debiased"

        def __init__(self, of: Linker, weight: float = 1.0) -> None:
            self.of, self.weight = of, weight

    linker = Debiased(Base(speed=4))
    assert inner_linkers(linker) == {"of": linker.of}
    assert option_values(linker) == {"of": "base", "of.speed": 4, "weight": 1.0}
    assert option_values(linker, {"of": "base:x", "weight": "2"}) == {"of": "base:x", "of.speed": 4, "weight": 2.0}
    assert list_incidental(linker) == {"of.speed"}


def test_a_value_that_is_not_given_is_read_from_the_system() -> None:
    values = option_values(Outer(Base(), top=9))
    assert (values["top"], values["share"], values["speed"]) == (9, 0.5, 3)
    assert option_values(Closed(depth=2)) == {"depth": 2}


def test_what_changes_no_answer_of_a_service_is_incidental() -> None:
    assert list_incidental(WebLinker()) == {"concurrency", "rate", "timeout", "retries"}


def test_the_card_has_the_digests_of_files_and_no_secrets(tmp_path: Path) -> None:
    (tmp_path / "titles").write_bytes(b"Avon\n")
    options = {"titles": tmp_path / "titles", "models": tmp_path, "api_key": "s3cret"}
    assert describe_system("mine", "1", options) == {
        "name": "mine",
        "version": "1",
        "options": {"titles": str(tmp_path / "titles"), "models": str(tmp_path), "api_key": "***"},
        "files": {"titles": hashlib.sha256(b"Avon\n").hexdigest()},
    }
    assert "files" not in describe_system("mine", "1", {"models": tmp_path})
