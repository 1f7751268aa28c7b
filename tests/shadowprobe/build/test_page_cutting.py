"""Cutting stored pages is a pure function: the same pages give the same part in any process, and parts can be sent."""

from __future__ import annotations

import pickle
from contextlib import closing
from pathlib import Path

import pytest
from build_world import SAID, page

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.page_cutting import NO_TEXT, CutPart, CutSettings, PageWork, Wanted, cut_pages
from shadowprobe.build.snippets import NOT_NAMED
from shadowprobe.build.warc_record import Stored

SETTINGS = CutSettings("en", 0, 10)
BRIDGE = Wanted("Harlow Bridge", "Harlow", ("Mount Harlow",), ())


def body_of(path: str) -> bytes:
    """The page without the head of its response."""
    return page(*SAID[path]).partition(b"\r\n\r\n")[2]


@pytest.fixture
def works(tmp_path: Path) -> list[PageWork]:
    bodies = {"bridge": body_of("/bridge"), "empty": b"<html></html>", "ship": body_of("/ship")}
    found = []
    with closing(Archive(tmp_path / "web.warc.gz", software="tests")) as archive:
        for name, body in bodies.items():
            url = f"http://example.org/{name}"
            archive.put(key_of("GET", url), Stored(url, 200, {"Content-Type": "text/html"}, body))
            found.append(PageWork(archive.locate(key_of("GET", url)), url, (BRIDGE,)))
    return found


def test_a_part_has_the_snippets_the_texts_with_snippets_and_the_reasons(works: list[PageWork]) -> None:
    part = cut_pages(SETTINGS, works)
    assert part.pages == 3
    assert [cut.original for cut in part.cuts] == SAID["/bridge"]
    assert [text.url for text in part.texts] == ["http://example.org/bridge"]
    assert part.dropped == {NO_TEXT: 1, NOT_NAMED: 1}


def test_two_parts_together_are_one_part_of_all_pages(works: list[PageWork]) -> None:
    whole, first, rest = (cut_pages(SETTINGS, some) for some in (works, works[:1], works[1:]))
    assert whole.cuts == first.cuts + rest.cuts
    assert whole.texts == first.texts + rest.texts
    assert whole.dropped == {**first.dropped, **rest.dropped}


def test_work_and_result_can_be_sent_to_another_process(works: list[PageWork]) -> None:
    sent = pickle.loads(pickle.dumps(works))
    assert sent == works
    part = cut_pages(SETTINGS, works)
    assert pickle.loads(pickle.dumps(part)) == part == cut_pages(SETTINGS, sent)


def test_no_page_is_an_empty_part() -> None:
    assert cut_pages(SETTINGS, []) == CutPart()
