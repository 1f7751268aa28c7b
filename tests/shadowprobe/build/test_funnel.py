"""The counts of a stage, and how far a build is by the files of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from shadowprobe.base.jsonl import read_json
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.status import STAGES, read_funnels
from shadowprobe.errors import InputError, UsageError


def test_what_is_seen_is_what_is_kept_and_what_is_dropped() -> None:
    funnel = Funnel("crawl")
    funnel.keep()
    funnel.keep(3)
    funnel.drop("404")
    funnel.drop("404", 2)
    funnel.add(Counter({"too large": 1, "404": 1}))
    assert funnel == Funnel("crawl", seen=9, kept=4, dropped={"404": 4, "too large": 1})


def test_equal_counts_make_equal_files_in_whatever_order_they_came(tmp_path: Path) -> None:
    one, other = Funnel("crawl"), Funnel("crawl")
    for why in ("404", "too large", "no connection"):
        one.drop(why)
    for why in ("too large", "no connection", "404"):
        other.drop(why)
    one.write(tmp_path / "one.json")
    other.write(tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    assert read_json(tmp_path / "one.json", Funnel) == one


def test_the_status_is_that_of_the_stages_that_are_done_in_their_order(tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    assert read_funnels(tmp_path) == []
    for stage in ("crawl", "assemble", "spaces"):
        Funnel(stage, 1, 1).write(build / f"{stage}.json")
    (build / "settings.json").write_text("{}")
    assert [funnel.stage for funnel in read_funnels(tmp_path)] == ["spaces", "crawl", "assemble"]


def test_without_a_build_the_error_names_the_command_that_starts_one(tmp_path: Path) -> None:
    out = tmp_path / "nothing"
    with pytest.raises(UsageError) as error:
        read_funnels(out)
    assert str(error.value) == f"{out} holds no build; `shadowprobe build --wiki URL --out {out}` starts one"


def test_counts_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / f"{STAGES[0]}.json").write_text('{"stage": "spaces", "seen": "many"}')
    with pytest.raises(InputError, match=r"spaces\.json.*seen"):
        read_funnels(tmp_path)
