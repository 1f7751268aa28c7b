"""The headline figures of hand-made results of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.running.headlines import list_headlines, name_verdict


def rate(value: float) -> dict[str, Any]:
    return {"n": 10, "rate": value, "ci95": [value - 0.1, value + 0.1]}


def task(head: float, tail: float, verdict: str | None) -> dict[str, Any]:
    accuracy = {"1": {"head": rate(head), "tail": rate(tail)}, "20": {"head": rate(1), "tail": rate(1)}}
    return {"accuracy": accuracy, "gap": {"difference": head - tail}, "verdict": verdict}


def retriever(**collections: dict[str, Any]) -> dict[str, Any]:
    questions = {"micro": {"accuracy": {"1": 0.7, "20": 0.9}, "accuracy_ci95": {"1": [0.6, 0.8], "20": [0.8, 1.0]}}}
    probes = {"amber": collections, "entity_questions": questions}
    return {"retriever": {}, "settings": {"k": [20, 1]}, "probes": probes}


def test_a_retriever_has_head_and_tail_of_its_questions_at_the_smallest_k() -> None:
    found = list_headlines(retriever(human={"fc": task(0.1, 0.2, "tail"), "qa": task(0.9, 0.3, "head")}))
    assert [(one.key, one.value, one.measure) for one in found] == [
        ("human_head", 0.9, "human/qa/head@1"),
        ("human_tail", 0.3, "human/qa/tail@1"),
        ("questions", 0.7, "questions@1"),
    ]
    assert tuple(found[0].interval) == (0.8, 1.0)


def test_sets_without_questions_are_shown_by_their_first_task() -> None:
    found = list_headlines(retriever(sets={"queries": task(0.5, 0.4, "undecided")}))
    assert [one.measure for one in found][:2] == ["sets/queries/head@1", "sets/queries/tail@1"]


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["head", "head", "undecided"], "favours 2 head of 3"),
        (["head", "tail"], "favours 1 head, 1 tail of 2"),
        (["undecided", "undecided"], "undecided"),
        # A version that gave none.
        (["head", None], ""),
    ],
)
def test_the_verdict_on_a_retriever_counts_its_tasks(verdicts: list[str | None], words: str) -> None:
    tasks = {str(number): task(0.5, 0.4, verdict) for number, verdict in enumerate(verdicts)}
    assert name_verdict(retriever(human=tasks)) == words


def test_a_linker_without_shadow_is_shown_by_what_it_has() -> None:
    row = {"f1": 0.5, "f1_ci95": [0.4, 0.6]}
    results = {"linker": {}, "subsets": {"all": row}, "probes": {}}
    assert [(one.key, one.value) for one in list_headlines(results)] == [("all_f1", 0.5)]
    assert name_verdict(results) == ""
    # Beside Shadow, Tail says nothing about the prior.
    results["subsets"] = {"shadow": row, "tail": row}
    assert [one.key for one in list_headlines(results)] == ["shadow_f1"]
    results["subsets"] = {"tail": row}
    assert [one.key for one in list_headlines(results)] == ["tail_f1"]


def test_a_linker_has_its_scores_and_then_how_often_the_name_decides() -> None:
    row = {"f1": 0.5, "f1_ci95": [0.4, 0.6]}
    over = {
        "overshadowed": 0.3,
        "overshadowed_ci95": [0.2, 0.4],
        "prior_bias": None,
        "prior_bias_ci95": None,
        "consistent": 0.1,
        "consistent_ci95": [0.0, 0.2],
        "verdict": "reads",
    }
    results: dict[str, Any] = {
        "linker": {},
        "subsets": {"top": row, "shadow": row},
        "probes": {"overshadowing": over},
    }
    assert [(one.key, one.value, one.measure, one.is_fault) for one in list_headlines(results)] == [
        ("shadow_f1", 0.5, "shadow", False),
        ("top_f1", 0.5, "top", False),
        ("overshadowed", 0.3, "overshadowed", True),
        ("consistent", 0.1, "both_right", False),
    ]
    assert name_verdict(results) == "reads"
    # A bias of nothing is a figure too.
    over |= {"prior_bias": 0.0, "prior_bias_ci95": [0.0, 0.1]}
    assert [one.key for one in list_headlines(results) if one.is_fault] == ["overshadowed", "prior_bias"]


def test_a_reader_has_head_and_tail_and_only_rates_can_be_tested() -> None:
    words = {"score": {"head": rate(0.6), "tail": None}, "metric": "f1", "gap": None}
    claims = {
        "score": {"head": rate(0.5), "tail": rate(0.4)},
        "metric": "accuracy",
        "gap": {"difference": 0.1},
        "verdict": "head",
    }
    questions = {"micro": {"exact_match": rate(0.2)}}
    found = {"human": {"fc": claims, "qa": words}, "nonhuman": {"fc": claims}}
    results = {"reader": {}, "probes": {"amber_reading": found, "entity_questions_reading": questions}}
    assert [(one.key, one.name, one.value, one.measure) for one in list_headlines(results)] == [
        ("human_head", "people,\nhead F1", 0.6, ""),
        ("nonhuman_head", "things,\nhead right", 0.5, "nonhuman/fc/head"),
        ("nonhuman_tail", "things,\ntail right", 0.4, "nonhuman/fc/tail"),
        ("questions", "questions\nexact", 0.2, "questions"),
    ]
    # A task without a gap says nothing.
    assert name_verdict(results) == "favours 2 head of 2"


def test_groups_without_queries_are_left_out() -> None:
    empty = task(0.5, 0.4, "head")
    empty["accuracy"]["1"]["tail"]["n"] = 0
    assert [one.key for one in list_headlines(retriever(human={"qa": empty}))] == ["human_head", "questions"]
    assert list_headlines({"retriever": {}, "settings": {"k": [1]}, "probes": {}}) == []


def test_a_language_model_has_its_recalls_and_the_shares_of_two_categories() -> None:
    share = {"share": 0.2, "share_ci95": [0.1, 0.3]}
    found = {"entity_answer_recall": 0.4, "entity_answer_recall_ci95": [0.3, 0.5]}
    results = {"model": {}, "probes": {"ambigdocs": {**found, "categories": {"complete": share, "merged": share}}}}
    shown = list_headlines(results)
    assert [(one.key, one.value, one.is_fault) for one in shown] == [
        ("entity_answer_recall", 0.4, False),
        ("complete", 0.2, False),
        ("merged", 0.2, True),
    ]
    assert name_verdict(results) == ""
