"""The file of facts: what it holds of an item, and when it is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.errors import BuildError
from shadowprobe.sets import fact_store
from shadowprobe.sets.fact_store import Contents, open_new_store, open_store, parse_qid, read_contents
from shadowprobe.sets.wikidata_entities import StatementValue, WikidataItem

CONTENTS = Contents(["dump.json", "7", "8"], "en", ["P19"])
ANN = WikidataItem(
    "Q7",
    ("Ann", "Annie"),
    "Ann (poet)",
    {
        "P31": (StatementValue("Q5"), StatementValue("Q6")),
        "P279": (StatementValue("Q9"),),
        "P19": (StatementValue("Q90"), StatementValue(None, ("20,405", "20405"))),
    },
)


def write(path: Path, *items: WikidataItem) -> Path:
    with open_new_store(path, CONTENTS) as writer:
        for item in items:
            writer.add(item)
    return path


def rows(path: Path, table: str) -> list[tuple[object, ...]]:
    with open_store(path) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def test_an_item_is_in_the_tables_of_its_parts(tmp_path: Path) -> None:
    path = write(tmp_path / "made" / "facts.sqlite", ANN)
    assert rows(path, "label") == [(7, '["Ann","Annie"]')]
    assert rows(path, "title") == [(7, "Ann (poet)")]
    assert rows(path, "kind") == [(7, 5), (7, 6)]
    assert rows(path, "subclass") == [(7, 9)]
    assert rows(path, "claim") == [(7, "P19", 90, "[]"), (7, "P19", None, '["20,405","20405"]')]


def test_an_item_without_names_title_and_facts_leaves_no_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "facts.sqlite", WikidataItem("Q8", (), None, {}))
    assert [rows(path, table) for table in ("label", "title", "kind", "subclass", "claim")] == [[]] * 5


def test_rows_are_written_whenever_there_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_store, "BATCH", 2)
    items = [WikidataItem(f"Q{number}", (f"Name {number}",), None, {}) for number in range(1, 6)]
    with open_new_store(tmp_path / "facts.sqlite", CONTENTS) as writer:
        waiting = []
        for item in items:
            writer.add(item)
            waiting.append(len(writer._rows.get("label", ())))
    assert waiting == [1, 0, 1, 0, 1]
    assert [row[0] for row in rows(tmp_path / "facts.sqlite", "label")] == [1, 2, 3, 4, 5]


def test_only_a_whole_file_has_its_name_and_its_sources(tmp_path: Path) -> None:
    path = tmp_path / "facts.sqlite"
    assert read_contents(path) is None
    with pytest.raises(ZeroDivisionError), open_new_store(path, CONTENTS):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    assert read_contents(write(path, ANN)) == CONTENTS
    # The tables are searched by these columns.
    with open_store(path) as connection:
        indexes = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name").fetchall()
    assert [name for (name,) in indexes] == ["claim_qid", "label_qid", "subclass_parent", "title_qid"]


def test_what_an_ended_process_left_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "facts.sqlite.part").write_bytes(b"half")
    assert rows(write(tmp_path / "facts.sqlite", ANN), "title") == [(7, "Ann (poet)")]


def test_a_file_that_is_no_database_is_named_and_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "facts.sqlite"
    path.write_bytes(b"no database at all, but longer than the head of one" * 9)
    assert read_contents(path) is None
    with pytest.raises(BuildError, match=r"facts\.sqlite: the file of facts cannot be used \(.*\); remove it"):
        rows(path, "title")


def test_a_file_of_facts_cannot_be_changed_when_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "facts.sqlite", ANN)
    with pytest.raises(BuildError, match="readonly"), open_store(path) as connection:
        connection.execute("DELETE FROM title")
    assert parse_qid("Q42") == 42
