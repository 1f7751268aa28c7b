"""What is installed and what a check found, as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shadowprobe.reporting.tables.table import Column, Row, Table, text_column

# For their names alone: what they import would take longer than the listing.
if TYPE_CHECKING:
    from shadowprobe.catalogue.datasets import Listed
    from shadowprobe.plugins import Listing
    from shadowprobe.reporting.details import Details
    from shadowprobe.running.check import Finding


def plugins_table(plugins: Iterable[Listing], noun: str, about: str = "what it does") -> Table:
    """Linkers, retrievers or probes, with what each needs."""
    columns = (
        text_column("name", noun, is_bold=True),
        text_column("about", about),
        text_column("needs"),
        text_column("package", "from"),
    )
    rows = (
        Row((item.name, f"BROKEN: {item.error}", "", item.package), tone="alarm")
        if item.error
        else Row((item.name, item.about, item.needs, item.package))
        for item in plugins
    )
    return Table(f"{noun}s", "", columns, tuple(rows))


def datasets_table(datasets: Iterable[Listed]) -> Table:
    """The datasets that have a name."""
    columns = (
        text_column("name", "dataset", is_bold=True),
        text_column("about", "what it is"),
        Column("spaces", "names"),
        Column("snippets", "snippets"),
        text_column("needs"),
    )
    rows = (
        Row((item.name, item.about, *("" if n is None else n for n in (item.spaces, item.snippets)), item.needs))
        for item in datasets
    )
    return Table("datasets", "", columns, tuple(rows))


def figures_table(figures: Iterable[tuple[str, str]]) -> Table:
    """The figures with what each shows."""
    columns = (text_column("name", "figure", is_bold=True), text_column("about", "what it shows"))
    return Table("figures", "", columns, tuple(map(Row, figures)))


def options_table(details: Details) -> Table:
    """The options of a linker or retriever."""
    columns = (
        text_column("name", "option", is_bold=True),
        text_column("type"),
        text_column("default"),
        text_column("about", "meaning"),
    )
    rows = (
        Row((option.name, option.type, "(required)" if option.default is None else option.default, option.about))
        for option in details.options
    )
    return Table("options", "\nOptions: -o KEY=VALUE", columns, tuple(rows))


def findings_table(name: str, findings: Iterable[Finding]) -> Table:
    """What a check found."""
    columns = (text_column("holds", "", is_bold=True), text_column("what"), text_column("detail"))
    rows = (
        Row(("holds" if one.holds else "BROKEN", one.what, one.detail), tone="" if one.holds else "alarm")
        for one in findings
    )
    return Table("findings", f"check of {name}", columns, tuple(rows))
