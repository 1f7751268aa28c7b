"""Tables on a terminal, drawn by hand."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from shadowprobe.reporting.tables.table import Column, Row, Table, text_column
from shadowprobe.reporting.tables.to_terminal import _break_words, _choose_widths, render, render_run, show


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


def model(**more: Any) -> dict[str, Any]:
    """The results of a language model that was asked a probe of ones own."""
    results: dict[str, Any] = {
        "model": {"name": "gpt", "options": {}},
        "queries": {"name": "sets", "sets": 3, "limit": None, "documents": 5},
        "missing": 0,
        "notes": ["slow today"],
        "probes": {
            "ambigdocs": {"examples": {"merged": {"id": "s1", "question": "Who?", "answer": "Both."}}},
            "mine": {"share": 0.5},
            "other": {"not_measured": "no sets"},
        },
    }
    return {**results, **more}


def test_the_screen_on_a_run_has_its_tables_then_examples_warnings_and_notes_and_the_verdict_last() -> None:
    assert [line.rstrip() for line in render_run(model()).splitlines()] == [
        "gpt on sets",
        "3 sets",
        "",
        "mine: what this probe found",
        "finding  gpt",
        "────────────",
        "share    0.5",
        "",
        "merged, as in s1: Who?",
        "  Both.",
        "only the first 5 documents of a set count",
        "other not measured: no sets",
        "note: slow today",
        "",
        "gpt was not asked whether every namesake gets its own answer.",
    ]


def test_a_run_about_which_nothing_is_to_be_said_ends_with_its_verdict() -> None:
    silent = model(queries={"name": "sets", "sets": 3, "limit": None, "documents": None}, notes=[], probes={})
    assert render_run(silent).splitlines() == [
        "gpt on sets",
        "3 sets",
        "",
        "",
        "gpt was not asked whether every namesake gets its own answer.",
    ]


def test_a_table_without_rows_is_its_heading_or_its_notes() -> None:
    empty = Table("t", "One", (text_column("x"),), ())
    assert lines(empty)[:2] == ["One", "x"]
    assert lines(Table("t", "One", (text_column("x"),), (), ("nothing here",))) == ["One", "nothing here"]


def colours(table: Table) -> str:
    """What a terminal with colours gets."""
    page = io.StringIO()
    show([table], Console(file=page, width=80, force_terminal=True, color_system="standard", highlight=False))
    return page.getvalue()


def test_on_a_terminal_rows_and_best_figures_have_styles_and_no_signs() -> None:
    rows = (
        Row(("a", 5), best=("", "clear")),
        Row(("b", 4), best=("", "close")),
        Row(("c", 3), published=True),
        Row(("d", 2), tone="alarm"),
        Row(("e", 1)),
    )
    by_name = {
        line.lstrip("\x1b[0123456789;m")[:1]: line for line in colours(Table("t", "", COLUMNS, rows)).splitlines()
    }
    assert "*" not in "".join(by_name.values())
    # Bold is 1, dim 2, underlined 4 and red 31.
    assert re.search(r"\x1b\[1m *5", by_name["a"])
    assert re.search(r"\x1b\[4m *4", by_name["b"])
    assert by_name["c"].startswith("\x1b[2mc")
    assert by_name["d"].startswith("\x1b[1;31md")
    assert "\x1b" not in by_name["e"]


@pytest.mark.parametrize(("width", "gap"), [(14, 2), (13, 1)])
def test_there_are_two_blanks_between_columns_where_there_is_room(width: int, gap: int) -> None:
    page = io.StringIO()
    table = Table("t", "", (text_column("system"), Column("n", "number")), (Row(("abcdef", 123456)),))
    show([table], Console(file=page, width=width))
    assert page.getvalue().splitlines()[-1].rstrip() == f"abcdef{' ' * gap}123456"


@pytest.mark.parametrize(("length", "shown"), [(60, "9" * 60), (61, "9" * 60 + "...")])
def test_a_number_of_more_than_60_characters_is_cut_and_a_name_is_not(length: int, shown: str) -> None:
    assert lines(Table("t", "", (Column("n", "n"),), (Row(("9" * length,)),)))[-1] == shown
    assert lines(Table("t", "", (text_column("n"),), (Row(("x" * 70,)),)))[-1] == "x" * 70


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("blend-places", ["blend-", "places"]),
        ("one-two-three-four-five", ["one-two-", "three-", "four-five"]),
        ("runs/one_two_three", ["runs/one_", "two_three"]),
        # Behind no hyphen: at the width of the column.
        ("abcdefghijklmno", ["abcdefghij", "klmno"]),
        ("blend-mini", ["blend-mini"]),
    ],
)
def test_a_long_name_is_broken_behind_a_hyphen_if_it_has_one(name: str, shown: list[str]) -> None:
    page = io.StringIO()
    console = Console(file=page, width=16, force_terminal=False, highlight=False)
    # The number and its heading take 5 characters, and a blank is between the columns.
    show([Table("t", "", (text_column("x"), Column("right", "right")), (Row((name, 12.5)),))], console)
    found = [line.split()[0] for line in page.getvalue().splitlines()[2:]]
    assert found == shown


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        # One character more than there is room for.
        ("ab-c", 3, "ab-\nc"),
        ("a-b", 3, "a-b"),
        # The hyphen has room behind the characters of a whole line but one.
        ("abc-d", 4, "abc-\nd"),
        ("abcd-e", 4, "abcd-e"),
        ("a-b", 2, "a-\nb"),
        ("a-b", 1, "a-b"),
        ("short ab-cd", 4, "short ab-\ncd"),
    ],
)
def test_a_word_is_broken_only_where_it_is_too_long_and_the_hyphen_has_room(text: str, width: int, shown: str) -> None:
    assert _break_words(text, width) == shown
