"""Tables for LaTeX with the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from shadowprobe.reporting.tables.table import NOTHING, Best, Table

# A table of more columns spans both columns of a printed page.
WIDE = 8
BEST_COMMANDS = {"clear": "\\textbf", "close": "\\underline"}
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
    "∀": r"$\forall$",
    NOTHING: "--",
}


def render(tables: Iterable[Table]) -> str:
    """Tables for LaTeX with the package booktabs."""
    return "% In the preamble: \\usepackage{booktabs}\n" + "\n".join(map(_latex, tables))


def _latex(table: Table) -> str:
    float_name = "table*" if len(table.columns) > WIDE else "table"
    lines = [f"\\begin{{{float_name}}}[t]", "\\centering", "\\small"]
    kinds = "".join("l" if column.is_text else "r" for column in table.columns)
    lines += [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule", *_latex_head(table), "\\midrule"]
    for row, apart in zip(table.rows, table.starts_section(), strict=True):
        lines += ["\\midrule"] if apart else []
        lines.append(_ampersands(map(_mark, map(_escape, table.texts(row)), row.marks)))
    # LaTeX counts tables itself.
    about = re.sub(r"^Table \d: ", "", table.describe())
    caption = _escape(f"{about[0].upper()}{about[1:]}")
    lines += ["\\bottomrule", "\\end{tabular}", f"\\caption{{{caption}}}", f"\\label{{tab:{table.key}}}"]
    return "\n".join([*lines, f"\\end{{{float_name}}}\n"])


def _mark(text: str, best: Best) -> str:
    return f"{BEST_COMMANDS[best]}{{{text}}}" if best else text


def _latex_head(table: Table) -> list[str]:
    """The headings, a row for each of their lines; groups span their columns."""
    lines = []
    if any(column.group for column in table.columns):
        cells, rules, place = [], "", 1
        for group, members in groupby(table.columns, key=lambda column: column.group):
            width = len(list(members))
            cells += [f"\\multicolumn{{{width}}}{{c}}{{{_escape(group)}}}"] if group else [""] * width
            rules += f"\\cmidrule(lr){{{place}-{place + width - 1}}}" if group else ""
            place += width
        lines += [_ampersands(cells), rules]
    headings = [column.name.split("\n") for column in table.columns]
    depth = max(map(len, headings))
    # A short heading stands on the last line.
    padded = [[""] * (depth - len(heading)) + heading for heading in headings]
    return lines + [_ampersands(_escape(heading[level]) for heading in padded) for level in range(depth)]


def _ampersands(cells: Iterable[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _escape(text: str) -> str:
    line = re.sub(r"(?<!\S)(\(?)-(?=\d)", r"\1−", " ".join(text.split()))
    return "".join(LATEX.get(character, character) for character in line)
