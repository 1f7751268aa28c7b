"""The figures of the papers on retrieval, typed a second time as the papers print them."""

from __future__ import annotations

import pytest

from shadowprobe.queries.amber_sets import TASKS
from shadowprobe.queries.question_files import relations
from shadowprobe.reporting.published import retrieval as published
from shadowprobe.reporting.tables.published_training import published_tables

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
human    DPR      39.8 51.0 - -        26.6 - 18.1 6.8      36.1 49.3 - -
human    BLINK    78.6 82.0 - -        73.3 - 72.8 64.6     58.8 60.3 - -
human    Bootleg  96.5 97.6 - -        96.6 - 95.7 93.6     96.5 97.6 - -
nonhuman TF-IDF   50.8 57.0 44.1 12.0  46.8 53.4 39.7 35.3  52.0 59.1 44.4 -
nonhuman DPR      62.3 75.8 47.7 27.8  57.3 71.4 42.0 29.4  63.4 77.9 47.8 -
nonhuman BLINK    33.5 38.7 27.9 1.3   18.2 21.5 14.6 5.8   74.7 80.6 68.3 -
nonhuman Bootleg  79.3 80.2 78.4 61.5  89.6 91.9 87.1 85.3  83.8 83.6 84.1 -
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
# Table 7: all, head and tail of a task, with the right document and with the first 20 of a retriever.
READING = """
human    fc BERT (oracle)  77.7 73.6 80.3
human    fc BERT + BLINK   59.8 60.1 57.7
human    sf BART (oracle)  83.9 85.0 83.5
human    sf BART + BLINK   34.4 38.2 32.6
human    qa BERT (oracle)  71.4 77.7 83.0
human    qa BERT + BLINK   27.5 33.8 22.3
nonhuman fc BERT (oracle)  66.6 63.9 69.5
nonhuman fc BERT + DPR     60.9 61.4 60.4
nonhuman sf BART (oracle)  82.1 80.1 84.3
nonhuman sf BART + DPR     18.6 18.6 18.6
nonhuman qa BERT (oracle)  83.5 85.1 81.8
nonhuman qa BERT + DPR     26.0 31.3 20.4
"""
# Table 8: the accuracy of documents and the exact match, on people and on things.
USER_STUDY = """
TF-IDF   43.3 -     50.3 -
DPR      69.1 -     68.3 -
BLINK    69.1 -     74.1 -
Bootleg  79.6 -     73.1 -
BERT     -    71.8  -    75.5
Human    100  78.8  97.9 77.5
"""
# Table 5 of EntityQuestions: DPR trained on NQ, DPR trained on four datasets, BM25.
QUESTIONS = """
P36  77.3 78.9 90.6
P407 77.1 82.5 86.2
P26  35.6 48.1 89.7
P159 70.0 72.0 85.0
P276 74.9 77.3 84.9
P40  19.2 33.8 85.0
P176 61.7 73.7 81.0
P20  34.4 45.1 80.4
P112 77.1 75.7 81.2
P127 60.7 63.8 78.4
P19  25.4 41.8 75.3
P740 59.9 61.6 74.4
P413 75.7 71.5 74.3
P800 19.0 33.9 74.7
P69  26.4 41.8 73.1
P50  75.7 77.8 73.0
P170 54.1 57.7 72.6
P106 25.9 52.9 71.2
P131 45.7 44.2 63.1
P17  64.2 67.7 61.5
P175 47.6 51.5 56.6
P136 37.4 36.8 48.7
P264 25.3 43.2 45.6
P495 21.6 28.0 21.8
"""
# Its Tables 2, 3 and 4.
FINE_TUNING = """
DPR-NQ         25.4 70.0 54.1
FT             73.9 84.0 80.0
FT w/ similar  74.7 79.9 76.2
FT OnlyP       72.8 84.2 78.0
FT OnlyQ       45.4 72.8 73.4
BM25           75.3 85.0 72.6
"""
AUGMENTATION = """
DPR-NQ          80.1 25.4 49.7
+ FT            62.8 74.3 56.2
+ FT NQ and it  70.8 52.0 47.4
DPR-NQ          80.1 70.0 49.7
+ FT            71.6 80.3 53.3
+ FT NQ and it  75.1 81.3 49.5
DPR-NQ          80.1 54.1 49.7
+ FT            70.8 80.8 52.3
+ FT NQ and it  72.6 72.3 44.1
BM25            64.4 -    72.0
"""
QUESTION_ENCODERS = """
DPR-NQ                                45.1
DPR-NQ + per-relation FT (OnlyQ)      61.6
DPR-NQ + EntityQuestions FT (OnlyQ)   53.0
DPR-PAQ                               59.3
DPR-PAQ + per-relation FT (OnlyQ)     68.4
DPR-PAQ + EntityQuestions FT (OnlyQ)  65.4
BM25                                  72.0
"""


def printed(block: str, labels: int) -> list[tuple[list[str], list[float | None]]]:
    rows = [line.split() for line in block.strip().splitlines()]
    return [(row[:labels], [None if cell == "-" else float(cell) for cell in row[labels:]]) for row in rows]


def printed_texts(block: str, figures: int) -> list[list[str]]:
    rows = [line.rsplit(maxsplit=figures) for line in block.strip().splitlines()]
    return [[row[0].strip(), *(cell.replace("-", "–") for cell in row[1:])] for row in rows]


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


def test_ambers_readers_are_as_the_paper_prints_them() -> None:
    expected: dict[str, dict[str, dict[str, tuple[float, ...]]]] = {}
    for name, *figures in printed_texts(READING, 3):
        collection, task, system = name.split(maxsplit=2)
        expected.setdefault(collection, {}).setdefault(system, {})[task] = tuple(map(float, figures))
    assert expected == published.AMBER_READING


def test_ambers_user_study_is_as_the_paper_prints_it() -> None:
    rows = {system: figures for (system,), figures in printed(USER_STUDY, 1)}
    documents = {name: (row[0], row[2]) for name, row in rows.items() if row[0] is not None}
    assert documents == published.AMBER_THREE_DOCUMENTS
    answers = {name: (row[1], row[3]) for name, row in rows.items() if row[1] is not None}
    assert answers == published.AMBER_EXACT_MATCH


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


def test_the_tables_of_trained_encoders_are_written_as_the_paper_prints_them() -> None:
    fine_tuning, augmentation, encoders = published_tables()
    assert [column.name for column in fine_tuning.columns[1:]] == ["P19", "P159", "P170"]
    assert [fine_tuning.texts(row, mark="") for row in fine_tuning.rows] == printed_texts(FINE_TUNING, 3)
    assert [column.name for column in augmentation.columns[2:]] == ["NQ", "Rel", "EntityQ."]
    assert [augmentation.texts(row, mark="")[1:] for row in augmentation.rows] == printed_texts(AUGMENTATION, 3)
    assert [row.section for row in augmentation.rows] == ["P19"] * 3 + ["P159"] * 3 + ["P170"] * 3 + [""]
    assert [encoders.texts(row, mark="") for row in encoders.rows] == printed_texts(QUESTION_ENCODERS, 1)
    assert all(row.published for table in (fine_tuning, augmentation, encoders) for row in table.rows)


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


def test_the_agreement_on_ambigdocs_is_as_its_poster_prints_it() -> None:
    # "human-human agreement of 0.85 & human-automatic metric agreement of 0.83"
    assert published.AMBIGDOCS_AGREEMENT == {"people": 0.85, "people and automatic": 0.83}
