"""Tables 3 and 4 in the paper's columns, and the pairs of a comparison, for a terminal, a paper or a program."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from shadowprobe import published
from shadowprobe.comparison import TABLE_ORDER, Comparison, Pair
from shadowprobe.errors import InputError
from shadowprobe.jsonl import encode_json
from shadowprobe.run_directory import RESULTS
from shadowprobe.runs import FinishedRun

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Each format with the ending of its files.
FORMATS = {"terminal": ".txt", "markdown": ".md", "csv": ".csv", "latex": ".tex", "json": ".json"}
SCORES = {"precision": "P", "recall": "R", "f1": "F"}
SHARES = {
    "prior_correct": "pred =\nprior\ncorrect",
    "prior_wrong": "pred =\nprior\nwrong",
    "context_correct": "pred ≠\nprior\ncorrect",
    "context_wrong": "pred ≠\nprior\nwrong",
    "nil": "NIL",
}
RATE, TENTH, POINTS = "{:.2f}".format, "{:.1f}".format, "{:+.1f}".format
MARK, NOTHING = " †", "–"
# A table of more columns spans both columns of a printed page.
WIDE = 8
PAGE_WIDTH = 110
# Characters up to which a word of a name is not broken on a terminal, and how many a longer one keeps together.
WORD, PART = 12, 8


class Column(Struct, frozen=True):
    """A column: its key for programs, its heading under that of its group, and how its cells are written."""

    key: str
    name: str
    write: Callable[..., str] = str
    group: str = ""


class Row(Struct, frozen=True):
    """The cells of a system, plain and not rounded; None is a figure that there is not."""

    cells: tuple[Any, ...]
    published: bool = False


class Table(Struct, frozen=True):
    """A table as plain data."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    # How many of its columns are words.
    words: int = 1
    # True where the rows of one first cell belong together.
    blocks: bool = False

    def texts(self, row: Row, mark: str = MARK) -> list[str]:
        """The cells of a row as a reader sees them."""
        texts = [
            NOTHING if cell is None else column.write(cell)
            for column, cell in zip(self.columns, row.cells, strict=True)
        ]
        return [texts[0] + mark, *texts[1:]] if row.published else texts

    def records(self, *, as_printed: bool = False) -> list[dict[str, Any]]:
        """The rows for a program; published figures as printed, 0.40 and not 0.4, where all is text anyway."""
        keys = ["source", *(column.key for column in self.columns)]
        found = []
        for row in self.rows:
            cells = self.texts(row, mark="") if row.published and as_printed else row.cells
            found.append(dict(zip(keys, ("published" if row.published else "run", *cells), strict=True)))
        return found


def table_3(runs: Sequence[FinishedRun], *, with_published: bool = False) -> Table:
    """Precision, recall and F1 of every run on every subset, and of the paper's systems below them."""
    entries: list[tuple[str, published.Figures, bool]] = []
    for run in runs:
        scores = _findings(run, run.results, "subsets", "Table 3")
        entries.append(
            (run.label, {subset: tuple(row[key] for key in SCORES) for subset, row in scores.items()}, False)
        )
    if with_published:
        entries += [(name, figures, True) for name, figures in published.TABLE_3.items()]
    groups = [subset for subset in TABLE_ORDER if any(subset in figures for _, figures, _ in entries)]
    rows = []
    for name, figures, is_published in entries:
        cells = (figure for group in groups for figure in figures.get(group, (None,) * len(SCORES)))
        rows.append(Row((name, *cells), is_published))
    notes = _published_notes(3, runs) if with_published else ()
    title = f"Table 3: precision, recall and F1{_on(runs)}"
    return Table("table_3", title, _columns(groups, SCORES, RATE), tuple(rows), notes)


def table_4(runs: Sequence[FinishedRun]) -> Table:
    """The share of answers that repeat the prior or differ from it, right and wrong, in percent."""
    groups = ("top", "shadow")
    rows, notes = [], ["NIL: NIL or skipped."]
    for run in runs:
        shares = _findings(run, run.results["probes"], "prior", "Table 4")
        if "not_measured" in shares:
            notes.append(f"{run.label}: not measured, {shares['not_measured']}.")
        cells = (100 * shares[group][key] if group in shares else None for group in groups for key in SHARES)
        rows.append(Row((run.label, *cells)))
    title = f"Table 4: answers that repeat the prior or differ from it{_on(runs)} (%)"
    return Table("table_4", title, _columns(groups, SHARES, TENTH), tuple(rows), tuple(notes))


def published_table_4(runs: Sequence[FinishedRun] = ()) -> Table:
    """The paper's Table 4 under the headings that it prints."""
    keys = ("published_pred_is_prior_correct", "published_pred_is_not_prior_wrong", "published_nil")
    # In three lines, as the headings of runs.
    headings = [heading.replace(" prior ", "\nprior\n") for heading in published.TABLE_4_HEADINGS]
    columns = _columns(("top", "shadow"), dict(zip(keys, headings, strict=True)), TENTH)
    rows = tuple(
        Row((name, *figures["top"], *figures["shadow"]), published=True) for name, figures in published.TABLE_4.items()
    )
    notes = (
        *_published_notes(4, runs),
        "The headings are those that the paper prints: three columns, where a run has five.",
    )
    return Table("table_4_published", "Table 4 as published (%)", columns, rows, notes)


def _columns(groups: Iterable[str], names: dict[str, str], write: Callable[..., str]) -> tuple[Column, ...]:
    """A column for the system, then those of each subset."""
    figures = (
        Column(f"{group}_{key}", name, write, group.capitalize()) for group in groups for key, name in names.items()
    )
    return Column("system", "system"), *figures


def pairs_table(found: Comparison) -> Table:
    """Every pair of systems on every measure."""
    several = len(found.systems) > 2
    columns = [
        Column("measure", "measured"),
        Column("pair", "A − B"),
        Column("first_rate", "A", TENTH),
        Column("second_rate", "B", TENTH),
        Column("difference", "A − B, points\n(95% interval)"),
        Column("wins", "win/tie/\nloss"),
        Column("mcnemar_p", "McNemar\np", _p_value),
        *([Column("holm_p", "p by\nHolm", _p_value)] if several else []),
        Column("detectable", "at 80%\npower", TENTH),
    ]
    rows = []
    for pair in found.pairs:
        low, high = (POINTS(100 * bound) for bound in pair.difference_ci95)
        cells = [
            pair.measure.replace("_", " ") if pair.unit == "names" else pair.measure.capitalize(),
            f"{pair.first} − {pair.second}",
            100 * pair.first_rate,
            100 * pair.second_rate,
            f"{POINTS(100 * pair.difference)} ({low} to {high})",
            f"{pair.win}/{pair.tie}/{pair.loss}",
            pair.mcnemar_p,
            *([pair.holm_p] if several else []),
            100 * pair.detectable if pair.detectable is not None else None,
        ]
        rows.append(Row(tuple(cells)))
    title = f"A against B on {found.dataset['name']}, paired by snippet and by name (%)"
    notes = tuple(_pair_notes(found, several=several))
    return Table("pairs", title, tuple(columns), tuple(rows), notes, words=2, blocks=several)


def of_comparison(runs: Sequence[FinishedRun], found: Comparison, *, with_published: bool = False) -> list[Table]:
    """Everything that a comparison shows: both tables, the paper's, and the pairs."""
    tables = [table_3(runs, with_published=with_published), table_4(runs)]
    if with_published:
        tables.append(published_table_4(runs))
    return [*tables, pairs_table(found)] if found.pairs else tables


def _pair_notes(found: Comparison, *, several: bool) -> Iterable[str]:
    subsets = dict.fromkeys(pair.measure.capitalize() for pair in found.pairs if pair.unit == "snippets")
    yield f"{', '.join(subsets)}: share of the snippets answered right (R of Table 3)."
    if any(pair.unit == "names" for pair in found.pairs):
        yield (
            "Overshadowed, prior bias: share of the names that get the same entity in both contexts, and of those"
            " where it is the prior too; a win is a name where only B does so: a system that says nothing wins too."
        )
    rounds, seed = (found.settings[f"bootstrap_{key}"] for key in ("rounds", "seed"))
    yield (
        f"Intervals: paired bootstrap, {rounds} rounds, seed {seed}; without width where no pair differs, or every"
        " one does. p: McNemar's exact test, two-sided."
    )
    if several:
        yield "p by Holm: corrected over all pairs of systems on one measure."
    yield (
        "At 80% power: the smallest difference, in points, that McNemar's test would find so often at the 5% level, if"
        f" as many items differ as here; {NOTHING}: too few differ for any."
    )
    yield from (f"{note}." for note in found.notes)


def _findings(run: FinishedRun, place: dict[str, Any], probe: str, table: str) -> dict[str, Any]:
    if probe not in place:
        again = f"`shadowprobe score --predictions {run.path} --out {run.path}` makes it anew with all of them"
        raise InputError(run.path / RESULTS, f"has no {table}: the probe `{probe}` was not asked; {again}")
    findings: dict[str, Any] = place[probe]
    return findings


def _on(runs: Sequence[FinishedRun]) -> str:
    """The dataset of the runs, if there are any."""
    if not runs:
        return ""
    dataset = runs[0].results["dataset"]
    part = f", its first {dataset['limit']} names" if dataset["limit"] is not None else ""
    return f" on {dataset['name']}{part}"


def _published_notes(number: int, runs: Sequence[FinishedRun]) -> tuple[str, ...]:
    ours = "" if not runs else f"; the runs are over {runs[0].dataset.name} ({runs[0].dataset.digest[:12]}...)"
    return (f"†: as published, over the ShadowLink of the paper{ours}. Source: {published.SOURCE}, Table {number}.",)


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def show(tables: Iterable[Table], console: Console) -> None:
    """Prints tables on a terminal."""
    from rich.text import Text

    for number, table in enumerate(tables):
        if number:
            console.print()
        # Where the terminal is too narrow it breaks the line itself, and no number is cut off.
        console.print(_rich(table, console.width), crop=False)
        for note in table.notes:
            console.print(Text(note, style="dim"))


def _rich(table: Table, room: int) -> RenderableType:
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table as Rich
    from rich.text import Text

    title = Text(table.title, style="bold")
    drawn = Rich(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
    group = ""
    # A blank on each side of every column.
    needed = len(table.columns) + 1
    for place, column in enumerate(table.columns):
        # The group's name stands above the first of its columns.
        above = [column.group if column.group != group else ""] if any(one.group for one in table.columns) else []
        group = column.group
        lines = [*above, *column.name.split("\n"), *(table.texts(row)[place] for row in table.rows)]
        # A number is never broken, and a name only where a word of it is long.
        longest = max(cell_len(word) for line in lines for word in line.split() or [""])
        words = place < table.words
        least = PART if words and longest > WORD else longest
        needed += least
        drawn.add_column(
            Text("\n".join([*above, column.name])),
            justify="left" if words else "right",
            overflow="fold",
            min_width=least,
            no_wrap=max(map(cell_len, lines)) <= least,
        )
    if needed > room:
        # Left to itself the table would drop columns.
        drawn.width = needed
    for row, apart in zip(table.rows, _breaks(table), strict=True):
        if apart:
            drawn.add_section()
        drawn.add_row(*(Text(cell) for cell in table.texts(row)), style="dim" if row.published else "")
    return drawn


def _breaks(table: Table) -> list[bool]:
    """For each row, whether a line stands above it: before the published ones, or before the next block."""
    kinds = [(row.published, row.cells[0] if table.blocks else "") for row in table.rows]
    return [place > 0 and kind != kinds[place - 1] for place, kind in enumerate(kinds)]


def markdown(tables: Iterable[Table]) -> str:
    """Tables in GitHub's Markdown."""
    blocks = []
    for table in tables:
        names = [f"{column.group} {column.name}".strip() for column in table.columns]
        rules = [":--" if place < table.words else "--:" for place in range(len(names))]
        cells = [[*map(_markdown_text, line)] for line in (names, *map(table.texts, table.rows))]
        lines = [f"| {' | '.join(line)} |" for line in (cells[0], rules, *cells[1:])]
        notes = [f"- {_markdown_text(note)}" for note in table.notes]
        blocks.append("\n".join([f"### {_markdown_text(table.title)}", "", *lines, *(["", *notes] if notes else [])]))
    return "\n\n".join(blocks) + "\n"


def _markdown_text(text: str) -> str:
    line = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    # Between two dollars code hosts set formulas, and between tildes they strike out.
    return re.sub(r"([\\`*_|\[\]#$~])", r"\\\1", line)


LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"${character}$" for character in "<>|"},
    '"': "''",
    # At the head of a row they would belong to the line break before it.
    **{character: f"{{{character}}}" for character in "[]*"},
    "≠": r"$\neq$",
    "−": "$-$",
    "†": r"$^\dagger$",
    NOTHING: "--",
}


def latex(tables: Iterable[Table]) -> str:
    """Tables for LaTeX with the package booktabs."""
    return "% In the preamble: \\usepackage{booktabs}\n" + "\n".join(map(_latex, tables))


def _latex(table: Table) -> str:
    float_name = "table*" if len(table.columns) > WIDE else "table"
    lines = [f"\\begin{{{float_name}}}[t]", "\\centering", "\\small"]
    kinds = "l" * table.words + "r" * (len(table.columns) - table.words)
    lines += [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule", *_latex_head(table), "\\midrule"]
    for row, apart in zip(table.rows, _breaks(table), strict=True):
        lines += ["\\midrule"] if apart else []
        lines.append(_ampersands(map(_latex_text, table.texts(row))))
    # LaTeX counts tables itself.
    title = re.sub(r"^Table \d: ", "", table.title)
    caption = _latex_text(" ".join([f"{title[0].upper()}{title[1:]}.", *table.notes]))
    lines += ["\\bottomrule", "\\end{tabular}", f"\\caption{{{caption}}}", f"\\label{{tab:{table.key}}}"]
    return "\n".join([*lines, f"\\end{{{float_name}}}\n"])


def _latex_head(table: Table) -> list[str]:
    """The headings, a row for each of their lines; groups span their columns."""
    lines = []
    if any(column.group for column in table.columns):
        cells, rules, place = [], "", 1
        for group, members in groupby(table.columns, key=lambda column: column.group):
            width = len(list(members))
            cells.append(f"\\multicolumn{{{width}}}{{c}}{{{_latex_text(group)}}}" if group else "")
            rules += f"\\cmidrule(lr){{{place}-{place + width - 1}}}" if group else ""
            place += width
        lines += [_ampersands(cells), rules]
    headings = [column.name.split("\n") for column in table.columns]
    depth = max(map(len, headings))
    # A short heading stands on the last line.
    padded = [[""] * (depth - len(heading)) + heading for heading in headings]
    return lines + [_ampersands(_latex_text(heading[level]) for heading in padded) for level in range(depth)]


def _ampersands(cells: Iterable[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _latex_text(text: str) -> str:
    line = re.sub(r"(?<!\S)(\(?)-(?=\d)", r"\1−", " ".join(text.split()))
    return "".join(LATEX.get(character, character) for character in line)


def pairs_csv(pairs: Iterable[Pair]) -> str:
    """The pairs of a comparison as CSV, a line for each, nothing rounded."""
    records = []
    for pair in pairs:
        record = structs.asdict(pair)
        low, high = record.pop("difference_ci95")
        records.append({**record, "difference_low": low, "difference_high": high})
    return _csv(records)


def _csv(records: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    columns = dict.fromkeys(key for record in records for key in record)
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def tables_json(tables: Iterable[Table], found: Comparison | None = None) -> str:
    """Tables as JSON, their rows as objects; with the comparison in place of its table, if there is one."""
    document: dict[str, Any] = structs.asdict(found) if found is not None else {}
    for table in tables:
        document.setdefault(table.key, {"title": table.title, "rows": table.records(), "notes": list(table.notes)})
    return encode_json(document).decode()


def written(format_name: str, tables: Sequence[Table], found: Comparison | None = None) -> str:
    """The content of a file in one of the formats; the CSV of a comparison has its pairs alone."""
    if format_name == "csv":
        # The columns of all tables, so that there is one heading; what a row has not stays empty.
        every = [record for table in tables for record in table.records(as_printed=True)]
        return _csv(every) if found is None else pairs_csv(found.pairs)
    if format_name == "json":
        return tables_json(tables, found)
    if format_name in {"markdown", "latex"}:
        return markdown(tables) if format_name == "markdown" else latex(tables)
    from rich.console import Console

    page = io.StringIO()
    show(tables, Console(file=page, width=PAGE_WIDTH, highlight=False, no_color=True))
    return page.getvalue()
