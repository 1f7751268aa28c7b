"""What the tables and sentences on a language model say, of findings that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.reporting.model_summary import (
    describe_size,
    describe_verdict,
    list_examples,
    list_warnings,
    make_tables,
)

KINDS = ("complete", "partial", "no_answer", "ambiguous", "merged")


def part(n: int, recall: float, *shares: float) -> dict[str, Any]:
    """The findings on some sets: each recall is half of the one before; then the shares of the kinds of answers."""
    recalls = {"answer_recall": recall, "entity_recall": recall / 2, "entity_answer_recall": recall / 4}
    intervals = {f"{key}_ci95": [0.0, 2 * value] for key, value in recalls.items()}
    kinds = {
        kind: {"share": share, "share_ci95": [share / 2, share * 2]} for kind, share in zip(KINDS, shares, strict=True)
    }
    return {"n": n, **recalls, **intervals, "categories": kinds}


def findings(**more: Any) -> dict[str, Any]:
    whole = part(8, 0.5, 0.25, 0.125, 0.0, 0.5, 0.125)
    return {**whole, "by_documents": {}, **more}


def results_of(found: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    queries = {"sets": 8, "limit": None, "documents": None}
    return {"queries": queries, "missing": 0, "probes": {} if found is None else {"ambigdocs": found}, **more}


def texts(table: Any) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


def test_the_size_says_whether_all_sets_were_asked() -> None:
    assert describe_size(results_of()) == "8 sets"
    limited = {"sets": 3, "limit": 3, "documents": None}
    assert describe_size(results_of(queries=limited)) == "3 sets, limited to the first 3"


def test_the_verdict_has_the_kinds_of_answers_and_the_recall() -> None:
    assert describe_verdict(results_of(findings())) == (
        "gives every namesake its own answer to 25.0% (12.5 to 50.0) of 8 questions, one answer without saying whose it"
        " is to 50.0% (25.0 to 100.0), and several mixed up to 12.5% (6.2 to 25.0); entity-answer recall is 12.5%"
        " (0.0 to 25.0), with 95% intervals."
    )
    for silent in (results_of(), results_of({"not_measured": "no sets"})):
        assert describe_verdict(silent) == "was not asked whether every namesake gets its own answer."


def test_what_changes_the_meaning_of_a_figure_is_a_warning() -> None:
    assert list(list_warnings(results_of())) == []
    found = results_of(findings(wordless=2), missing=3, queries={"sets": 8, "limit": None, "documents": 5})
    assert list(list_warnings(found)) == [
        "only the first 5 documents of a set count",
        "2 documents have an answer of stop words alone, which no output can give",
        "3 sets have no answer (failed or not in the file); they count as no answer",
    ]


def test_examples_are_on_one_line_without_commands_to_a_terminal() -> None:
    example = {"id": "set\x1b1", "question": "Who is\n he?", "answer": "  Both\tare\x07 one. "}
    assert list(list_examples(results_of(findings(examples={"no_answer": example})))) == [
        ("no answer, as in set 1: Who is he?", "Both are  one.")
    ]
    assert list(list_examples(results_of())) == []


def test_recalls_and_categories_are_of_all_sets_where_all_have_as_many_documents() -> None:
    recalls, categories = make_tables({"a": results_of(findings(by_documents={"2": part(8, 0.5, *[0.2] * 5)}))})
    assert texts(recalls) == [["a", "all", "8", "50.0% (0.0 to 100.0)", "25.0% (0.0 to 50.0)", "12.5% (0.0 to 25.0)"]]
    assert [column.is_bold for column in recalls.columns] == [False] * 5 + [True]
    assert [row[0] for row in texts(categories)] == ["complete", "partial", "no answer", "ambiguous", "merged"]
    assert texts(categories)[3] == ["ambiguous", "one, without its entity", "50.0% (25.0 to 100.0)"]
    assert categories.columns[2].group == ""


def test_sets_of_several_sizes_have_rows_and_columns_of_their_own() -> None:
    sizes = {"2": part(6, 0.25, 0.5, 0.5, 0.0, 0.0, 0.0), "3": part(2, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0)}
    runs = {"a": results_of(findings(by_documents=sizes)), "b": results_of(findings()), "c": results_of()}
    recalls, categories = make_tables(runs)
    assert [row[:3] for row in texts(recalls)] == [
        ["a", "all", "8"],
        ["a", "2", "6"],
        ["a", "3", "2"],
        ["b", "all", "8"],
    ]
    assert recalls.starts_section() == [False, False, False, True]
    assert [(column.group, column.name) for column in categories.columns[2:]] == [
        ("a", "all"),
        ("a", "2\ndocuments"),
        ("a", "3\ndocuments"),
        ("b", "all"),
    ]
    # Parts of the sets have no interval.
    assert texts(categories)[0][2:] == ["25.0% (12.5 to 50.0)", "50.0%", "0.0%", "25.0% (12.5 to 50.0)"]


def positions(verdict: str) -> dict[str, Any]:
    given = {"1": {"rate": 0.75, "ci95": [0.5, 1.0], "n": 8}, "2": {"rate": 0.5, "ci95": [0.25, 0.75], "n": 6}}
    with_entity = {"1": {"rate": 0.5, "ci95": [0.25, 0.75], "n": 8}, "2": {"rate": 0.0, "ci95": [0.0, 0.5], "n": 6}}
    ends = {
        "difference": 0.25,
        "ci95": [-0.125, 0.5],
        "first_only": 4,
        "last_only": 1,
        "sets": 8,
        "mcnemar_p": 0.375,
        "verdict": verdict,
    }
    return {"given": given, "with_entity": with_entity, "first_minus_last": ends}


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("first", "the first is favoured"), ("last", "the last is favoured"), ("undecided", "undecided")],
)
def test_positions_have_a_row_each_and_a_sentence_on_the_ends(verdict: str, words: str) -> None:
    *_, table = make_tables({"a": results_of(findings(positions=positions(verdict)))})
    assert texts(table) == [
        ["a", "1", "8", "75.0% (50.0 to 100.0)", "50.0% (25.0 to 75.0)"],
        ["a", "2", "6", "50.0% (25.0 to 75.0)", "0.0% (0.0 to 50.0)"],
    ]
    assert table.notes[1] == (
        "a: first minus last document of a set +25.0 points (-12.5 to +50.0); the first alone in 4 of 8 sets, the last"
        f" alone in 1, McNemar's p 0.38: {words}."
    )


def test_without_findings_there_is_no_table() -> None:
    assert make_tables({"a": results_of(), "b": results_of({"not_measured": "no sets"})}) == []
