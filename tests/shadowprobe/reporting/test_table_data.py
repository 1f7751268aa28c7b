"""A table as data: its cells, its columns, and what each renderer makes of them."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from page_reading import Read
from rich.console import Console

from shadowprobe.reporting.tables.other_findings import other_tables
from shadowprobe.reporting.tables.rendering import render
from shadowprobe.reporting.tables.table import (
    Column,
    Estimate,
    Row,
    Table,
    in_percent,
    percent,
    text_column,
    write_p_value,
    write_percent,
    write_points,
    write_short,
    write_tenth,
)
from shadowprobe.reporting.tables.to_html import table_html
from shadowprobe.reporting.tables.to_terminal import show

TABLE = Table(
    "tasks",
    "How often?",
    (
        text_column("task"),
        text_column("system"),
        Column("head", "head", write_short, "Accuracy"),
        Column("tail", "tail", write_short, "Accuracy"),
    ),
    (
        Row(("slot filling", "mine <b>", Estimate(62.5, 55.0, 70.4), None), section="sf"),
        Row(("slot filling", "theirs", 40.0, 7.25), published=True, section="sf"),
        Row(("fact checking", "mine <b>", Estimate(100.0, 99.6, 100.0), 0.0), section="fc"),
    ),
    ("A note.",),
)


def runs_with(**findings: object) -> dict[str, dict[str, object]]:
    """Runs by their labels, with these findings of a probe called `mine`."""
    return {label: {"probes": {"mine": found, "known": {"n": 1}}} for label, found in findings.items()}


def shown(table: Table, width: int = 80) -> list[str]:
    """The lines of a terminal that is this wide."""
    page = io.StringIO()
    show([table], Console(file=page, width=width))
    return page.getvalue().splitlines()


def test_cells_are_written_as_a_person_reads_them() -> None:
    assert TABLE.texts(TABLE.rows[0]) == ["slot filling", "mine <b>", "62.5 (55–70)", "–"]
    assert in_percent(0.25, [0.125, 0.5]) == Estimate(25.0, 12.5, 50.0)
    assert percent(0.25, [0.125, 0.5]) == write_percent(Estimate(25.0, 12.5, 50.0)) == "25.0% (12.5 to 50.0)"
    assert (percent(None), percent(0.5)) == ("-", "50.0%")
    assert write_points(Estimate(-3.0, -16.6, 10.6)) == "-3.0 (-16.6 to +10.6)"
    assert (write_tenth(Estimate(25.0, 0.0, 50.0)), write_tenth(7.25)) == ("25.0", "7.2")
    assert (write_p_value(0.0009), write_p_value(0.001)) == ("<0.001", "0.001")


def test_the_mark_of_a_published_row_is_behind_the_name_of_its_system() -> None:
    assert TABLE.texts(TABLE.rows[1])[:2] == ["slot filling", "theirs †"]


def test_a_table_can_leave_columns_out() -> None:
    table = TABLE.without("system", "tail")
    assert [column.key for column in table.columns] == ["task", "head"]
    assert [row.cells for row in table.rows][1:] == [("slot filling", 40.0), ("fact checking", TABLE.rows[2].cells[2])]
    assert table.rows[1].published


def test_a_line_separates_sections_unless_every_row_is_one() -> None:
    assert TABLE.starts_section() == [False, False, True]
    single = Table("t", "", TABLE.columns, (TABLE.rows[0], TABLE.rows[2]))
    assert single.starts_section() == [False, False]


def test_programs_get_whole_numbers_and_the_bounds_of_intervals() -> None:
    rows = json.loads(render("json", [TABLE]))["tasks"]["rows"]
    assert rows[0] == {
        "source": "run",
        "task": "slot filling",
        "system": "mine <b>",
        "head": 62.5,
        "head_low": 55.0,
        "head_high": 70.4,
        "tail": None,
    }
    first, second, _ = csv.DictReader(io.StringIO(render("csv", [TABLE])))
    assert (first["head"], first["head_low"], first["tail"]) == ("62.5", "55.0", "")
    # As printed, and not as the number 7.25 is.
    assert (second["source"], second["head"], second["tail"], second["head_low"]) == ("published", "40.0", "7.2", "")


def test_the_csv_of_several_tables_says_of_which_each_row_is() -> None:
    rows = list(csv.DictReader(io.StringIO(render("csv", [TABLE, TABLE.without("tail")]))))
    assert [row["table"] for row in rows] == ["tasks"] * 6


def test_latex_groups_span_their_columns_and_words_have_none() -> None:
    lines = [line for line in render("latex", [TABLE]).splitlines() if line.endswith(r"\\")]
    assert lines[0] == r" &  & \multicolumn{2}{c}{Accuracy} \\"
    assert r"\cmidrule(lr){3-4}" in render("latex", [TABLE])
    assert r"\begin{tabular}{llrr}" in render("latex", [TABLE])
    assert r"\caption{How often? A note.}" in render("latex", [TABLE])
    assert lines[2] == r"slot filling & mine $<$b$>$ & 62.5 (55--70) & -- \\"


def test_a_page_has_every_name_as_text_and_marks_what_is_published() -> None:
    content = table_html(TABLE)
    read = Read(content)
    assert read.tables["table-tasks"][0] == ["task", "system", "Accuracy, head", "Accuracy, tail"]
    assert read.tables["table-tasks"][1] == ["slot filling", "mine <b>", "62.5 (55–70)", "–"]
    assert read.count("b") == 0
    rows = [attributes.get("class") for tag, attributes in read.elements if tag == "tr"]
    assert rows == [None, None, "back", "apart"]
    assert "How often? A note." in content


def test_a_wide_terminal_has_two_blanks_between_columns_and_a_narrow_one_breaks_words_first() -> None:
    assert re.search(r"fact checking  mine <b>  +100\.0 \(100–100\)  +0\.0$", shown(TABLE)[-2])
    narrow = shown(TABLE, 38)
    assert max(map(len, narrow)) <= 38
    # The numbers stay whole, the names are folded.
    assert any("62.5 (55–70)" in line for line in narrow)
    assert not any("slot filling" in line for line in narrow)


def test_findings_of_an_unknown_probe_are_a_row_each_with_their_keys_joined_by_dots() -> None:
    (table,) = other_tables(runs_with(a={"share": 0.123456, "by": {"top": 3, "all": {"n": [1, 2]}}}), {"known"})
    assert (table.key, table.title) == ("probe-mine", "mine: what this probe found")
    assert [table.texts(row) for row in table.rows] == [["share", "0.1235"], ["by.top", "3"], ["by.all.n", "[1, 2]"]]


def test_runs_stand_side_by_side_in_the_table_of_an_unknown_probe() -> None:
    runs = runs_with(a={"x": 1}, b={"y": 2}, c={"not_measured": "nothing to measure"})
    (table,) = other_tables(runs, {"known"})
    assert [column.name for column in table.columns] == ["finding", "a", "b", "c"]
    assert [table.texts(row) for row in table.rows] == [["x", "1", "–", "–"], ["y", "–", "2", "–"]]


def test_long_values_and_many_findings_are_left_to_results_json() -> None:
    (table,) = other_tables(runs_with(a={"long": "x" * 61, **{str(number): number for number in range(41)}}), {"known"})
    assert table.texts(table.rows[0])[1] == f"{'x' * 60}... (whole in results.json)"
    assert (len(table.rows), table.notes) == (40, ("2 more findings are in results.json.",))


def test_a_probe_that_measured_nothing_has_no_table() -> None:
    assert list(other_tables(runs_with(a={"not_measured": "nothing to measure"}), {"known"})) == []


@pytest.mark.parametrize("format_name", ["markdown", "latex", "html", "terminal"])
def test_every_format_for_people_shows_the_notes(format_name: str) -> None:
    assert "A note." in render(format_name, [TABLE])
