"""Cells that a spreadsheet shows and does not execute."""

from __future__ import annotations

import pytest

from shadowprobe.base.printable import escape_formula


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx"])
def test_a_cell_that_a_spreadsheet_would_execute_begins_with_a_quote(cell: str) -> None:
    assert escape_formula(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "a=1", "1-1", "Köln"])
def test_any_other_cell_stays(cell: str) -> None:
    assert escape_formula(cell) == cell
