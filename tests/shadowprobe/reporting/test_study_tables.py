"""The tables of the human studies, of results that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe import UsageError
from shadowprobe.human_study.agreement import Kappa, Rate
from shadowprobe.human_study.amber_score import PARTS, SpanAgreement, SystemScores, UserStudy
from shadowprobe.human_study.ambigdocs_sample import CATEGORIES
from shadowprobe.human_study.ambigdocs_score import CategoryAgreement
from shadowprobe.human_study.shadowlink_score import Agreement, AnnotatorRates
from shadowprobe.reporting.tables.agreement_table import agreement_table, describe_kappa
from shadowprobe.reporting.tables.categories_tables import categories_tables
from shadowprobe.reporting.tables.study_tables import describe_study, make_study_tables
from shadowprobe.reporting.tables.user_study_tables import user_study_tables

HALF = Rate(8, 4, 0.5, (0.25, 0.75))
NONE = Rate(0, 0, None, None)


def texts(table: Any) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


def agreement(complete: int = 8) -> Agreement:
    annotators = (
        AnnotatorRates("Ann", 9, 1, {"shadow": HALF, "top": NONE}),
        AnnotatorRates("Bob", 8, 0, {"shadow": Rate(8, 8, 1.0, (0.75, 1.0)), "top": HALF}),
    )
    kappa = (Kappa(("Ann", "Bob"), 8, 0.75, 0.5),)
    average: Any = {"shadow": 0.75, "top": None}
    return Agreement("s1", "study", "mini", 10, complete, kappa, Rate(8, 6, 0.75, (0.5, 0.875)), annotators, average)


def test_annotators_have_their_rates_and_the_average_stands_apart() -> None:
    table = agreement_table(agreement())
    assert [column.words for column in table.columns] == [
        "annotator",
        "answered",
        "not sufficient",
        "Shadow",
        "95% interval",
        "Top",
        "95% interval",
    ]
    assert texts(table) == [
        ["Ann", "9", "1", "0.500", "0.250 to 0.750", "–", ""],
        ["Bob", "8", "0", "1.000", "0.750 to 1.000", "0.500", "0.250 to 0.750"],
        ["Average", "", "", "0.750", "", "–", ""],
    ]
    assert table.starts_section() == [False, False, True]
    assert [column.is_bold for column in table.columns] == [False, False, False, True, False, True, False]


def test_items_that_lack_an_answer_are_said_below_the_agreement() -> None:
    assert agreement_table(agreement()).notes == (
        "Ann and Bob: Cohen's kappa 0.500, same answer in 75.0% of 8",
        "contexts that nobody calls not sufficient: 6 of 8, 75.0% (50.0 to 87.5)",
        "2 of 10 items lack an answer; they are left out of the table and of the share",
    )
    assert len(agreement_table(agreement(complete=10)).notes) == 2


def test_a_kappa_that_is_not_defined_says_why() -> None:
    assert describe_kappa(Kappa(("Ann", "Bob"), 0, None, None)) == "Ann and Bob: no item that both answered"
    assert describe_kappa(Kappa(("Ann", "Bob"), 4, 1.0, None)) == (
        "Ann and Bob: same answer in 100.0% of 4; Cohen's kappa is not defined, since every answer is the same"
    )


def categories(people: tuple[Kappa, ...], answered: int = 3) -> CategoryAgreement:
    automatic = (Kappa(("Ann", "automatic"), 4, 0.25, 0.125, (0.0, 0.5)),)
    average: Any = {
        "people": {"observed": 0.5, "kappa": 0.375},
        "automatic": {"observed": 0.25, "kappa": 0.125},
    }
    counts: Any = {
        own: {kind: 10 * place + other for other, kind in enumerate(CATEGORIES)} for place, own in enumerate(CATEGORIES)
    }
    return CategoryAgreement("s1", "study", "sets", "lm", 4, answered, people, automatic, average, counts)


def test_pairs_of_people_have_an_average_where_there_are_several() -> None:
    pair = Kappa(("Ann", "Bob"), 4, 0.5, 0.25, (0.25, 0.75))
    unknown = Kappa(("Ann", "Eve"), 0, None, None)
    table, _ = categories_tables(categories((pair, unknown)))
    assert texts(table) == [
        ["Ann and Bob", "4", "50.0% (25.0 to 75.0)", "0.250"],
        ["Ann and Eve", "0", "–", "–"],
        ["average, people", "", "50.0%", "0.375"],
        ["Ann and automatic", "4", "25.0% (0.0 to 50.0)", "0.125"],
    ]
    assert table.starts_section() == [False, False, False, True]
    assert table.notes[1:] == ("1 of 4 outputs have no answer of anybody; they are left out",)
    table, _ = categories_tables(categories((pair,), answered=4), published=True)
    assert [row[0] for row in texts(table)] == ["Ann and Bob", "Ann and automatic"]
    assert table.notes[1].endswith("without the measure of agreement: people 0.85, people and automatic 0.83.")


def test_kinds_of_people_are_rows_and_those_of_the_probe_columns() -> None:
    _, table = categories_tables(categories(()))
    assert [column.words for column in table.columns[1:]] == ["complete", "partial", "no answer", "ambiguous", "merged"]
    assert {column.group for column in table.columns[1:]} == {"automatic"}
    assert texts(table)[2] == ["no answer", "20", "21", "22", "23", "24"]


def rates(rate: Rate) -> Any:
    return dict.fromkeys(PARTS, rate)


def study(*scores: SystemScores, answered: int = 5, spans: tuple[SpanAgreement, ...] = ()) -> UserStudy:
    return UserStudy("s1", "study", "trio", 5, answered, scores, (), spans)


def test_people_lack_no_document_and_systems_may() -> None:
    found = study(
        SystemScores("Ann", "annotator", rates(HALF), rates(NONE), 2),
        SystemScores("bm25", "retriever", rates(HALF), None, 1),
        SystemScores("reader", "reader", None, rates(HALF), 3),
    )
    documents, answers = user_study_tables(found)
    assert texts(documents) == [
        ["Ann", "8", "", *["50.0 (25–75)"] * 5],
        ["bm25", "8", "1", *["50.0 (25–75)"] * 5],
    ]
    assert texts(answers) == [["Ann", "0", "2", *["–"] * 5], ["reader", "8", "3", *["50.0 (25–75)"] * 5]]
    assert [column.words for column in documents.columns[2:]] == [
        "no choice",
        "all",
        "people",
        "things",
        "head",
        "tail",
    ]
    assert [row.section for row in documents.rows] == ["people", "systems"]
    assert [note.split()[0] for note in documents.notes] == ["A", "A"]
    assert answers.notes[-1] == "A reader is given the right document."


def test_notes_say_only_what_the_study_has() -> None:
    people = [SystemScores(name, "annotator", rates(HALF), rates(HALF), 0) for name in ("Ann", "Bob")]
    spans = (SpanAgreement(("Ann", "Bob"), 4, 0.5, 0.75), SpanAgreement(("Ann", "Eve"), 0, None, None))
    documents, answers = user_study_tables(study(*people, answered=3, spans=spans))
    assert documents.notes[1:] == (
        "All annotators: the interval is that of as many answers as there are questions.",
        "2 of 5 questions have no answer of anybody; they are left out",
    )
    assert answers.notes[1:] == (
        "Ann and Bob: the same words in 50.0% of the 4 answers that both marked in the same document, F1 over words"
        " 75.0%",
        "Ann and Eve: no answer that both marked in the same document",
    )
    documents, answers = user_study_tables(study(people[0]))
    assert (len(documents.notes), len(answers.notes)) == (1, 1)


def test_each_study_says_what_it_asked_about_and_which_has_published_figures() -> None:
    amber, kinds = study(SystemScores("Ann", "annotator", rates(HALF), rates(HALF), 0)), categories(())
    assert describe_study(agreement()) == "study: 10 snippets of mini"
    assert describe_study(amber) == "study: 5 questions of AmbER sets, documents of trio"
    assert describe_study(kinds) == "study: 4 outputs of lm, questions of sets"
    assert [len(make_study_tables(found)) for found in (agreement(), amber, kinds)] == [1, 2, 2]
    with pytest.raises(UsageError, match="--published: goes with a sample of --study amber or ambigdocs"):
        make_study_tables(agreement(), published=True)
    documents, _ = make_study_tables(amber, published=True)
    assert [row.published for row in documents.rows] == [False, True, True, True, True, True]
    assert not any(row.published for row in make_study_tables(amber)[0].rows)
    assert "poster" in make_study_tables(kinds, published=True)[0].notes[-1]
    assert "poster" not in make_study_tables(kinds)[0].notes[-1]
