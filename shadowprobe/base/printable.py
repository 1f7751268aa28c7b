"""Text that other programs can show without executing a part of it."""

from __future__ import annotations

import re

# The control characters but for line break and tab; those from 0x80 on are commands too, to some terminals.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A spreadsheet treats a cell that begins with one of these as a formula, and would execute text of a dataset.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_controls(text: str) -> str:
    r"""Replaces control characters by their codes such as `\x1b`, so that a terminal shows and does not obey them."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def escape_json_controls(text: str) -> str:
    r"""The same for JSON, where only the later ones are left: as `\u009b`, so that it is still the same JSON."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def escape_formula(cell: str) -> str:
    """A cell of a spreadsheet that is text, and no formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
