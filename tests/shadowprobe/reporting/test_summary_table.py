"""Many runs in one table, over a small dataset whose figures are worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shadowprobe import Card, Dataset, Entity, Prediction, Snippet, score, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting.tables.summary_table import summary_tables
from shadowprobe.running.finished import FinishedRun, read_runs

COUNT = 10


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Ten mentions of ten entities."""
    titles = [f"Entity {number}" for number in range(COUNT)]
    snippets = [
        Snippet(f"s{number}", "all", f"{title} is here.", 0, len(title), gold=title)
        for number, title in enumerate(titles)
    ]
    return write_dataset(tmp_path / "ten", Card(name="ten"), map(Entity, titles), [], {"all": snippets})


def run_of(dataset: Dataset, name: str, right: int) -> Path:
    """A run that gets the first mentions right and names another entity for the rest."""
    answers = [
        Prediction(f"s{number}", answer=f"Entity {number if number < right else (number + 1) % COUNT}")
        for number in range(COUNT)
    ]
    folder = dataset.path.parent / name
    folder.mkdir()
    (folder / "predictions.jsonl").write_bytes(encode_lines(answers))
    score(folder, dataset, name=name, out=folder)
    return folder


def read(dataset: Dataset, **right: int) -> list[FinishedRun]:
    paths = [run_of(dataset, name, count) for name, count in right.items()]
    return read_runs(paths, str(dataset.path), list(right), is_mixed=True)


def marks(table: Any) -> list[tuple[str, ...]]:
    return [row.best for row in table.rows]


def test_a_system_that_is_clearly_better_is_marked_so(dataset: Dataset) -> None:
    (table,) = summary_tables(read(dataset, good=10, bad=2))
    assert table.title == "Summary of 2 runs of linkers (%)"
    assert [column.name for column in table.columns] == ["dataset", "system", "All\nF1", "verdict"]
    # All ten right against two: eight differ, always to one side, so that p is 2 / 2^8.
    assert marks(table) == [("", "", "clear", ""), ("", "", "", "")]
    assert [table.texts(row)[:2] for row in table.rows] == [["ten", "good"], ["ten", "bad"]]
    assert [table.texts(row)[2].partition("\n")[0] for row in table.rows] == ["100.0", "20.0"]
    assert table.texts(table.rows[0])[2].startswith("100.0\n(")
    assert table.notes[0].startswith("Overshadowed and prior bias: lower is better.")
    assert table.notes[1].startswith("Bold (** in plain text)")


def test_a_difference_that_may_be_chance_is_close_and_equal_systems_are_both_best(dataset: Dataset) -> None:
    # Five differ, to one side: p is 2 / 2^5, which is above 0.05.
    (table,) = summary_tables(read(dataset, good=10, fair=5))
    assert marks(table) == [("", "", "close", ""), ("", "", "", "")]
    (table,) = summary_tables(read(dataset, one=7, two=7))
    assert marks(table) == [("", "", "close", "")] * 2


def test_one_run_is_the_best_of_nothing(dataset: Dataset) -> None:
    (table,) = summary_tables(read(dataset, alone=10))
    assert table.title == "Summary of 1 run of linkers (%)"
    assert marks(table) == [("", "", "", "")]
    assert len(table.notes) == 1


def test_without_the_data_there_is_no_test_and_the_table_says_why(dataset: Dataset) -> None:
    paths = [run_of(dataset, name, count) for name, count in (("good", 10), ("bad", 2))]
    runs = read_runs(paths, names=["good", "bad"], is_mixed=True)
    for path in paths:
        (path / "predictions.jsonl").unlink()
    (table,) = summary_tables(runs)
    assert marks(table) == [("", "", "close", ""), ("", "", "", "")]
    assert table.notes[-1].startswith("ten: no test, because ")


def model(label: str, recall: float, merged: float) -> FinishedRun:
    """A run of a language model, whose answers are not at hand."""
    found = {
        "answer_recall": recall,
        "answer_recall_ci95": [0.0, 1.0],
        "categories": {"merged": {"share": merged, "share_ci95": [0.0, 0.5]}},
    }
    results = {
        "model": {"name": label, "options": {}},
        "queries": {"name": "sets", "digest": "1", "limit": None, "documents": None},
        "probes": {"ambigdocs": found},
    }
    return FinishedRun(Path("runs", label), label, results)


def test_of_a_fault_the_least_is_best_and_each_kind_has_its_table(dataset: Dataset) -> None:
    linkers, models = summary_tables([*read(dataset, alone=10), model("a", 0.5, 0.25), model("b", 0.75, 0.125)])
    assert (linkers.key, models.key) == ("summary_linker", "summary_model")
    assert models.title == "Summary of 2 runs of language models (%)"
    assert [models.texts(row) for row in models.rows] == [
        ["sets", "a", "50.0\n(0–100)", "25.0\n(0–50)", ""],
        ["sets", "b", "75.0\n(0–100)", "12.5\n(0–50)", ""],
    ]
    assert marks(models) == [("", "", "", "", ""), ("", "", "close", "close", "")]
    # The kinds of answers need no verdict.
    assert models.columns[-1].name == ""


def test_a_figure_that_one_run_lacks_is_a_dash_and_cannot_be_best() -> None:
    first, second = model("a", 0.5, 0.25), model("b", 0.75, 0.125)
    del second.results["probes"]["ambigdocs"]["answer_recall"]
    (table,) = summary_tables([first, second])
    assert [table.texts(row)[2] for row in table.rows] == ["50.0\n(0–100)", "–"]
    assert [row.best[2] for row in table.rows] == ["close", ""]
