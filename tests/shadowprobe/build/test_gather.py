"""Which articles cite a page, whatever the address that leads to it."""

from __future__ import annotations

from shadowprobe.build.gather import CitedPages
from shadowprobe.build.records import WebReference

PAGE = "http://one.example/a"


def test_a_page_is_cited_by_all_articles_that_name_it() -> None:
    references = [
        WebReference("Ann Smith", PAGE),
        WebReference("Bob Smith", PAGE),
        WebReference("Ann Smith", PAGE),
        WebReference("Cid Smith", "http://one.example/b"),
    ]
    cited = CitedPages(references, {PAGE: f"GET {PAGE}"})
    assert cited.list_entities(PAGE) == ["Ann Smith", "Bob Smith"]
    assert cited.find_citing(PAGE) == {"Ann Smith", "Bob Smith"}


def test_a_reference_that_is_not_followed_cites_its_page_too() -> None:
    cited = CitedPages(
        [WebReference("Ann Smith", PAGE), WebReference("Bob Smith", PAGE, is_followed=False)], {PAGE: f"GET {PAGE}"}
    )
    assert cited.list_entities(PAGE) == ["Ann Smith"]
    assert cited.find_citing(PAGE) == {"Ann Smith", "Bob Smith"}


def test_another_address_of_a_page_is_the_same_page() -> None:
    moved, secure = "http://two.example/old", "https://www.one.example/a/"
    references = [WebReference("Ann Smith", PAGE), WebReference("Bob Smith", moved), WebReference("Cid Smith", secure)]
    # The old address leads to the page, and so it has the same key in the archive. The third was not requested.
    cited = CitedPages(references, {PAGE: f"GET {PAGE}", moved: f"GET {PAGE}"})
    assert cited.find_citing(PAGE) == {"Ann Smith", "Bob Smith", "Cid Smith"}
    assert cited.find_citing(moved) == {"Ann Smith", "Bob Smith"}
