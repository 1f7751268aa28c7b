"""A table as plain data, and how its cells are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

# Behind the name of a published row, and in place of a figure that does not exist.
MARK, NOTHING = " †", "–"
# The names of rows that a note lists; of more it says the number.
MOST_NAMED = 4
Tone = Literal["", "quiet", "alarm"]
# The best figure of a column, `clear` where no other one could be as good by chance, else `close`.
Best = Literal["", "clear", "close"]
# What results.json contains, and that of several runs by their labels.
Results = dict[str, Any]
Runs = Mapping[str, Results]


class Estimate(Struct, frozen=True):
    """A figure with its 95% interval."""

    value: float
    low: float
    high: float


def in_percent(rate: float, interval: Sequence[float]) -> Estimate:
    """A fraction of 1 and its interval, as an estimate in percent."""
    return Estimate(100 * rate, 100 * interval[0], 100 * interval[1])


def estimate(found: Mapping[str, Any] | None, key: str = "rate") -> Estimate | None:
    """A rate or a difference of the findings in percent; None where there is none."""
    return None if found is None else in_percent(found[key], found["ci95"])


def percent(rate: float | None, interval: Sequence[float] | None = None) -> str:
    """A fraction of 1 as a person reads it, with its interval: `43.5% (35.9 to 51.4)`."""
    if rate is None:
        return "-"
    return write_percent(in_percent(rate, interval) if interval else 100 * rate)


def write_percent(cell: Estimate | float) -> str:
    """Writes `43.5% (35.9 to 51.4)`."""
    if isinstance(cell, Estimate):
        return f"{cell.value:.1f}% ({cell.low:.1f} to {cell.high:.1f})"
    return f"{cell:.1f}%"


def write_short(cell: Estimate | float) -> str:
    """Writes `43.5 (36–51)`: few characters, as many such figures are in one row."""
    return f"{cell.value:.1f} ({cell.low:.0f}–{cell.high:.0f})" if isinstance(cell, Estimate) else f"{cell:.1f}"


def write_bounds(bounds: Sequence[float]) -> str:
    """Writes an interval alone: `0.353 to 0.508`."""
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}"


def write_points(cell: Estimate) -> str:
    """Writes a difference in points: `+8.0 (+1.0 to +15.0)`."""
    return f"{cell.value:+.1f} ({cell.low:+.1f} to {cell.high:+.1f})"


def write_tenth(cell: Estimate | float) -> str:
    """Writes `43.5`, without the interval."""
    return f"{cell.value if isinstance(cell, Estimate) else cell:.1f}"


def write_p_value(p: float) -> str:
    """Writes `0.021`, or `<0.001`."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def select_probe(runs: Runs, probe: str) -> Runs:
    """What a probe found in each run that has its findings."""
    return {label: results["probes"][probe] for label, results in runs.items() if probe in results["probes"]}


class Column(Struct, frozen=True):
    """A column: its key for programs, its heading below that of its group, and how its cells are written."""

    key: str
    name: str
    write: Callable[..., str] = str
    group: str = ""
    # Words are on the left and may be folded; numbers are on the right and are never broken.
    is_text: bool = False
    is_bold: bool = False

    @property
    def words(self) -> str:
        """The heading on one line."""
        return " ".join(self.name.replace("-\n", "").split())


def text_column(key: str, name: str | None = None, *, is_bold: bool = False) -> Column:
    """A column of words, whose heading is its key unless another is given."""
    return Column(key, key if name is None else name, is_text=True, is_bold=is_bold)


class Row(Struct, frozen=True):
    """The cells of a row, plain and not rounded; None is a figure that does not exist, "" a cell without any."""

    cells: tuple[Any, ...]
    published: bool = False
    # A line separates rows of different sections.
    section: str = ""
    tone: Tone = ""
    # For each cell, whether it is the best; empty where the table does not say.
    best: tuple[Best, ...] = ()
    # True if every figure is 100%, so that people need not see it; programs get it all the same.
    is_full: bool = False

    @property
    def marks(self) -> tuple[Best, ...]:
        """A mark for each cell."""
        none: Best = ""
        return self.best or (none,) * len(self.cells)


class Table(Struct, frozen=True):
    """A table as plain data, and how its cells are written."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def texts(self, row: Row, mark: str = MARK) -> list[str]:
        """The cells of a row as a reader sees them; the mark follows the name of a published system."""
        texts = [
            NOTHING if cell is None else "" if cell == "" else column.write(cell)
            for column, cell in zip(self.columns, row.cells, strict=True)
        ]
        if row.published:
            keys = [column.key for column in self.columns]
            texts[keys.index("system") if "system" in keys else 0] += mark
        return texts

    def without(self, *keys: str) -> Table:
        """The same table without some of its columns."""
        return self._take([place for place, column in enumerate(self.columns) if column.key not in keys])

    def with_last(self, *keys: str) -> Table:
        """The same table with some of its columns behind the others."""
        return self._take(sorted(range(len(self.columns)), key=lambda place: self.columns[place].key in keys))

    def _take(self, places: Sequence[int]) -> Table:
        rows = (
            structs.replace(
                row,
                cells=tuple(row.cells[place] for place in places),
                best=tuple(row.marks[place] for place in places),
            )
            for row in self.rows
        )
        return structs.replace(self, columns=tuple(self.columns[place] for place in places), rows=tuple(rows))

    def grouped_by(self, key: str) -> Table:
        """The same table with the rows together that have one value in a column, in the order of the first of each."""
        place = next(place for place, column in enumerate(self.columns) if column.key == key)
        groups: dict[Any, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.cells[place], []).append(structs.replace(row, section=str(row.cells[place])))
        return structs.replace(self, rows=tuple(row for rows in groups.values() for row in rows))

    def with_notes(self, *notes: str) -> Table:
        """The same table with more notes."""
        return structs.replace(self, notes=(*self.notes, *notes))

    def fold(self) -> Table:
        """The same table for people: where every row of a name is full, a note takes the place of these rows."""
        names = dict.fromkeys(row.cells[0] for row in self.rows if row.is_full)
        full = [name for name in names if all(row.is_full for row in self.rows if row.cells[0] == name)]
        if not full:
            return self
        kept = tuple(row for row in self.rows if row.cells[0] not in full)
        which = ", ".join(full) if len(full) <= MOST_NAMED else f"{len(full)} measures"
        return structs.replace(self, rows=kept, notes=(f"Not shown, because all is 100%: {which}.", *self.notes))

    def describe(self) -> str:
        """The title and the notes in sentences."""
        return " ".join(
            words if words.endswith((".", "?", ":")) else f"{words}." for words in (self.title, *self.notes) if words
        )

    def starts_section(self) -> list[bool]:
        """For each row, whether a line separates it from the row above; sections of one row need none."""
        sections = [row.section for row in self.rows]
        several = len(set(sections)) < len(sections)
        return [several and place > 0 and section != sections[place - 1] for place, section in enumerate(sections)]

    def records(self, *, as_printed: bool = False) -> list[dict[str, Any]]:
        """The rows for a program; `as_printed` writes published figures as text, 0.40 and not 0.4."""
        records = []
        for row in self.rows:
            cells: Iterable[Any] = self.texts(row, mark="") if row.published and as_printed else row.cells
            record: dict[str, Any] = {"source": "published" if row.published else "run"}
            for column, cell, best in zip(self.columns, cells, row.marks, strict=True):
                if isinstance(cell, Estimate):
                    record |= {column.key: cell.value, f"{column.key}_low": cell.low, f"{column.key}_high": cell.high}
                else:
                    record[column.key] = cell
                if best:
                    record[f"{column.key}_best"] = best
            records.append(record)
        return records
