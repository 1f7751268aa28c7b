"""The figures of the paper, typed a second time as the paper prints them."""

from __future__ import annotations

import pytest

from shadowprobe.reporting.published import linking as published
from shadowprobe.reporting.tables.paper_tables import published_table_4, table_3

TABLE_3 = """
AGDISTIS/MAG (Usbeck et al., 2014)       0.14 0.14 0.14  0.25 0.25 0.25  0.79 0.79 0.79
AIDA (Yosef et al., 2011)                0.40 0.31 0.35  0.62 0.50 0.56  0.92 0.53 0.67
DBpedia Spotlight (Mendes et al., 2011)  0.16 0.10 0.12  0.41 0.25 0.31  0.97 0.11 0.19
FOX (Speck and Ngomo, 2014)              0.17 0.07 0.10  0.29 0.14 0.19  0.82 0.35 0.49
TagMe 2 (Ferragina and Scaiella, 2010)   0.34 0.25 0.29  0.69 0.49 0.57  0.95 0.74 0.83
WAT (Piccinno and Ferragina, 2014)       0.40 0.19 0.26  0.72 0.39 0.51  0.95 0.49 0.65
GENRE (De Cao et al., 2020)              0.26 0.26 0.26  0.42 0.42 0.42  0.93 0.93 0.93
REL (van Hulst et al., 2020)             0.21 0.21 0.21  0.54 0.54 0.54  0.91 0.91 0.91
"""
TABLE_4 = """
AIDA   15.5 12.9  8.6   4.8 20.0  7.9
WAT    32.1 11.7 27.4   4.2 31.8 27.5
GENRE  15.6 32.4  0.0   2.2 43.6  0.0
REL    32.3 24.8  0.6   7.7 50.9  0.6
"""


def printed(block: str, figures: int) -> list[list[str]]:
    rows = [line.rsplit(maxsplit=figures) for line in block.strip().splitlines()]
    return [[row[0].strip(), *row[1:]] for row in rows]


def test_table_3_is_written_as_the_paper_prints_it() -> None:
    table = table_3([], with_published=True)
    assert [column.group for column in table.columns[1:]] == ["Shadow"] * 3 + ["Top"] * 3 + ["Tail"] * 3
    assert [column.name for column in table.columns[1:]] == ["P", "R", "F"] * 3
    assert [table.texts(row, mark="") for row in table.rows] == printed(TABLE_3, 9)


def test_table_4_is_written_as_the_paper_prints_it() -> None:
    table = published_table_4()
    assert [column.group for column in table.columns[1:]] == ["Top"] * 3 + ["Shadow"] * 3
    headings = [column.name.replace("\n", " ") for column in table.columns[1:]]
    assert headings == ["pred = prior correct", "pred ≠ prior wrong", "NIL"] * 2
    assert [table.texts(row, mark="") for row in table.rows] == printed(TABLE_4, 6)


@pytest.mark.parametrize("name", published.TABLE_3)
def test_every_f_is_that_of_its_p_and_r_as_far_as_two_digits_tell(name: str) -> None:
    for precision, recall, f1 in published.TABLE_3[name].values():
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=0.0101)


def test_published_rows_are_marked_and_their_source_is_said() -> None:
    for table, number in ((table_3([], with_published=True), 3), (published_table_4(), 4)):
        assert all(row.published for row in table.rows)
        assert all(table.texts(row)[0].endswith(" †") for row in table.rows)
        assert f"https://doi.org/10.18653/v1/2021.emnlp-main.820, Table {number}." in table.notes[0]
