"""The reader of MySQL dumps."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import pytest

from shadowprobe.build.dumps import sql
from shadowprobe.build.dumps.sql import MISSING, Kind, TableDump, decode_literal
from shadowprobe.errors import InputError

HEAD = b"""-- MySQL dump 10.19
DROP TABLE IF EXISTS `pet`;
CREATE TABLE `pet` (
  `id` int(8) unsigned NOT NULL AUTO_INCREMENT,
  `name` varbinary(255) NOT NULL DEFAULT '',
  `weight` double DEFAULT NULL,
  `owner` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `by_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
"""
WANTED: dict[str, Kind] = {"id": "number", "name": "text", "owner": "number"}


def read(path: Path, wanted: dict[str, Kind] = WANTED, table: str = "pet") -> list[tuple[Any, ...]]:
    rows = []
    for batch in TableDump(path, table).read_batches(wanted):
        rows += list(zip(*(list(batch[name]) for name in wanted), strict=True))
    return rows


@pytest.fixture
def dump(tmp_path: Path) -> Any:
    def write(content: bytes, name: str = "w-1-pet.sql", head: bytes = HEAD) -> Path:
        path = tmp_path / name
        path.write_bytes(head + content)
        return path

    return write


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"''", b""),
        (b"'O\\'Neill'", b"O'Neill"),
        (b"'O''Neill'", b"O'Neill"),
        (b"'a\\\\'", b"a\\"),
        (b"'a\\\\n'", b"a\\n"),
        (b"'\\0\\n\\r\\t\\Z\\b\\\"'", b'\0\n\r\t\x1a\b"'),
        (b"'\\x'", b"x"),
        (b"NULL", None),
        (b"'NULL'", b"NULL"),
        (b"_binary '\xff\\0'", b"\xff\0"),
        (b"0x00fF", b"\x00\xff"),
        (b"'Z\xc3\xbcrich'", "Zürich".encode()),
    ],
)
def test_a_literal_stands_for_its_bytes(raw: bytes, value: bytes | None) -> None:
    assert decode_literal(raw) == value


def test_rows_are_read_by_the_names_of_their_columns(dump: Any) -> None:
    path = dump(
        b"INSERT INTO `pet` VALUES (1,'Rex',2.5,NULL),(2,'Mi\\'a',NULL,7);\nINSERT INTO `pet` VALUES (3,'',0,8);\n"
    )
    assert read(path) == [(1, "Rex", MISSING), (2, "Mi'a", 7), (3, "", 8)]
    assert read(path, {"owner": "number", "id": "number"}) == [(MISSING, 1), (7, 2), (8, 3)]


def test_what_looks_like_the_end_of_a_row_may_stand_within_quotes(dump: Any) -> None:
    path = dump(b"INSERT INTO `pet` VALUES (1,'a),(9,\\'b;\n',1,2),(2,');INSERT INTO `pet` VALUES (',1,3);\n")
    assert read(path) == [(1, "a),(9,'b;\n", 2), (2, ");INSERT INTO `pet` VALUES (", 3)]


def test_two_quotes_within_quotes_are_one(dump: Any) -> None:
    path = dump(b"INSERT INTO `pet` VALUES (1,'O''Neill',1,2),(2,'''',1,3),(3,'',1,4);\n")
    assert read(path) == [(1, "O'Neill", 2), (2, "'", 3), (3, "", 4)]


def test_rows_may_stand_on_lines_of_their_own(dump: Any) -> None:
    assert read(dump(b"INSERT INTO `pet` VALUES\n(1,'Rex',1,2),\n(2,'Mia',1,3);\n")) == [(1, "Rex", 2), (2, "Mia", 3)]


def test_an_insert_may_name_its_columns_in_another_order(dump: Any) -> None:
    assert read(dump(b"INSERT INTO `pet` (`owner`,`name`,`id`) VALUES (5,'Rex',1);\n")) == [(1, "Rex", 5)]


def test_binary_values_become_hexadecimal_digits_with_the_same_order(dump: Any) -> None:
    path = dump(b"INSERT INTO `pet` VALUES (1,'\xff\\0',1,2),(2,NULL,1,2);\n")
    assert read(path, {"name": "bytes"}) == [("ff00",), (None,)]
    assert read(path, {"name": "text"}) == [("\ufffd\0",), (None,)]


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_it_does_not_matter_where_a_chunk_of_the_file_ends(
    dump: Any, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    path = dump(b"INSERT INTO `pet` VALUES (1,'R\\'ex',2.5,NULL),(22,'Z\xc3\xbcrich',NULL,77);\n")
    monkeypatch.setattr(sql, "CHUNK", chunk)
    assert read(path) == [(1, "R'ex", MISSING), (22, "Zürich", 77)]


@pytest.mark.parametrize("chunk", [1, 9, 1 << 20])
def test_tables_of_nothing_but_numbers_are_read_alike(dump: Any, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    head = b"CREATE TABLE `pet` (\n  `a` int(8) NOT NULL,\n  `b` bigint(20) DEFAULT NULL\n) ENGINE=InnoDB;\n"
    path = dump(b"INSERT INTO `pet` VALUES (1,2),(3,4),\n(5,NULL),(-7,8),(9,123456789012);\n", head=head)
    monkeypatch.setattr(sql, "CHUNK", chunk)
    assert read(path, {"b": "number", "a": "number"}) == [(2, 1), (4, 3), (MISSING, 5), (8, -7), (123456789012, 9)]


def test_plain_rows_after_some_odd_ones_are_read_many_at_a_time_again(
    dump: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = b"CREATE TABLE `pet` (\n  `a` int(8) NOT NULL,\n  `b` bigint(20) DEFAULT NULL\n) ENGINE=InnoDB;\n"
    path = dump(b"INSERT INTO `pet` VALUES (1,1),(2,2),(3,3),(4,NULL),(5,5),(6,6),(7,7),(8,8),(9,9);\n", head=head)
    monkeypatch.setattr(sql, "ROWS", 2)
    batches = [batch["a"].tolist() for batch in TableDump(path, "pet").read_batches({"a": "number", "b": "number"})]
    # The last row has no comma behind it and is read by itself.
    assert batches == [[1, 2, 3], [4, 5], [6, 7, 8], [9]]


def test_a_row_may_have_as_many_bytes_as_the_limit_and_its_comma(dump: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "CHUNK", 1)
    monkeypatch.setattr(sql, "LONGEST_HEAD", 32)
    monkeypatch.setattr(sql, "LONGEST_ROW", 80)
    # `(1,'',1,2)` has 10 bytes.
    assert read(dump(b"INSERT INTO `pet` VALUES (1,'" + b"x" * 70 + b"',1,2),(2,'',1,2);\n"))[0] == (1, "x" * 70, 2)
    with pytest.raises(InputError, match="row 1 is not a row of `pet`"):
        read(dump(b"INSERT INTO `pet` VALUES (1,'" + b"x" * 71 + b"',1,2),(2,'',1,2);\n"))


def test_a_line_may_be_longer_than_what_is_read_at_once(dump: Any) -> None:
    names = ["x" * 1000 + str(number) for number in range(9000)]
    rows = b",".join(b"(%d,'%s',0,1)" % (number, name.encode()) for number, name in enumerate(names))
    assert len(rows) > 2 * sql.CHUNK
    assert [row[1] for row in read(dump(b"INSERT INTO `pet` VALUES " + rows + b";\n"))] == names


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_packed_dumps_are_unpacked_as_they_are_read(tmp_path: Path, suffix: str, pack: Any) -> None:
    path = tmp_path / f"w-1-pet.sql{suffix}"
    path.write_bytes(pack(HEAD + b"INSERT INTO `pet` VALUES (1,'Rex',1,2);\n"))
    assert read(path) == [(1, "Rex", 2)]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_packed_dump_that_is_cut_off_is_named(tmp_path: Path, suffix: str, pack: Any) -> None:
    path = tmp_path / f"w-1-pet.sql{suffix}"
    path.write_bytes(pack(HEAD + b"INSERT INTO `pet` VALUES (1,'Rex',1,2);\n")[:-9])
    with pytest.raises(InputError, match=rf"{path}: is cut off: fetch it again"):
        read(path)


def test_a_dump_that_is_not_gzip_is_named(dump: Any) -> None:
    path = dump(b"", "w-1-pet.sql.gz")
    with pytest.raises(InputError, match=r"w-1-pet\.sql\.gz: cannot be unpacked"):
        read(path)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"INSERT INTO `pet` VALUES (1,'Rex',1,2),(2,'Mi", 1),
        (b"INSERT INTO `pet` VALUES (1,'Rex',1,2)", 0),
        (b"INSERT INTO `pet` VALUES (1,'Rex',1,2),", 1),
        (b"/*!40000 ALTER TABLE `pet` DISABLE KEYS */;\nINSERT INTO `pet` VALUES (1,'Rex',1,2);\n", 1),
        (b"LOCK TABLES `pet` WRITE;\nINSERT INTO `pet` VALUES (1,'Rex',1,2),(2,'Mia',1,2);\n", 2),
    ],
)
def test_a_dump_without_its_end_says_after_which_row(dump: Any, content: bytes, rows: int) -> None:
    with pytest.raises(InputError, match=rf"w-1-pet\.sql: is cut off after row {rows}: fetch it again"):
        read(dump(content))


def test_a_dump_with_its_end_is_whole(dump: Any) -> None:
    content = b"/*!40000 ALTER TABLE `pet` DISABLE KEYS */;\nINSERT INTO `pet` VALUES (1,'R',1,2);\n"
    assert read(dump(content + b"/*!40000 ALTER TABLE `pet` ENABLE KEYS */;\n")) == [(1, "R", 2)]
    assert read(dump(b"LOCK TABLES `pet` WRITE;\nUNLOCK TABLES;\n")) == []


@pytest.mark.parametrize(
    "row", [b"(1,'Rex',1)", b"('1','Rex',1,2)", b"(99999999999999999999,'Rex',1,2)", b"(1,Rex,1,2)", b"(1,'Rex',1,2,3)"]
)
def test_a_row_that_does_not_fit_the_columns_is_named(dump: Any, row: bytes) -> None:
    with pytest.raises(InputError, match=r"w-1-pet\.sql: row 2 is not a row of `pet` \(id, name, weight, owner\)"):
        read(dump(b"INSERT INTO `pet` VALUES (5,'Mia',1,2)," + row + b",(6,'Bo',1,2);\n"))


def test_a_number_is_no_text(dump: Any) -> None:
    with pytest.raises(InputError, match=r"w-1-pet\.sql: row 1 is not a row of `pet`"):
        read(dump(b"INSERT INTO `pet` VALUES (1,2,3,4),(5,6,7,8);\n"))


def test_a_column_that_is_not_there_is_named(dump: Any) -> None:
    with pytest.raises(InputError, match=r"w-1-pet\.sql: has no column `age`, only id, name, weight, owner"):
        read(dump(b""), {"age": "number"})


def test_a_dump_of_another_table_is_refused(dump: Any) -> None:
    with pytest.raises(InputError, match="holds the table `pet`, not `dog`"):
        read(dump(b""), table="dog")
    with pytest.raises(InputError, match="holds the table `dog`, not `pet`"):
        read(dump(b"INSERT INTO `dog` VALUES (1,'Rex',1,2);\n"))


@pytest.mark.parametrize(
    "head", [b"", b"\x00\x01rubbish", b"<html>No such file</html>\n", b"INSERT INTO `pet` VALUES (1);\n"]
)
def test_a_file_that_is_not_a_dump_is_refused(dump: Any, head: bytes) -> None:
    with pytest.raises(InputError, match=r"does not name the columns of `pet`: is it a MySQL dump\?"):
        read(dump(b"", head=head))


def test_a_dump_that_ends_within_its_columns_is_cut_off(dump: Any) -> None:
    with pytest.raises(InputError, match="is cut off in the columns of `pet`"):
        read(dump(b"", head=HEAD[:150]))
