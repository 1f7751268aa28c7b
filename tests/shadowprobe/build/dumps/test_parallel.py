"""Dumps that several processes read at the same time."""

from __future__ import annotations

import bz2
import multiprocessing
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import pytest
from deadly_part import DeadlyPart, EndlessPart, LargePart
from dump_world import write_tables
from make_dump import write_dump

from shadowprobe.build.dumps import parallel, xml_parts
from shadowprobe.build.dumps.load_dumps import load_dumps
from shadowprobe.build.dumps.parallel import Rows, read_parts
from shadowprobe.build.dumps.store import Wanted, connect
from shadowprobe.build.dumps.xml import Site, read_pages
from shadowprobe.build.dumps.xml_parts import split_file
from shadowprobe.build.machine import Machine
from shadowprobe.errors import BuildError, InputError

TABLES = ("page", "redirect", "disambiguation", "item", "category", "created", "edge", "reference")


def contents(database: Path) -> dict[str, list[Any]]:
    with connect(database, Machine(workers=1)) as connection:
        names = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        return {name: sorted(connection.execute(f"FROM {name}").fetchall()) for name in names.intersection(TABLES)}


@pytest.mark.parametrize("kind", ["tables", "text"])
def test_any_number_of_processes_makes_the_same_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(parallel, "SMALL", 0)
    monkeypatch.setattr(xml_parts, "PART", 10_000)
    dumps = tmp_path / "dumps"
    write_dump(dumps, 100_000)
    if kind == "text":
        for table in dumps.glob("*.sql"):
            table.unlink()
        (articles,) = dumps.iterdir()
        assert len(split_file(articles)) > 3
    made = []
    for workers in (1, 2, 7):
        database = tmp_path / f"{workers}.duckdb"
        load_dumps(dumps, database, Wanted(headings=("references",)), machine=Machine(workers=workers))
        made.append(contents(database))
    assert made[0]["page"]
    assert made[0]["edge"]
    assert made[0] == made[1] == made[2]


def test_a_multistream_file_is_split_at_its_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dump(tmp_path / "dumps", 60_000)
    (plain,) = (tmp_path / "dumps").glob("*-pages-articles.xml")
    pages = list(read_pages(plain, Site()))
    head, *blocks = plain.read_bytes().split(b"  <page>")
    blocks[-1] = blocks[-1].removesuffix(b"</mediawiki>\n")
    groups = [
        b"".join(b"  <page>" + block for block in blocks[first : first + 8]) for first in range(0, len(blocks), 8)
    ]
    path = tmp_path / "w-1-pages-articles-multistream.xml.bz2"
    path.write_bytes(b"".join(bz2.compress(part) for part in (head, *groups, b"</mediawiki>\n")))
    monkeypatch.setattr(xml_parts, "PART", 1000)
    spans = split_file(path)
    assert len(spans) > 2
    site = Site()
    assert [page for span in spans for page in read_pages(path, site, span)] == pages
    assert site.namespaces["template"] == 10
    # A file of one stream has no second beginning.
    one = tmp_path / "w-1-pages-articles.xml.bz2"
    one.write_bytes(bz2.compress(plain.read_bytes()))
    assert len(split_file(one)) == 1


def test_a_damaged_file_is_named_by_any_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 0)
    dumps = write_tables(tmp_path / "dumps")
    links = next(dumps.glob("*-pagelinks.sql.gz"))
    links.write_bytes(links.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"pagelinks\.sql\.gz: is cut off: fetch it again") as caught:
        load_dumps(dumps, tmp_path / "db", Wanted(), machine=Machine(workers=2))
    assert caught.value.path == links


def test_a_process_that_is_killed_is_an_error_and_not_a_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 0)
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(BuildError, match=r"was ended \(exit code -9\): try again with fewer --workers"):
        list(read_parts([DeadlyPart(path), DeadlyPart(path)], 2))


def test_a_process_that_is_killed_while_it_sends_is_an_error_and_not_a_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "SMALL", 0)
    parts = [LargePart(tmp_path / name) for name in ("one", "two")]
    for part in parts:
        part.path.touch()
    received = read_parts(parts, 2)
    killed, _ = next(received)
    # Its next rows do not fit into the connection, and nobody receives them now.
    os.kill(int(killed.path.read_text()), signal.SIGKILL)
    with pytest.raises(BuildError, match=r"was ended \(exit code -9\): try again with fewer --workers"):
        list(received)


def test_all_rows_are_received_from_processes_that_end_at_different_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "SMALL", 0)
    parts = [LargePart(tmp_path / str(number)) for number in range(3)]
    for part in parts:
        part.path.touch()
    counts = Counter(part for part, _ in read_parts(parts, 2))
    assert counts == dict.fromkeys(parts, 3)


def test_processes_are_ended_when_no_more_rows_are_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 0)
    path = tmp_path / "file"
    path.touch()
    parts = [EndlessPart(path), EndlessPart(path)]
    rows = read_parts(parts, 2)
    assert isinstance(rows, Generator)
    assert next(rows)[1] == Rows("number", {"number": [1]})
    started = multiprocessing.active_children()
    assert [process.daemon for process in started] == [True, True]
    rows.close()
    assert [process.exitcode for process in started] == [-signal.SIGKILL] * 2


class NotedPart(NamedTuple):
    """A part that notes in this process that it was read; without rows its file is damaged, or the code is."""

    path: Path
    notes: list[str]
    rows: int = 1

    def read(self) -> Iterator[Rows]:
        self.notes.append(self.path.name)
        if not self.rows:
            raise InputError(self.path, "is damaged")
        yield from [Rows("number", {"number": [number]}) for number in range(self.rows)]
        if self.rows < 0:
            raise ValueError("a fault")


def test_small_files_and_single_parts_are_read_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    parts = [NotedPart(tmp_path / name, notes, 2) for name in ("a", "b")]
    for part in parts:
        part.path.write_bytes(b"content")
    read = [(part.path.name, rows.columns["number"]) for part, rows in read_parts(parts, 2)]
    assert read == [("a", [0]), ("a", [1]), ("b", [0]), ("b", [1])]
    monkeypatch.setattr(parallel, "SMALL", 1)
    assert len(list(read_parts(parts, 1))) == 4
    assert len(list(read_parts(parts[:1], 2))) == 2
    assert notes == ["a", "b", "a", "b", "a"]


def test_a_process_sends_the_rows_and_the_errors_of_its_parts(tmp_path: Path) -> None:
    parts = [
        NotedPart(tmp_path / "good", [], 5),
        NotedPart(tmp_path / "bad", [], 0),
        NotedPart(tmp_path / "odd", [], -1),
    ]
    tasks = SimpleQueue[Any]()
    for task in (*enumerate(parts), None):
        tasks.put(task)
    results, sender = multiprocessing.Pipe(duplex=False)
    with sender:
        parallel._read_tasks(tasks, sender)
    assert [results.recv() for _ in range(5)] == [(0, Rows("number", {"number": [number]})) for number in range(5)]
    bad, odd = (results.recv()[1].make() for _ in range(2))
    assert (type(bad), bad.path, bad.problem) == (InputError, tmp_path / "bad", "is damaged")
    assert (type(odd), str(odd)) == (BuildError, f"{tmp_path / 'odd'}: ValueError: a fault")
    assert not tasks.qsize()


def test_a_process_whose_results_nobody_receives_ends(tmp_path: Path) -> None:
    tasks = SimpleQueue[Any]()
    tasks.put((0, EndlessPart(tmp_path / "file")))
    results, sender = multiprocessing.Pipe(duplex=False)
    results.close()
    with sender:
        parallel._read_tasks(tasks, sender)


def test_a_script_without_a_guard_is_not_executed_again(tmp_path: Path) -> None:
    write_tables(tmp_path / "dumps")
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from shadowprobe.build.dumps import parallel\n"
        "from shadowprobe.build.dumps.load_dumps import load_dumps\n"
        "from shadowprobe.build.dumps.store import Wanted\n"
        "from shadowprobe.build.machine import Machine\n"
        "print('once')\n"
        "parallel.SMALL = 0\n"
        "load_dumps(Path('dumps'), Path('db'), Wanted(), machine=Machine(workers=2))\n"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "once\n", "")
    assert contents(tmp_path / "db")["edge"]
