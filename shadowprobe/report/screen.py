"""The results of a run as one screen of a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from shadowprobe.report.run_summary import summarize, tables_of
from shadowprobe.report.tables.table import Results
from shadowprobe.report.tables.to_terminal import show as show_tables


def show(results: Results, console: Console, *, published: bool = False) -> None:
    """Prints the tables, then what a careful reader must know besides, then the verdict."""
    summary = summarize(results)
    console.print(Text(f"{summary.system} on {summary.data}", style="bold"))
    console.print(Text(summary.size, style="dim"))
    console.print()
    # There is one run: its name is needed only beside the systems of a paper.
    left_out = ("property",) if published else ("property", "system")
    tables = tables_of({summary.name: results}, published=published)
    show_tables([table.without(*left_out) for table in tables], console)
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
