"""Cells of a spreadsheet that are text."""

from __future__ import annotations

# A spreadsheet treats a cell that begins with one of these as a formula, and would execute text of a dataset.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formula(cell: str) -> str:
    """A cell of a spreadsheet that is text, and no formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
