"""Tables on a terminal, alone and as one screen on a run."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

from shadowprobe.errors import shorten
from shadowprobe.reporting.run_summary import summarize, tables_of
from shadowprobe.reporting.tables.table import Column, Results, Table

# Characters up to which a word is not broken, and how many characters of a longer word stay together.
WHOLE_WORD, PART_OF_WORD = 12, 8
# How many stay together where the terminal is too narrow for that.
SHORTEST_PART = 6
# Characters of a number with its interval.
LONGEST_NUMBER = 60
# Characters of a line in a file.
PAGE_WIDTH = 110
STYLES = {"": "", "quiet": "dim", "alarm": "bold red"}
BEST_STYLES = {"": "", "clear": "bold", "close": "underline"}
# The same before the figure, where the output has no styles.
BEST_SIGNS = {"": "", "clear": "**", "close": "*"}


def render(tables: Iterable[Table]) -> str:
    """Tables as they look on a terminal, for a file."""
    page = io.StringIO()
    show(tables, _make_page(page))
    return page.getvalue()


def render_run(results: Results) -> str:
    """What the screen shows of a run, as plain text."""
    page = io.StringIO()
    show_run(results, _make_page(page))
    return page.getvalue()


def _make_page(page: io.StringIO) -> Console:
    """A console that writes plain text: a notebook would display it, and some programs ask for colours."""
    plain: dict[str, Any] = {"force_jupyter": False, "force_terminal": False, "highlight": False, "no_color": True}
    return Console(file=page, width=PAGE_WIDTH, **plain)


def show(tables: Iterable[Table], console: Console) -> None:
    """Prints tables, with a blank line between two of them."""
    for number, table in enumerate(table.fold() for table in tables):
        if number:
            console.print()
        if table.title:
            console.print(Text(table.title, style="bold"))
        # Where the terminal is too narrow it breaks the line itself, and no number is cut off.
        if table.rows or not table.notes:
            console.print(_draw(table, console.width, is_plain=not console.is_terminal), crop=False)
        for note in table.notes:
            console.print(Text(note, style="dim"))


def show_run(results: Results, console: Console, *, published: bool = False) -> None:
    """Prints the tables of a run, then what a careful reader must know besides, then the verdict."""
    summary = summarize(results)
    console.print(Text(f"{summary.system} on {summary.data}", style="bold"))
    console.print(Text(summary.size, style="dim"))
    console.print()
    # There is one run: its name is needed only beside the systems of a paper.
    left_out = ("property",) if published else ("property", "system")
    tables = tables_of({summary.name: results}, published=published)
    show([table.without(*left_out) for table in tables], console)
    lines = []
    for question, answer in summary.examples:
        lines += [Text(question), Text(f"  {answer}", style="dim")]
    lines += [Text(warning, style="yellow") for warning in summary.warnings]
    lines += [Text(note, style="dim") for note in summary.not_measured]
    lines += [Text(f"note: {note}", style="dim") for note in summary.notes]
    for paragraph in (lines, [Text(summary.sentence, style="bold")] if summary.sentence else []):
        if paragraph:
            console.print()
            console.print(*paragraph, sep="\n")


def _draw(table: Table, room: int, *, is_plain: bool) -> RichTable:
    """The table for rich, as wide as the terminal allows and its cells need."""
    cells = [
        [_limit(text, column) for text, column in zip(table.texts(row), table.columns, strict=True)]
        for row in table.rows
    ]
    if is_plain:
        cells = [
            [f"{BEST_SIGNS[best]}{text}" for text, best in zip(texts, row.marks, strict=True)]
            for row, texts in zip(table.rows, cells, strict=True)
        ]
    headings = _headings(table)
    lines = [
        [line for text in (heading, *(row[place] for row in cells)) for line in text.split("\n")]
        for place, heading in enumerate(headings)
    ]
    widest = [max(map(cell_len, column)) for column in lines]
    # A blank between two columns, and a second one where there is room.
    blanks = len(lines) - 1
    is_roomy = sum(widest) + 2 * blanks <= room
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1 if is_roomy else 0, 0, 0))
    widths = _choose_widths(table.columns, lines, widest, room - blanks)
    for column, heading, width in zip(table.columns, headings, widths, strict=True):
        justify: JustifyMethod = "left" if column.is_text else "right"
        style = "bold" if column.is_bold else ""
        drawn.add_column(Text(heading), justify=justify, style=style, overflow="fold", width=width)
    if sum(widths) + blanks > room:
        # Otherwise rich would drop columns.
        drawn.width = sum(widths) + blanks
    for row, texts, is_apart in zip(table.rows, cells, table.starts_section(), strict=True):
        if is_apart:
            drawn.add_section()
        shown = (
            Text(_break_words(text, width), style=BEST_STYLES[best])
            for text, width, best in zip(texts, widths, row.marks, strict=True)
        )
        drawn.add_row(*shown, style=STYLES["quiet" if row.published else row.tone])
    return drawn


def _break_words(text: str, width: int) -> str:
    """A cell whose long names are broken behind a hyphen or the like; rich breaks any other word at its width."""
    if width < 2:
        return text
    too_long = re.compile(rf"(?<!\S)(?=\S{{{width + 1}}})\S{{1,{width - 1}}}[-_/](?=\S)")
    while (broken := too_long.sub("\\g<0>\n", text)) != text:
        text = broken
    return text


def _limit(text: str, column: Column) -> str:
    """A cell as it is; a number of a damaged file may be a long text, and is cut because numbers are never broken."""
    return text if column.is_text or len(text) <= LONGEST_NUMBER else shorten(text, LONGEST_NUMBER)


def _choose_widths(
    columns: Sequence[Column], lines: Sequence[Sequence[str]], widest: Sequence[int], room: int
) -> list[int]:
    """The width of each column: a number is never broken, and a name only where one of its words is long.

    Numbers get the room that they need first, then the words.
    """
    words = [max(cell_len(word) for line in column for word in line.split() or [""]) for column in lines]
    widths = [
        PART_OF_WORD if column.is_text and word > WHOLE_WORD else word
        for column, word in zip(columns, words, strict=True)
    ]
    shortest = [
        min(width, SHORTEST_PART) if column.is_text else width for column, width in zip(columns, widths, strict=True)
    ]
    if sum(shortest) <= room < sum(widths):
        widths = shortest
    for is_text in (False, True):
        waiting = [place for place, column in enumerate(columns) if column.is_text == is_text]
        # Those that need least come first, so that what they leave is for the others.
        waiting.sort(key=lambda place: widest[place] - widths[place])
        for number, place in enumerate(waiting):
            share = max(0, room - sum(widths)) // (len(waiting) - number)
            widths[place] += min(widest[place] - widths[place], share)
    return widths


def _headings(table: Table) -> list[str]:
    """The headings of the columns; the name of a group is above the first of its columns."""
    if not any(column.group for column in table.columns):
        return [column.name for column in table.columns]
    before = [column.group for column in table.columns[:-1]]
    groups = [
        "" if column.group == other else column.group
        for column, other in zip(table.columns, [None, *before], strict=True)
    ]
    return [f"{group}\n{column.name}" for group, column in zip(groups, table.columns, strict=True)]
