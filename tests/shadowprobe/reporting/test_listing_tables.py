"""What is installed and what a check found, as tables."""

from __future__ import annotations

from typing import Any

from shadowprobe.catalogue.datasets import Listed
from shadowprobe.plugins import Listing
from shadowprobe.reporting.details import Details, Option
from shadowprobe.reporting.tables.listing_tables import (
    datasets_table,
    figures_table,
    findings_table,
    options_table,
    plugins_table,
)
from shadowprobe.running.check import Finding


def texts(table: Any) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


def test_a_plugin_that_cannot_be_loaded_says_why_in_the_place_of_what_it_does() -> None:
    plugins = [Listing("a", "reads", "nothing", "shadowprobe"), Listing("b", "", "", "other", "no class B")]
    table = plugins_table(plugins, "linker")
    assert (table.key, [column.name for column in table.columns]) == (
        "linkers",
        ["linker", "what it does", "needs", "from"],
    )
    assert texts(table) == [["a", "reads", "nothing", "shadowprobe"], ["b", "BROKEN: no class B", "", "other"]]
    assert [row.tone for row in table.rows] == ["", "alarm"]
    assert plugins_table(plugins, "probe", "what it asks").columns[1].name == "what it asks"


def test_a_dataset_that_is_not_here_has_no_counts() -> None:
    table = datasets_table([Listed("mini", "ours", "nothing", 0, 7), Listed("far", "theirs", "a download")])
    assert texts(table) == [["mini", "ours", "0", "7", "nothing"], ["far", "theirs", "", "", "a download"]]


def test_an_option_without_a_default_must_be_given() -> None:
    options = [Option("url", "text", None, "the service"), Option("weight", "number", "0.5", "of the prior")]
    table = options_table(Details("a", "about", "example", options=options))
    assert texts(table) == [["url", "text", "(required)", "the service"], ["weight", "number", "0.5", "of the prior"]]


def test_what_does_not_hold_is_an_alarm() -> None:
    table = findings_table("a", [Finding("it answers", True), Finding("offsets", False, "one is off")])
    assert table.title == "check of a"
    assert texts(table) == [["holds", "it answers", ""], ["BROKEN", "offsets", "one is off"]]
    assert [row.tone for row in table.rows] == ["", "alarm"]


def test_a_figure_has_a_name_and_what_it_shows() -> None:
    assert texts(figures_table([("kinds", "which kinds")])) == [["kinds", "which kinds"]]


def test_only_names_are_bold() -> None:
    tables = [plugins_table([], "reader"), datasets_table([]), figures_table([]), findings_table("a", [])]
    assert [[column.is_bold for column in table.columns] for table in tables] == [
        [True, False, False, False],
        [True, False, False, False, False],
        [True, False],
        [True, False, False],
    ]
