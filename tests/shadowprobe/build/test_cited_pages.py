"""Which articles cite a page, whatever the address that leads to it."""

from __future__ import annotations

from pathlib import Path

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.build.cited_pages import CitedPages
from shadowprobe.build.record_file import RecordFile, RecordList
from shadowprobe.build.records import Crawled, WebReference

PAGE = "http://one.example/a"
STORED = Crawled(PAGE, f"GET {PAGE}")


def test_a_page_is_cited_by_all_articles_that_name_it() -> None:
    references = [
        WebReference("Ann Smith", PAGE),
        WebReference("Bob Smith", PAGE),
        WebReference("Ann Smith", PAGE),
        WebReference("Cid Smith", "http://one.example/b"),
    ]
    cited = CitedPages(RecordList(references), [STORED, Crawled("http://one.example/b", failed="404")])
    assert len(cited) == 1
    assert cited.list_entities(PAGE) == ["Ann Smith", "Bob Smith"]
    assert cited.find_citing(PAGE) == {"Ann Smith", "Bob Smith"}


def test_a_reference_that_is_not_followed_cites_its_page_too() -> None:
    references = [WebReference("Ann Smith", PAGE), WebReference("Bob Smith", PAGE, is_followed=False)]
    cited = CitedPages(RecordList(references), [STORED])
    assert cited.list_entities(PAGE) == ["Ann Smith"]
    assert cited.find_citing(PAGE) == {"Ann Smith", "Bob Smith"}


def test_another_address_of_a_page_is_the_same_page() -> None:
    moved, secure = "http://two.example/old", "https://www.one.example/a/"
    references = [WebReference("Ann Smith", PAGE), WebReference("Bob Smith", moved), WebReference("Cid Smith", secure)]
    # The old address leads to the page, and so it has the same key in the archive. The third was not requested.
    cited = CitedPages(RecordList(references), [STORED, Crawled(moved, f"GET {PAGE}")])
    assert cited.find_citing(PAGE) == {"Ann Smith", "Bob Smith", "Cid Smith"}
    assert cited.find_citing(moved) == {"Ann Smith", "Bob Smith"}


def test_an_address_that_differs_only_in_its_form_gets_no_entities_of_the_other() -> None:
    # Both have the same simplified form, and only the first was followed from this article.
    references = [WebReference("Ann Smith", PAGE), WebReference("Bob Smith", "https://www.one.example/a/")]
    assert CitedPages(RecordList(references), [STORED]).list_entities(PAGE) == ["Ann Smith"]


def test_the_references_may_be_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "references.jsonl"
    path.write_bytes(encode_lines([WebReference("Ann Smith", PAGE), WebReference("Bob Smith", PAGE)]))
    cited = CitedPages(RecordFile(path, WebReference), [STORED])
    assert cited.list_entities(PAGE) == ["Ann Smith", "Bob Smith"]
