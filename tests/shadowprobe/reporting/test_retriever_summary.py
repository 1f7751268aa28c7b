"""What the tables and sentences on a retriever and on a reader say, of findings that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.reporting import reader_summary, retriever_summary
from shadowprobe.reporting.retriever_summary import describe_gaps, list_parts, shared_depths


def rate(value: float, n: int = 8) -> dict[str, Any]:
    """A share with an interval from half of it to the mean of it and 1."""
    return {"rate": value, "ci95": [value / 2, (value + 1) / 2], "n": n}


def groups(everything: float, head: float, tail: float) -> dict[str, Any]:
    return {"all": rate(everything), "head": rate(head), "tail": rate(tail)}


def gap(difference: float, low: float, high: float) -> dict[str, Any]:
    return {"difference": difference, "ci95": [low, high]}


def task(accuracy: dict[str, dict[str, Any]], all_correct: dict[str, float], **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "sets": 4,
        "entities": 9,
        "gap": gap(0.5, 0.25, 0.75),
        "verdict": "head",
        "confusion": {"head": rate(0.25), "tail": rate(0.5)},
        "neither": rate(0.125),
    }
    return {"accuracy": accuracy, "all_correct": {k: rate(one) for k, one in all_correct.items()}, **fields, **more}


def results_of(ks: tuple[int, ...] = (20, 1), missing: int = 0, **probes: Any) -> dict[str, Any]:
    collection = {"name": "little", "limit": None}
    documents = {"source": "oracle", "k": None}
    return {
        "settings": {"k": list(ks)},
        "missing": missing,
        "collection": collection,
        "documents": documents,
        "probes": probes,
    }


def texts(table: Any) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


HUMAN = {
    "qa": task({"1": groups(0.5, 0.75, 0.25), "20": groups(1.0, 1.0, 1.0)}, {"1": 0.0, "20": 1.0}),
    "fc": task({"1": groups(0.25, 0.5, 0.0), "20": groups(1.0, 1.0, 1.0)}, {"1": 0.0, "20": 0.75}, gap=None),
}


def test_accuracies_have_a_table_for_each_number_of_documents_and_the_gap_at_the_smallest() -> None:
    first, deep, confusion = retriever_summary.make_tables({"a": results_of(amber={"human": HUMAN})})
    assert (first.key, deep.key, confusion.key) == ("amber-human-1", "amber-human-20", "amber-human-confusion")
    assert first.title == "AmbER, people: is the right document among the first 1? (%)"
    # Fact checking comes first, as in the paper.
    assert texts(first) == [
        ["fact checking", "a", "25.0 (12–62)", "50.0 (25–75)", "0.0 (0–50)", "0.0 (0–50)", "–"],
        [
            "question answering",
            "a",
            "50.0 (25–75)",
            "75.0 (38–88)",
            "25.0 (12–62)",
            "0.0 (0–50)",
            "+50.0 (+25.0 to +75.0)",
        ],
    ]
    assert "gap" not in [column.key for column in deep.columns]
    # A row of nothing but 100% need not be shown; the other one has a set that is not all right.
    assert [row.is_full for row in deep.rows] == [False, True]
    assert texts(confusion)[0] == ["fact checking", "a", "25.0 (12–62)", "50.0 (25–75)", "12.5 (6–56)"]
    assert first.notes[0].startswith("4 sets of 9 entities;")


def test_runs_of_other_depths_share_what_both_count_and_have_no_gap_that_one_lacks() -> None:
    runs = {"a": results_of(amber={"human": HUMAN}), "b": results_of(ks=(20,), amber={"human": HUMAN})}
    deep, _ = retriever_summary.make_tables(runs)
    assert deep.key == "amber-human-20"
    assert "gap" not in [column.key for column in deep.columns]
    assert shared_depths([results_of((5, 100, 20)), results_of((100, 5))]) == ["5", "100"]


def test_parts_are_in_the_order_of_the_paper() -> None:
    found: list[dict[str, Any]] = [{"nonhuman": {"qa": {}, "fc": {}}}, {"human": {"sf": {}}, "other": {"qa": {}}}]
    assert list_parts(found) == [("human", "sf"), ("nonhuman", "fc"), ("nonhuman", "qa")]


QUESTIONS = {
    "questions": 5,
    "relations": {
        "P19": {"question": "Where was [E] born?", "n": 4, "accuracy": {"1": 0.25, "20": 0.75}},
        "P999": {"question": None, "n": 1, "accuracy": {"1": 0.0, "20": 1.0}},
    },
    "macro": {"1": 0.125, "20": 0.875},
    "micro": {"n": 5, "accuracy": {"1": 0.2, "20": 0.8}, "accuracy_ci95": {"1": [0.04, 0.62], "20": [0.38, 0.96]}},
    "buckets": [],
}


def test_questions_have_a_row_for_each_relation_and_two_means() -> None:
    (table,) = retriever_summary.make_tables({"a": results_of(entity_questions=QUESTIONS)})
    assert texts(table) == [
        ["P19", "place of birth", "Where was [E] born?", "4", "25.0", "75.0"],
        ["P999", "", "", "1", "0.0", "100.0"],
        ["macro", "", "mean over the relations", "", "12.5", "87.5"],
        ["micro", "", "over all questions", "5", "20.0", "80.0"],
    ]
    assert table.starts_section() == [False, False, True, False]
    assert table.notes == ("Micro, 95% intervals: 4–62 among the first 1, 38–96 among the first 20.",)


def members(n: int, value: float) -> dict[str, Any]:
    return {
        "n": n,
        "accuracy": {"1": value, "20": 2 * value},
        "accuracy_ci95": {"1": [0.0, 2 * value], "20": [value, 1.0]},
    }


def test_buckets_are_counted_from_1_with_their_frequencies() -> None:
    buckets = [
        {"bucket": 0, "lowest_frequency": 5, "highest_frequency": 1000, **members(3, 0.25)},
        {"bucket": 1, "lowest_frequency": None, "highest_frequency": None, **members(0, 0.0)},
    ]
    *_, table = retriever_summary.make_tables({"a": results_of(entity_questions={**QUESTIONS, "buckets": buckets})})
    assert [row[1:3] for row in texts(table)] == [["1", "5 to 1,000"], ["2", "–"]]
    assert texts(table)[0][3:] == ["3", "25.0 (0–50)", "50.0 (25–100)"]
    assert texts(table)[1][3:] == ["0", "–", "–"]


def test_a_run_whose_questions_have_no_frequencies_is_left_out_of_the_buckets() -> None:
    bucket = {"bucket": 0, "lowest_frequency": 5, "highest_frequency": 9, **members(3, 0.25)}
    runs = {
        "a": results_of(entity_questions={**QUESTIONS, "buckets": [bucket]}),
        "b": results_of(entity_questions={**QUESTIONS, "buckets": None}),
    }
    *_, table = retriever_summary.make_tables(runs)
    assert (table.key, [row[0] for row in texts(table)]) == ("buckets", ["a"])


def test_entities_seen_in_training_are_set_against_the_others() -> None:
    seen = {
        "seen": members(2, 0.5),
        "unseen": members(3, 0.25),
        "difference": {"1": gap(0.25, -0.25, 0.75), "20": None},
        "unknown": 1,
    }
    *_, table = retriever_summary.make_tables({"a": results_of(entity_questions={**QUESTIONS, "seen": seen})})
    assert texts(table) == [
        ["a", "seen", "2", "50.0 (0–100)", "100.0 (50–100)", "", ""],
        ["a", "unseen", "3", "25.0 (0–50)", "50.0 (25–100)", "", ""],
        ["a", "seen minus unseen", "", "", "", "+25.0 (-25.0 to +75.0)", "–"],
    ]
    assert table.notes == ("In brackets 95% intervals.", "1 questions have no known subject.")


def of_verdicts(*verdicts: str | None) -> dict[str, Any]:
    """Tasks about people and things with these verdicts, each with a gap that is larger than the one before."""
    parts = [("human", "fc"), ("human", "qa"), ("nonhuman", "fc")]
    found: dict[str, Any] = {}
    for number, ((collection, name), verdict) in enumerate(zip(parts, verdicts, strict=False)):
        row = {"gap": gap(number / 4, 0.0, 0.5), "verdict": verdict}
        found.setdefault(collection, {})[name] = row
    return found


LEAST = "head minus tail F1 runs from +0.0 points (+0.0 to +50.0; people, fact checking)"


@pytest.mark.parametrize(
    ("verdicts", "start"),
    [
        (("head", "head", "tail"), "reads worse in 2 and better in 1 of 3 tasks than the popular one"),
        (
            ("head", "undecided", "undecided"),
            "reads worse in 1 of 3 tasks than the popular one, no difference being certain in the other 2",
        ),
        (("tail", "tail", "tail"), "reads better in 3 of 3 tasks than the popular one"),
        (
            ("undecided", "undecided", "undecided"),
            "reads about as well as the popular one, no difference being certain in any of 3 tasks",
        ),
        (("head", None, "tail"), "was measured by an earlier version, which gives no verdict"),
    ],
)
def test_gaps_say_in_how_many_tasks_the_tail_fares_worse(verdicts: tuple[str | None, ...], start: str) -> None:
    words = describe_gaps(of_verdicts(*verdicts), "reads", "F1", ("well", "worse", "better"))
    assert words.startswith(start)
    assert words.endswith(f"{LEAST} to +50.0 points (+0.0 to +50.0; things, fact checking), with 95% intervals.")


def test_a_single_gap_is_no_range_and_without_any_there_is_nothing_to_compare() -> None:
    one = describe_gaps(of_verdicts("head"), "reads", "F1", ("well", "worse", "better"))
    assert "head minus tail F1 is +0.0 points (+0.0 to +50.0; people, fact checking), with" in one
    none = describe_gaps({"human": {"qa": {"gap": None}}}, "reads", "F1", ("well", "worse", "better"))
    assert none == "was asked about head entities alone or tail entities alone: there is nothing to compare."


def test_sentences_on_a_retriever() -> None:
    both = results_of(missing=2, amber={"human": HUMAN}, entity_questions=QUESTIONS)
    assert retriever_summary.describe_size(both) == (
        "AmbER: 4 sets of 9 entities (people); EntityQuestions: 5 questions"
    )
    assert list(retriever_summary.list_warnings(both)) == ["2 queries have no ranking; they count as wrong"]
    assert list(retriever_summary.list_warnings(results_of())) == []
    # The fewest documents that are counted.
    assert "head minus tail accuracy@1 is" in retriever_summary.describe_verdict(both)
    asked = retriever_summary.describe_verdict(results_of(entity_questions=QUESTIONS))
    assert asked == (
        "was not asked whether it finds the less popular namesake; it finds an answer in the first document for 20.0%"
        " (4.0 to 62.0) of 5 simple questions (95% interval)."
    )
    nothing = retriever_summary.describe_verdict(results_of())
    assert nothing == "was not asked whether it finds the less popular namesake."


READING = {
    "human": {
        "qa": {
            "sets": 4,
            "entities": 9,
            "gap": gap(0.25, -0.25, 0.75),
            "verdict": "undecided",
            "score": groups(0.5, 0.75, 0.25),
            "exact_match": groups(0.25, 0.5, 0.0),
            "found": groups(1.0, 1.0, 1.0),
        }
    }
}
READ_QUESTIONS = {
    "questions": 4,
    "relations": {"P19": {"question": "Where was [E] born?", "exact_match": rate(0.25, 4), "f1": rate(0.5, 4)}},
    "macro": 0.25,
    "micro": {"exact_match": rate(0.25, 4), "f1": rate(0.5, 4)},
    "lost": {"by_retriever": rate(0.25), "by_reader": rate(0.5)},
}


def test_readers_have_score_gap_exact_match_and_documents() -> None:
    runs = {"a": results_of(amber_reading=READING, entity_questions_reading=READ_QUESTIONS)}
    reading, questions = reader_summary.make_tables(runs)
    assert texts(reading) == [
        [
            "question answering",
            "a",
            "50.0 (25–75)",
            "75.0 (38–88)",
            "25.0 (12–62)",
            "+25.0 (-25.0 to +75.0)",
            "25.0 (12–62)",
            "100.0 (50–100)",
        ]
    ]
    assert texts(questions) == [
        ["P19", "place of birth", "Where was [E] born?", "4", "25.0", "50.0"],
        ["macro", "", "mean over the relations", "", "25.0", "–"],
        ["micro", "", "over all questions", "4", "25.0", "50.0"],
    ]
    assert questions.notes == (
        "a: 25.0% (12.5 to 62.5) of the questions are lost by the retriever (wrong, and no document has an answer),"
        " 50.0% (25.0 to 75.0) by the reader (wrong, and one has); 95% intervals.",
    )
    assert [table.key for table in reader_summary.make_tables({"a": results_of(amber_reading=READING)})] == [
        "reading-human"
    ]


def test_sentences_on_a_reader() -> None:
    both = results_of(missing=1, amber_reading=READING, entity_questions_reading=READ_QUESTIONS)
    assert reader_summary.describe_size(both) == (
        "AmbER: 4 sets of 9 entities (people); EntityQuestions: 4 questions; documents: oracle"
    )
    limited = {
        **results_of(),
        "collection": {"name": "little", "limit": 3},
        "documents": {"source": "runs/bm25", "k": 20},
    }
    assert reader_summary.describe_size(limited) == (
        "limited to the first 3 of each part; documents: the first 20 of runs/bm25"
    )
    assert list(reader_summary.list_warnings(both)) == ["1 queries have no answer; they count as wrong"]
    assert list(reader_summary.list_warnings(results_of())) == []
    assert reader_summary.describe_verdict(both).startswith(
        "answers queries about the less popular namesake about as well as the popular one"
    )
    questions = reader_summary.describe_verdict(results_of(entity_questions_reading=READ_QUESTIONS))
    assert questions == "was not asked about namesakes; it answers 25.0% (12.5 to 62.5) of 4 simple questions."
    assert reader_summary.describe_verdict(results_of()) == "was not asked about namesakes."
