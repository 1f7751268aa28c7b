"""The figures of the papers on retrieval, typed a second time as the papers print them."""

from __future__ import annotations

import pytest

from shadowprobe.queries.amber_sets import TASKS
from shadowprobe.queries.question_files import relations
from shadowprobe.reporting.published import retrieval as published

# Table 5 of AmbER, as printed: all, head, tail, ∀ of fact checking, slot filling, question answering.
TOP_1 = """
human    TF-IDF   17.3 28.5 8.2 0.0    18.8 31.9 8.1 0.0    16.7 28.2 7.3 0.1
human    DPR      18.1 23.9 13.3 0.1   8.0 11.6 5.1 0.3     13.1 19.6 7.9 1.1
human    BLINK    55.9 64.4 49.0 5.6   38.2 57.0 22.9 11.5  31.7 40.5 24.6 6.6
human    Bootleg  34.8 43.0 28.2 0.7   56.5 63.9 50.6 25.3  67.2 77.1 59.1 36.1
nonhuman TF-IDF   9.4 13.6 4.9 0.0     13.4 21.0 5.2 0.2    13.9 21.7 5.4 0.3
nonhuman DPR      36.9 48.0 24.8 4.4   29.9 40.9 18.0 6.0   36.2 49.2 22.2 9.3
nonhuman BLINK    11.7 13.9 9.4 0.0    5.7 7.3 3.9 0.7      35.2 44.7 24.9 10.1
nonhuman Bootleg  3.5 4.6 2.4 0.0      52.3 61.3 42.5 22.4  59.8 69.5 49.3 29.0
"""
# Table 9; a dash where the copy at hand is not legible.
TOP_20 = """
human    TF-IDF   65.8 78.5 - -        72.0 - 62.5 55.6     72.6 82.0 - -
human    Bootleg  96.5 97.6 - -        96.6 - 95.7 93.6     96.5 97.6 - -
nonhuman DPR      62.3 75.8 47.7 27.8  57.3 71.4 42.0 29.4  63.4 77.9 47.8 -
nonhuman BLINK    33.5 38.7 27.9 1.3   18.2 21.5 14.6 5.8   74.7 80.6 68.3 -
"""
# Table 6: head and tail of the three tasks.
CONFUSION = """
human    TF-IDF   19.5 67.5  28.2 75.7  27.9 76.1
human    DPR      1.2 10.0   2.3 23.8   2.6 27.0
human    BLINK    9.8 32.2   14.0 58.2  4.4 27.6
human    Bootleg  6.2 24.7   9.3 30.5   3.7 28.7
nonhuman TF-IDF   10.1 49.9  22.0 76.9  23.0 76.8
nonhuman DPR      6.2 32.2   9.1 48.3   8.7 44.0
nonhuman BLINK    5.8 22.8   5.1 32.2   5.5 31.9
nonhuman Bootleg  7.7 26.1   16.1 36.2  7.8 31.6
"""
# Table 5 of EntityQuestions: DPR trained on NQ, DPR trained on four datasets, BM25.
QUESTIONS = """
P36 77.3 78.9 90.6
P407 77.1 82.5 86.2
P26 35.6 48.1 89.7
P19 25.4 41.8 75.3
P17 64.2 67.7 61.5
P495 21.6 28.0 21.8
"""


def printed(block: str, labels: int) -> list[tuple[list[str], list[float | None]]]:
    rows = [line.split() for line in block.strip().splitlines()]
    return [(row[:labels], [None if cell == "-" else float(cell) for cell in row[labels:]]) for row in rows]


@pytest.mark.parametrize(("k", "block"), [(1, TOP_1), (20, TOP_20)])
def test_ambers_accuracies_are_as_the_paper_prints_them(k: int, block: str) -> None:
    for (collection, system), figures in printed(block, 2):
        tasks = published.AMBER_BY_K[k][collection][system]
        assert list(tasks) == list(TASKS)
        assert [figure for task in TASKS for figure in tasks[task]] == figures, (collection, system)


def test_ambers_confusions_are_as_the_paper_prints_them() -> None:
    for (collection, system), figures in printed(CONFUSION, 2):
        tasks = published.AMBER_CONFUSION[collection][system]
        assert [figure for task in TASKS for figure in tasks[task]] == figures, (collection, system)


def test_every_table_of_amber_has_four_systems_for_people_and_for_things() -> None:
    for table in (published.AMBER_TOP_1, published.AMBER_TOP_20, published.AMBER_CONFUSION):
        assert list(table) == ["human", "nonhuman"]
        assert {tuple(systems) for systems in table.values()} == {("TF-IDF", "DPR", "BLINK", "Bootleg")}


def test_every_accuracy_on_all_queries_lies_between_that_on_head_and_on_tail() -> None:
    checked = 0
    for table in (published.AMBER_TOP_1, published.AMBER_TOP_20):
        for systems in table.values():
            for tasks in systems.values():
                for everything, head, tail, _ in tasks.values():
                    if everything is not None and head is not None and tail is not None:
                        checked += 1
                        assert min(head, tail) <= everything <= max(head, tail)
    # All of Table 5, and the half of Table 9 that is legible.
    assert checked == 24 + 12


def test_the_rows_of_entity_questions_are_as_the_paper_prints_them() -> None:
    for (relation,), figures in printed(QUESTIONS, 1):
        assert list(published.ENTITY_QUESTIONS[relation]) == figures


def test_there_is_a_row_for_each_of_the_24_relations() -> None:
    assert set(published.ENTITY_QUESTIONS) == set(relations())


@pytest.mark.parametrize("system", range(3), ids=published.SYSTEMS)
def test_the_macro_average_is_that_of_the_rows(system: int) -> None:
    rows = [figures[system] for figures in published.ENTITY_QUESTIONS.values()]
    # Each row is rounded to a tenth, and so is their mean.
    assert sum(rows) / 24 == pytest.approx(published.MACRO[system], abs=0.1)
    assert published.MICRO[system] == pytest.approx(published.MACRO[system], abs=1.0)


def test_table_1_has_natural_questions_beside_it() -> None:
    assert published.SYSTEMS == ("DPR (NQ)", "DPR (multi)", "BM25")
    assert published.NATURAL_QUESTIONS == (80.1, 79.4, 64.4)
    assert published.MACRO == (49.7, 56.7, 72.0)
    assert published.MICRO == (49.5, 56.6, 71.3)
