"""How the tests of the crawl ask: a few URLs on loopback, and what became of each.

A test file makes the fixtures its own by giving them a name in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from web_pages import LOOPBACK

from shadowprobe.build.archive import Archive
from shadowprobe.build.records import WebReference
from shadowprobe.build.web import crawl as stage
from shadowprobe.build.web.politeness import Manners

ROBOTS = "User-agent: *\n"
# A crawl on a machine that is online.
crawl = partial(stage.crawl, is_online=lambda: True)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a crawl that tries a page again do so at once."""
    monkeypatch.setattr("shadowprobe.build.web.requesting.FIRST_PAUSE", 0.01)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    """An archive that can be written."""
    with closing(Archive(tmp_path / "archive.warc.gz", software="tests")) as opened:
        yield opened


def manners(**changed: Any) -> Manners:
    """Manners without patience, for hosts on loopback."""
    return Manners(**{"user_agent": "tests", "delay": 0.0, "timeout": 10.0, "allow_private": LOOPBACK, **changed})


def references(*urls: str) -> list[WebReference]:
    """References of one entity to these pages."""
    return [WebReference("Entity", url) for url in urls]


def outcomes(archive: Archive, urls: list[str], **changed: Any) -> list[str]:
    """The key of each page, or why there is none."""
    return [found.page or found.failed for found in crawl(references(*urls), archive, manners(**changed))]


def outcome(archive: Archive, url: str, **changed: Any) -> str:
    """The key of a page, or why there is none."""
    (found,) = outcomes(archive, [url], **changed)
    return found
