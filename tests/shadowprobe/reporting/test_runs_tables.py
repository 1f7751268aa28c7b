"""The runs of a folder as tables, of runs that are written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shadowprobe.reporting.tables.runs_tables import describe_state, runs_tables
from shadowprobe.running.headlines import Headline
from shadowprobe.running.listing import ListedRun


def listed(path: str = "runs/a", kind: str = "linker", **more: Any) -> ListedRun:
    fields: dict[str, Any] = {"system": "blend", "data": "mini", "state": "finished"}
    return ListedRun(path, kind, **{**fields, **more})


def headline(key: str, value: float) -> Headline:
    return Headline(key, key.replace("_", " "), value, (0.0, 1.0))


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (listed(), "finished"),
        (listed(missing=1200), "finished, 1,200 missing"),
        # Of a share only whole percents, never more than is done.
        (listed(state="running", done=199, total=200), "running, 99%"),
        (listed(state="unfinished", done=1, total=3), "unfinished, 33%"),
        (listed(state="unfinished", done=1200), "unfinished, 1,200 answers"),
    ],
)
def test_the_state_says_how_far_a_run_is(run: ListedRun, words: str) -> None:
    assert describe_state(run) == words


def test_a_kind_is_a_table_with_the_figures_that_say_most() -> None:
    figures = [headline("shadow_f1", 0.5), headline("top_f1", 0.25), headline("consistent", 0.125)]
    runs = [
        listed(headlines=figures, verdict="reads", started="2024-05-06T07:08:09"),
        listed("elsewhere/b", limit=40, state="running", done=1, total=2),
        listed("runs/deep/c", "retriever", data="namesakes", headlines=[headline("human_tail", 0.75)]),
    ]
    linkers, retrievers = runs_tables(runs, Path("runs"))
    assert linkers.title == "2 runs of linkers in runs (%)"
    assert [column.key for column in linkers.columns][5:] == ["shadow_f1", "consistent", "verdict"]
    assert [linkers.texts(row) for row in linkers.rows] == [
        ["a", "blend", "mini", "05-06 07:08", "finished", "50.0", "12.5", "reads"],
        ["elsewhere/b", "blend", "mini, first 40", "", "running, 50%", "–", "–", ""],
    ]
    # A run that is not finished is pale.
    assert [row.tone for row in linkers.rows] == ["", "quiet"]
    assert retrievers.title == "1 run of retrievers in runs (%)"
    assert retrievers.texts(retrievers.rows[0])[0] == "deep/c"
    assert retrievers.texts(retrievers.rows[0])[5] == "75.0"


def test_runs_that_cannot_be_read_have_a_table_of_their_own_with_what_is_wrong() -> None:
    broken = listed("runs/bad", "", state="broken", problem="results.json: is empty")
    (table,) = runs_tables([broken], Path("runs"))
    assert (table.key, table.title) == ("broken", "Runs that cannot be read")
    assert [(table.texts(row), row.tone) for row in table.rows] == [(["bad", "results.json: is empty"], "alarm")]
    assert runs_tables([], Path("runs")) == []


def test_the_folder_itself_may_be_a_run() -> None:
    (table,) = runs_tables([listed("runs")], Path("runs"))
    assert table.texts(table.rows[0])[0] == "runs"
