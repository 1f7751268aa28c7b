"""Links that are counted in a database of dumps, in ranges of sources that fit in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from dump_database import new_database

from shadowprobe.build.dumps import commonness
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.machine import Machine
from shadowprobe.build.records import FoundEntity

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")

ENTITIES = [FoundEntity("Avon", 1), FoundEntity("Old Bath", 2), FoundEntity("Lone", 3)]


def write(path: Path, *, by_number: bool) -> Path:
    """Writes links: 10 and 11 to Avon, 11 and 12 to its redirect, 1 to itself, and the redirect 20 to Bath."""
    titles = {1: "Avon", 2: "Old_Bath", 3: "Lone", 4: "River"}
    links = [(10, 1), (11, 1), (11, 4), (12, 4), (1, 1), (20, 2), (10, 2)]
    with new_database(path, by_number=by_number) as connection:
        for number, title in (titles | {10: "X", 11: "Y", 12: "Z", 20: "R"}).items():
            connection.execute("INSERT INTO page VALUES (?, ?, ?)", [number, title, number in {4, 20}])
        connection.execute("INSERT INTO redirect VALUES (4, 'Avon')")
        for source, target in links:
            key = target if by_number else titles[target]
            connection.execute("INSERT INTO edge VALUES (?, ?)", [source, key])
        if by_number:
            for number, title in titles.items():
                connection.execute("INSERT INTO target VALUES (?, ?)", [number, title])
    return path


@pytest.mark.parametrize("by_number", [True, False])
@pytest.mark.parametrize("links_at_a_time", [1, 2, 3, 100])
def test_each_article_counts_once_and_neither_redirects_nor_the_entity_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_number: bool, links_at_a_time: int
) -> None:
    monkeypatch.setattr(commonness, "LINK_BYTES", 10**9 // links_at_a_time)
    found = list(count_backlinks_in_dumps(write(tmp_path / "db", by_number=by_number), ENTITIES, Machine(10**9)))
    assert found == [
        FoundEntity("Avon", 1, 3, redirects=("River",)),
        FoundEntity("Old Bath", 2, 1),
        FoundEntity("Lone", 3, 0),
    ]


def test_without_links_every_count_is_zero(tmp_path: Path) -> None:
    with new_database(tmp_path / "db"):
        pass
    assert list(count_backlinks_in_dumps(tmp_path / "db", ENTITIES)) == ENTITIES
