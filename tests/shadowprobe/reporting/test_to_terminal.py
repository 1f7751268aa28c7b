"""Tables on a terminal, drawn by hand."""

from __future__ import annotations

import pytest

from shadowprobe.reporting.tables.table import Column, Row, Table, text_column
from shadowprobe.reporting.tables.to_terminal import _choose_widths, render


def lines(*tables: Table) -> list[str]:
    return [line.rstrip() for line in render(tables).splitlines()]


def make_table(title: str = "", notes: tuple[str, ...] = ()) -> Table:
    rows = (Row(("blend", 12.5)), Row(("nil", 3.0)))
    return Table("t", title, (text_column("system"), Column("right", "right")), rows, notes)


def test_names_stand_at_the_left_and_numbers_at_the_right() -> None:
    assert lines(make_table()) == ["system  right", "─────────────", "blend    12.5", "nil       3.0"]


def test_a_title_is_above_its_table_and_notes_are_below_it_with_a_blank_line_between_two_tables() -> None:
    table = ["system  right", "─────────────", "blend    12.5", "nil       3.0"]
    found = lines(make_table("One", ("a note",)), make_table("Two"))
    assert found == ["One", *table, "a note", "", "Two", *table]


def test_a_blank_line_separates_sections_that_have_several_rows() -> None:
    rows = tuple(Row((name,), section=section) for name, section in (("a", "1"), ("b", "1"), ("c", "2")))
    assert lines(Table("t", "", (text_column("x"),), rows)) == ["x", "─", "a", "b", "", "c"]
    assert lines(Table("t", "", (text_column("x"),), rows[1:])) == ["x", "─", "b", "c"]


def test_the_name_of_a_group_is_above_the_first_of_its_columns() -> None:
    columns = (
        text_column("x"),
        Column("p", "P", group="Top"),
        Column("r", "R", group="Top"),
        Column("q", "P", group="Tail"),
    )
    found = lines(Table("t", "", columns, (Row(("a", 1, 2, 3)),)))
    assert found == ["   Top     Tail", "x    P  R     P", "───────────────", "a    1  2     3"]


COLUMNS = (text_column("name"), Column("number", "number"))


@pytest.mark.parametrize(
    ("word", "room", "widths"),
    [
        # A word of 12 characters is whole if there is room; of a longer one, 8 stay together.
        ("twelve-chars", 18, [12, 6]),
        ("twelve-chars", 17, [6 + 5, 6]),
        ("thirteen-char", 19, [13, 6]),
        ("thirteen-char", 14, [8, 6]),
        ("thirteen-char", 13, [7, 6]),
        ("thirteen-char", 12, [6, 6]),
        # There is too little room for anything: the line is broken by the terminal.
        ("thirteen-char", 11, [8, 6]),
    ],
)
def test_a_number_is_never_broken_and_a_name_only_where_its_words_are_long(
    word: str, room: int, widths: list[int]
) -> None:
    assert _choose_widths(COLUMNS, [["name", word], ["123456"]], [len(word), 6], room) == widths
