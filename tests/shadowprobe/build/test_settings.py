"""The settings of a build: written down once, gone on with, and never changed behind the user's back."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from shadowprobe.build.settings import NAME, BuildSettings, merge_settings, open_settings, today, write_settings
from shadowprobe.cli.build import build
from shadowprobe.errors import InputError, UsageError

WIKI = "https://wiki.example"


def asked(**changed: Any) -> dict[str, Any]:
    """What a command asks for, options that were not given by their defaults."""
    return {"wiki": "", "name": "out", "seed": 7, "limit": None, "tail": None, "created_before": "", **changed}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The directory of a build of twenty names that was started on a day of 2017."""
    settings = BuildSettings(wiki=WIKI, name="small", limit=20, seed=3)
    with pytest.MonkeyPatch.context() as patch:
        # 1500000000 seconds after 1970-01-01 it was 02:40 on 2017-07-14, in Greenwich.
        patch.setenv("SOURCE_DATE_EPOCH", "1500000000")
        directory = tmp_path / "out" / "build"
        directory.mkdir(parents=True)
        write_settings(directory, open_settings(directory, settings))
    return tmp_path / "out"


def test_a_new_build_writes_its_settings_and_its_day_down(out: Path) -> None:
    written = json.loads((out / "build" / NAME).read_text())
    assert (written["wiki"], written["limit"], written["seed"], written["date"]) == (WIKI, 20, 3, "2017-07-14")
    # All of them, so that a default that changes one day changes no build that was started before.
    assert list(written) == list(BuildSettings.__struct_fields__)


def test_the_same_settings_go_on_with_the_day_of_the_beginning(out: Path) -> None:
    before = (out / "build" / NAME).read_bytes()
    found = open_settings(out / "build", BuildSettings(wiki=WIKI, name="small", limit=20, seed=3))
    assert found.date == "2017-07-14"
    assert (out / "build" / NAME).read_bytes() == before


@pytest.mark.parametrize(
    ("field", "value", "was"),
    [
        ("wiki", "https://other.example", WIKI),
        ("name", "other", "small"),
        ("limit", None, 20),
        ("seed", 8, 3),
        ("tail", 5, None),
        ("created_before", "2016-12-31", ""),
        ("max_bytes", 5_000, 4_000_000),
        ("dumps", "dumps", ""),
    ],
)
def test_another_setting_is_refused_and_both_are_named(out: Path, field: str, value: object, was: object) -> None:
    before = (out / "build" / NAME).read_bytes()
    changed: dict[str, Any] = {"wiki": WIKI, "name": "small", "limit": 20, "seed": 3, field: value}
    with pytest.raises(UsageError) as error:
        open_settings(out / "build", BuildSettings(**changed))
    assert str(error.value) == (
        f"{out} holds a build whose {field} is {was!r}, not {value!r};"
        " give the settings that it began with, or another --out (a copy of its build/archive there spares most"
        " requests)"
    )
    assert (out / "build" / NAME).read_bytes() == before


def test_options_that_are_not_given_go_on_as_they_were_begun(out: Path) -> None:
    found = merge_settings(out, asked(), given=set())
    assert (found.wiki, found.name, found.limit, found.seed, found.date) == (WIKI, "small", 20, 3, "2017-07-14")
    assert open_settings(out / "build", found) == found


def test_options_that_are_given_count_even_where_they_are_the_defaults(out: Path) -> None:
    found = merge_settings(out, asked(seed=7, limit=20), given={"seed", "limit"})
    assert (found.seed, found.limit, found.wiki) == (7, 20, WIKI)
    with pytest.raises(UsageError, match="whose seed is 3, not 7"):
        open_settings(out / "build", found)


def test_a_new_build_has_the_requested_settings(tmp_path: Path) -> None:
    found = merge_settings(tmp_path / "new", asked(wiki=WIKI, seed=9), given={"wiki", "seed"})
    assert found == BuildSettings(wiki=WIKI, name="out", seed=9)
    assert not (tmp_path / "new").exists()


def test_a_build_cannot_begin_without_a_wiki(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--wiki: name the wiki, such as https://en\.wikipedia\.org$"):
        merge_settings(tmp_path / "new", asked(), given=set())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"wiki": 7, "name": "x"}', '{"name": "x"}'])
def test_settings_that_cannot_be_read_are_named(out: Path, content: str) -> None:
    (out / "build" / NAME).write_text(content)
    with pytest.raises(InputError, match=NAME):
        merge_settings(out, asked(), given=set())


@pytest.mark.parametrize(
    ("epoch", "day"),
    [("0", "1970-01-01"), ("86399", "1970-01-01"), ("86400", "1970-01-02"), ("951782400", "2000-02-29")],
)
def test_source_date_epoch_tells_the_day(monkeypatch: pytest.MonkeyPatch, epoch: str, day: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert today() == day


@pytest.mark.parametrize("epoch", [None, "", "yesterday", "-1", "1.5"])
def test_otherwise_it_is_today(monkeypatch: pytest.MonkeyPatch, epoch: str | None) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    if epoch is not None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    earlier = datetime.now(UTC).date().isoformat()
    assert earlier <= today() <= datetime.now(UTC).date().isoformat()


def test_an_invalid_date_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "9" * 20)
    with pytest.raises(UsageError, match=r"^SOURCE_DATE_EPOCH is 9+, which is not a valid date$"):
        today()


def test_settings_are_not_written_before_the_wiki_has_answered(tmp_path: Path) -> None:
    open_settings(tmp_path / "build", BuildSettings(wiki=WIKI, name="small"))
    assert not (tmp_path / "build").exists()


def test_settings_are_those_of_the_command_unless_others_are_given() -> None:
    options = inspect.signature(build).parameters
    settings = asdict(BuildSettings(wiki="https://wiki.example", name="made"))
    for name in ("seed", "references", "snippets", "sentences", "max_bytes", "captures_only", "limit", "tail"):
        assert settings[name] == options[name].default
