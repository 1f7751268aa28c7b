"""Rows in which every system has 100% are a note for people, and rows for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from refusals import outcome

from shadowprobe.reporting.tables import to_csv, to_html, to_terminal
from shadowprobe.reporting.tables.table import Column, Row, Table, text_column, write_tenth

ROWS = (
    Row(("fact checking", "one", 100.0), is_full=True),
    Row(("fact checking", "two", 100.0), is_full=True),
    Row(("slot filling", "one", 100.0), is_full=True),
    Row(("slot filling", "two", 99.0)),
)
COLUMNS = (text_column("task"), text_column("system"), Column("all", "all", write_tenth))
TABLE = Table("amber-human-20", "Found?", COLUMNS, ROWS, ("A note.",))


def test_a_task_on_which_every_system_is_right_is_a_note_and_any_other_stays() -> None:
    shown = to_terminal.render([TABLE])
    assert "Not shown, because all is 100%: fact checking." in shown
    assert shown.count("fact checking") == 1
    assert shown.count("slot filling") == 2
    page = to_html.render([TABLE])
    assert page.count("fact checking") == 1
    assert page.count('<th scope="row"><bdi>slot filling') == 2


def test_programs_get_every_row() -> None:
    assert to_csv.render([TABLE]).count("fact checking") == 2
    assert len(TABLE.records()) == 4


def test_a_table_of_which_nothing_is_left_is_its_title_and_notes() -> None:
    full = replace(TABLE, rows=ROWS[:3])
    shown = to_terminal.render([full])
    assert shown.split("\n")[:2] == ["Found?", "Not shown, because all is 100%: fact checking, slot filling."]
    assert "system" not in shown
    assert "<table" not in to_html.render([full])


def test_four_folded_rows_are_named_and_more_are_counted() -> None:
    rows = tuple(Row((f"m{n}", "one", 100.0), is_full=True) for n in range(5))
    assert "Not shown, because all is 100%: 5 measures." in to_terminal.render([replace(TABLE, rows=rows)])
    assert "Not shown, because all is 100%: m0, m1, m2, m3." in to_terminal.render([replace(TABLE, rows=rows[:4])])


def test_the_built_in_collection_folds_the_first_20_documents_and_csv_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("bm25", "tfidf"):
        code = outcome(capsys, "retrieve", "-r", name, "--probe", "amber", "--out", name, "--rounds", "100")[0]
        assert code == 0
    shown = outcome(capsys, "compare", "bm25", "tfidf", "--rounds", "100")[1]
    assert "Not shown, because all is 100%: fact checking, slot filling, question answering." in shown
    assert "people, fact checking, head: first 20" not in shown
    tables = json.loads(outcome(capsys, "compare", "bm25", "tfidf", "--rounds", "100", "--json")[1])
    assert "human/fc/head@20" in json.dumps(tables)
    table = outcome(capsys, "table", "amber", "bm25", "--format", "csv")[1]
    assert table.count("fact checking") == 4
