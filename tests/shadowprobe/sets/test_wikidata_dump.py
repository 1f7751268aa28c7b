"""The dump of Wikidata, as a stream into a file of facts."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from wikidata_world import ENTITIES, entity, item, statement, write_dump

from shadowprobe.errors import BuildError, InputError
from shadowprobe.sets import wikidata_dump as module
from shadowprobe.sets.fact_store import open_store, read_contents
from shadowprobe.sets.wikidata_dump import load_dump, read_dump


def qids(path: Path) -> list[str]:
    return [found.qid for found in read_dump(path, "en", ())]


@pytest.mark.parametrize("name", ["dump.json", "dump.json.gz", "dump.json.bz2"])
def test_all_items_are_read_however_the_dump_is_packed(name: str, tmp_path: Path) -> None:
    assert qids(write_dump(tmp_path / name)) == [each["id"] for each in ENTITIES]


def test_lines_without_the_brackets_of_the_list_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "dump.ndjson"
    path.write_text(f"{json.dumps(ENTITIES[0])}\n\n{json.dumps(ENTITIES[1])}\n")
    assert qids(path) == ["Q1001", "Q1002"]


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-40])
    return path


def without_its_end(path: Path) -> Path:
    path.write_bytes(path.read_bytes().removesuffix(b"\n]\n"))
    return path


def with_a_broken_line(path: Path) -> Path:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"id": "Q7",\n'
    path.write_bytes(b"".join(lines))
    return path


def with_a_strange_line(path: Path) -> Path:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"id": "Q7", "sitelinks": {"enwiki": 7}},\n'
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize(
    ("name", "damage", "problem"),
    [
        ("dump.json", with_a_broken_line, r"dump\.json:4: not valid JSON \("),
        (
            "dump.json",
            with_a_strange_line,
            r"dump\.json:3: is not an entity of Wikidata \(Expected `object`, got `int`",
        ),
        ("dump.json", cut, r"dump\.json:48: not valid JSON \("),
        ("dump.json", without_its_end, r"dump\.json: is cut off: fetch it again$"),
        ("dump.json.gz", cut, r"dump\.json\.gz: is cut off: fetch it again$"),
        ("dump.json.bz2", cut, r"dump\.json\.bz2: is cut off: fetch it again$"),
    ],
)
def test_a_damaged_dump_is_refused(name: str, damage: Callable[[Path], Path], problem: str, tmp_path: Path) -> None:
    path = damage(write_dump(tmp_path / name))
    with pytest.raises(InputError, match=problem):
        load_dump(path, tmp_path / "out" / "facts.sqlite", "en", ())
    assert list((tmp_path / "out").iterdir()) == []


def test_what_is_not_packed_as_its_name_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dump.json.gz"
    path.write_text("[\n]\n")
    with pytest.raises(InputError, match="cannot be unpacked"):
        qids(path)


def test_a_dump_without_items_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text("[\n]\n")
    with pytest.raises(InputError, match="holds no item of Wikidata"):
        load_dump(path, tmp_path / "facts.sqlite", "en", ())


# Two items have no English name.
IDS = [entity["id"] for entity in ENTITIES if entity["id"] not in {"Q1041", "Q2031"}]


def list_labelled(store: Path) -> list[str]:
    """The items with a name, in the order of the dump."""
    with open_store(store) as facts:
        return [f"Q{qid}" for (qid,) in facts.execute("SELECT qid FROM label ORDER BY rowid")]


def test_facts_are_found_again_in_the_file(tmp_path: Path) -> None:
    store = tmp_path / "facts.sqlite"
    load_dump(write_dump(tmp_path / "dump.json.gz"), store, "en", {"P1303", "P1082"})
    with open_store(store) as facts:
        claims = facts.execute("SELECT qid, property, item, forms FROM claim ORDER BY qid").fetchall()
        names = facts.execute("SELECT forms FROM label WHERE qid = 2001").fetchall()
        kinds = facts.execute("SELECT class FROM kind WHERE qid = 1011").fetchall()
        above = facts.execute("SELECT parent FROM subclass WHERE class = 24862").fetchall()
        titles = facts.execute("SELECT title FROM title WHERE qid IN (1011, 1051)").fetchall()
    assert claims == [
        (1001, "P1303", 2001, "[]"),
        (1051, "P1303", 2004, "[]"),
        (1061, "P1082", None, '["20,405","20405"]'),
        (1072, "P1303", 2004, "[]"),
    ]
    assert names == [('["trombone","slide trombone"]',)]
    assert (kinds, above, titles) == ([(24862,)], [(11424,)], [("Her Lantern (film)",)])


def test_an_opened_file_of_facts_is_read_only(tmp_path: Path) -> None:
    store = tmp_path / "facts.sqlite"
    load_dump(write_dump(tmp_path / "dump.json"), store, "en", ())
    with pytest.raises(BuildError, match="readonly"), open_store(store) as facts:
        facts.execute("DELETE FROM label")


def test_a_dump_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, store = write_dump(tmp_path / "dump.json"), tmp_path / "facts.sqlite"
    load_dump(path, store, "en", {"P19"})
    monkeypatch.setattr(module, "read_dump", None)
    load_dump(path, store, "en", {"P19"})
    assert list_labelled(store) == IDS


@pytest.mark.parametrize(("language", "properties"), [("de", {"P19"}), ("en", {"P19", "P20"})])
def test_for_another_language_or_property_it_is_read_again(language: str, properties: set[str], tmp_path: Path) -> None:
    path, store = write_dump(tmp_path / "dump.json"), tmp_path / "facts.sqlite"
    load_dump(path, store, "en", {"P19"})
    load_dump(path, store, language, properties)
    contents = read_contents(store)
    assert contents is not None
    assert (contents.language, contents.properties) == (language, sorted(properties))


def test_another_dump_of_the_same_name_is_read_anew(tmp_path: Path) -> None:
    path, store = tmp_path / "dump.json", tmp_path / "facts.sqlite"
    load_dump(write_dump(path), store, "en", ())
    load_dump(write_dump(path, ENTITIES[:3]), store, "en", ())
    assert list_labelled(store) == IDS[:3]


def test_a_file_without_facts_is_made_again(tmp_path: Path) -> None:
    store = tmp_path / "facts.sqlite"
    store.write_text("not a database, though long enough to be taken for one" * 40)
    load_dump(write_dump(tmp_path / "dump.json"), store, "en", ())
    assert list_labelled(store) == IDS


def test_progress_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRESS_LINES", 20)
    steps: list[tuple[str, int, int | None]] = []
    list(read_dump(write_dump(tmp_path / "dump.json"), "en", (), lambda *word: steps.append(word)))
    assert steps == [("dump.json, lines", 20, None), ("dump.json, lines", 40, None)]


def test_memory_does_not_grow_with_the_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shadowprobe.sets.fact_store.BATCH", 100)

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.json.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            for number in range(1, count + 1):
                made = entity(f"Q{number}", f"Name {number}", statement("P19", item("Q5")), title=f"Title {number}")
                file.write(f"{json.dumps(made)}\n")
        tracemalloc.start()
        load_dump(path, tmp_path / f"{count}.sqlite", "en", {"P19"})
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    # What the tables hold of 8,000 entities is more than a megabyte.
    assert peak(8000) < peak(500) + 200_000
