"""The rows that the texts of pages give, collected in batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shadowprobe.build.dumps import load_articles
from shadowprobe.build.dumps.load_articles import ArticlesPart, HistoryPart
from shadowprobe.build.dumps.xml_parts import WHOLE

HEAD = """<mediawiki><siteinfo><case>first-letter</case><namespaces><namespace key="10">Vorlage</namespace>
<namespace key="14">Kategorie</namespace></namespaces></siteinfo>
"""


def page(number: int, title: str, text: str = "", namespace: int = 0, redirect: str = "") -> str:
    leads = f'<redirect title="{redirect}" />' if redirect else ""
    revision = f"<revision><timestamp>200{number}-01-01T00:00:00Z</timestamp><text>{text}</text></revision>"
    return f"<page><title>{title}</title><ns>{namespace}</ns><id>{number}</id>{leads}{revision}</page>\n"


def write(path: Path, *pages: str) -> Path:
    path.write_text(f"{HEAD}{''.join(pages)}</mediawiki>\n", encoding="utf-8")
    return path


def read(path: Path, *, with_links: bool = True) -> list[tuple[str, dict[str, list[Any]]]]:
    part = ArticlesPart(path, WHOLE, ("Gods",), ("references",), with_links)
    return [(rows.kind, rows.columns) for rows in part.read()]


def test_an_article_has_its_links_templates_and_wanted_categories(tmp_path: Path) -> None:
    text = "[[Venus]] {{Info}} [[Kategorie:Gods]] [[Kategorie:Towns]] [[Mars]] __DISAMBIG__"
    found = dict(read(write(tmp_path / "dump.xml", page(7, "Mars", text))))
    assert found == {
        "number": {"number": [7]},
        "text_page": {"id": [7], "title": ["Mars"], "redirect": [False]},
        # A link of a page to itself is none.
        "text_link": {"page": [7], "names": ["Venus"]},
        "text_use": {"page": [7], "names": ["Info"]},
        "text_category": {"page": [7], "names": ["Gods"]},
        "marked": {"page": [7]},
    }


def test_a_redirect_leads_to_an_article_and_its_text_does_not_count(tmp_path: Path) -> None:
    pages = (
        page(1, "Ares", "[[Venus]] &lt;ref&gt;http://one.example&lt;/ref&gt;", redirect="mars"),
        page(2, "Gods", redirect="Kategorie:Gods"),
    )
    found = dict(read(write(tmp_path / "dump.xml", *pages)))
    assert found == {
        "number": {"number": [1, 2]},
        "text_page": {"id": [1, 2], "title": ["Ares", "Gods"], "redirect": [True, True]},
        "text_redirect": {"source": [1], "title": ["Mars"]},
    }


def test_templates_have_marks_names_and_calls_and_other_pages_only_their_numbers(tmp_path: Path) -> None:
    pages = (
        page(1, "Vorlage:Begriff", "__DISAMBIG__ {{Box}}", 10),
        page(2, "Vorlage:Alt", "{{Box}}", 10, "Vorlage:Begriff"),
        page(3, "Kategorie:Gods", "[[Venus]]", 14),
    )
    found = dict(read(write(tmp_path / "dump.xml", *pages)))
    assert found == {
        "number": {"number": [1, 2, 3]},
        "mark": {"name": ["Begriff"]},
        "call": {"name": ["Begriff"], "names": ["Box"]},
        "renamed": {"name": ["Alt"], "target": ["Begriff"]},
    }


def test_with_tables_only_the_references_of_articles_are_read(tmp_path: Path) -> None:
    note = "[[Venus]]&lt;ref&gt;http://one.example/a&lt;/ref&gt;"
    pages = (page(1, "Mars", note), page(2, "Vorlage:Info", note, 10), page(3, "Venus", "Nothing."))
    found = read(write(tmp_path / "dump.xml", *pages), with_links=False)
    assert found == [("text_reference", {"page": [1], "items": ["http://one.example/a"]})]


@pytest.mark.parametrize(("limit", "value"), [("BATCH", 4), ("BATCH_BYTES", 10)])
def test_rows_are_passed_on_when_there_are_many_or_their_texts_are_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(load_articles, limit, value)
    # Each page has two rows. The last column of the links has five letters.
    pages = [page(number, f"Page {number}", namespace=1) for number in range(1, 6)]
    linked = [page(number, f"Page {number}", "[[Venus]]") for number in range(1, 6)]
    sizes = [len(columns["number"]) for kind, columns in read(write(tmp_path / "a.xml", *linked)) if kind == "number"]
    assert sizes == ([2, 2, 1])
    without_texts = [len(columns["number"]) for _, columns in read(write(tmp_path / "b.xml", *pages))]
    assert without_texts == ([4, 1] if limit == "BATCH" else [5])


def test_creation_times_are_those_of_articles(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.xml", page(1, "Mars"), page(2, "Vorlage:Info", namespace=10), page(3, "Venus"))
    (rows,) = HistoryPart(path).read()
    assert rows.kind == "created"
    assert rows.columns == {"page": [1, 3], "moment": ["2001-01-01T00:00:00Z", "2003-01-01T00:00:00Z"]}
