"""Tables in a web page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from shadowprobe.reporting.tables.table import Best, Column, Row, Table

BEST_TAGS = {"clear": "strong", "close": "u"}


def render(tables: Iterable[Table]) -> str:
    """Tables one below the other."""
    return "\n".join(map(table_html, tables)) + "\n"


def table_html(table: Table) -> str:
    """A table below its title and notes; the first cell of a row is its heading. Without rows, the notes alone."""
    has_rows = bool(table.rows)
    table = table.fold()
    about = f'<p class="quiet" id="about-{table.key}">{escape(table.describe())}</p>'
    if has_rows and not table.rows:
        return about
    head = "".join(f'<th scope="col"{_side(column)}>{escape(_heading(column))}</th>' for column in table.columns)
    body = "".join(map(_row, [table] * len(table.rows), table.rows, table.starts_section()))
    # A wide table scrolls by itself, by keyboard too, and not the page; what it is about stays where it is.
    return (
        f'{about}<div class="wide" tabindex="0" role="region" aria-labelledby="about-{table.key}">'
        f'<table id="table-{table.key}" aria-labelledby="about-{table.key}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def isolate(name: str) -> str:
    """A name whose marks of direction affect nothing else: numbers after it would read backwards."""
    return f"<bdi>{escape(name)}</bdi>"


def _row(table: Table, row: Row, is_apart: bool) -> str:
    first, *others = zip(table.columns, table.texts(row), row.marks, strict=True)
    kinds = [*(["back"] if row.published or row.tone == "quiet" else []), *(["apart"] if is_apart else [])]
    name = f' class="{" ".join(kinds)}"' if kinds else ""
    cells = "".join(f"<td{_side(column)}>{_mark(_text(column, text), best)}</td>" for column, text, best in others)
    return f'<tr{name}><th scope="row">{isolate(first[1])}</th>{cells}</tr>'


def _mark(html: str, best: Best) -> str:
    return f"<{BEST_TAGS[best]}>{html}</{BEST_TAGS[best]}>" if best else html


def _text(column: Column, text: str) -> str:
    return isolate(text) if column.key == "system" else escape(text)


def _side(column: Column) -> str:
    """Words are on the left, as the style sheet has it for this class."""
    return ' class="text"' if column.is_text else ""


def _heading(column: Column) -> str:
    return f"{column.group}, {column.words}" if column.group and column.words else column.group or column.words
