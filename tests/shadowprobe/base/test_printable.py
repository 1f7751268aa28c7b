"""Text that other programs show without executing a part of it."""

from __future__ import annotations

import json

import pytest

from shadowprobe.base.printable import escape_controls, escape_formula, escape_json_controls


def test_a_control_character_becomes_its_code_and_the_rest_stays() -> None:
    assert escape_controls("a\x1b[31mb\x9bc\x07\x7f\r\n\tü") == "a\\x1b[31mb\\x9bc\\x07\\x7f\\x0d\n\tü"


def test_json_stays_the_same_json() -> None:
    value = {"na\x9bme": "x\x7fy\u0085z"}
    text = escape_json_controls(json.dumps(value, ensure_ascii=False))
    assert text == '{"na\\u009bme": "x\\u007fy\\u0085z"}'
    assert json.loads(text) == value


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx"])
def test_a_cell_that_a_spreadsheet_would_execute_begins_with_a_quote(cell: str) -> None:
    assert escape_formula(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "a=1", "1-1", "Köln"])
def test_any_other_cell_stays(cell: str) -> None:
    assert escape_formula(cell) == cell
