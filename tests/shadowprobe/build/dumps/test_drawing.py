"""Articles that are drawn from dumps: looked up in growing groups, and the same ones for any size of these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from dump_database import new_database

from shadowprobe.base.languages import read_language
from shadowprobe.build.dumps import drawing
from shadowprobe.build.dumps.drawing import draw_articles_in_dumps
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.settings import BuildSettings

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")

ENGLISH = read_language("en")


def write(path: Path, articles: Sequence[int], highest: int) -> Path:
    """Writes a database with articles of these ids. The one after each links to it."""
    with new_database(path) as connection:
        for number in articles:
            connection.execute("INSERT INTO page VALUES (?, ?, FALSE)", [number, f"Page_{number}"])
            connection.execute("INSERT INTO created VALUES (?, ?)", [number, f"20{number % 20:02d}-05-05T00:00:00Z"])
            connection.execute("INSERT INTO edge VALUES (?, ?)", [number + 1, f"Page_{number}"])
        connection.execute("INSERT INTO highest VALUES (?)", [highest])
    return path


def draw(path: Path, funnel: Funnel | None = None, **options: Any) -> list[list[tuple[str, int]]]:
    settings = BuildSettings(wiki="", name="", **options)
    batches = draw_articles_in_dumps(path, ENGLISH, funnel or Funnel("tail"), settings, {"Page 7"})
    return [[(entity.title, entity.commonness) for entity in batch] for batch in batches]


def test_all_articles_are_drawn_once_with_their_links(tmp_path: Path) -> None:
    funnel = Funnel("tail")
    batches = draw(write(tmp_path / "db", range(1, 121), 120), funnel)
    # Three batches of at most fifty ids. The last article has no page after it that links to it.
    assert len(batches) == 3
    expected = {(f"Page {number}", int(number < 120)) for number in range(1, 121) if number != 7}
    assert {article for batch in batches for article in batch} == expected
    assert funnel.dropped == {"an entity of a space": 1}


def test_groups_grow_twofold_up_to_the_largest_and_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "db", range(1, 401), 400)
    expected, sizes = draw(path), list[int]()
    look_up = drawing._read_pages

    def watch(database: Path, page_ids: Sequence[int], machine: Any) -> Any:
        sizes.append(len(page_ids) // 50)
        return look_up(database, page_ids, machine)

    monkeypatch.setattr(drawing, "_read_pages", watch)
    monkeypatch.setattr(drawing, "FEWEST", 1)
    assert draw(path) == expected
    # Eight batches of fifty ids.
    assert sizes == [1, 2, 4, 1]
    sizes.clear()
    monkeypatch.setattr(drawing, "MOST", 3)
    assert draw(path) == expected
    assert sizes == [1, 2, 3, 2]


def test_a_wiki_without_more_articles_is_left_after_some_empty_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "MAX_EMPTY_REQUESTS", 2)
    monkeypatch.setattr(drawing, "draw_page_ids", lambda seed, highest: iter([[1], [5], [2], [5], [6], [3]]))
    path = write(tmp_path / "db", [1, 2, 3], 6)
    assert draw(path) == [[("Page 1", 1)], [("Page 2", 1)]]


def test_young_articles_are_left_out_and_counted(tmp_path: Path) -> None:
    funnel = Funnel("tail")
    batches = draw(write(tmp_path / "db", [1, 2, 3], 3), funnel, created_before="2002-05-05")
    assert sorted(title for batch in batches for title, _ in batch) == ["Page 1", "Page 2"]
    assert funnel.dropped == {"younger than the limit": 1}
