"""What the tables and sentences on a linker say, of findings that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe.reporting.linker_summary import (
    contexts_table,
    describe_size,
    describe_verdict,
    list_warnings,
    make_tables,
    names_table,
    priors_table,
    scores_table,
)


def results_of(**more: Any) -> dict[str, Any]:
    """The results of a linker without any finding."""
    empty: dict[str, Any] = {
        "linker": {"name": "x", "options": {}},
        "dataset": {"name": "d", "spaces": 4, "snippets": 21, "limit": None},
        "identity": {"title": 3, "unresolved": 0, "page_id_conflicts": 0},
        "missing": 0,
        "probes": {},
    }
    return {**empty, **more}


def probes(**found: Any) -> dict[str, Any]:
    return results_of(probes=found)


def scores(n: int, f1: float, **more: Any) -> dict[str, Any]:
    counts = {"n": n, "answered": n, "nil": 0, "skipped": 0, "failed": 0}
    figures = {"precision": f1, "recall": f1, "f1": f1, "f1_ci95": [f1 - 0.125, f1 + 0.125]}
    return {**counts, **figures, **more}


def texts(table: Any) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


def test_the_size_says_whether_the_dataset_is_whole() -> None:
    assert describe_size(results_of()) == "4 names, 21 snippets"
    limited = {"name": "d", "spaces": 2, "snippets": 9, "limit": 2}
    assert describe_size(results_of(dataset=limited)) == "2 names, 9 snippets, limited to the first 2 names"


OVER = {
    "verdict": "repeats",
    "spaces": 8,
    "overshadowed": 0.75,
    "overshadowed_ci95": [0.5, 1.0],
    "prior_bias": 0.5,
    "prior_bias_ci95": [0.25, 0.75],
    "consistent": 0.125,
    "consistent_ci95": [0.0, 0.375],
    "answered_with_top": 0.25,
    "answered_with_top_ci95": [0.125, 0.5],
    "top_minus_shadow": 0.5,
    "top_minus_shadow_ci95": [0.25, 0.625],
    "mcnemar_p": 0.03125,
}


def test_the_verdict_has_both_rates_and_their_intervals() -> None:
    assert describe_verdict(probes(overshadowing=OVER)) == (
        "repeats its prior more often than it reads the context: of 8 names, 50.0% (25.0 to 75.0) get its prior in"
        " both contexts, and 12.5% (0.0 to 37.5) get both right (95% intervals)."
    )
    guessed = describe_verdict(probes(overshadowing={**OVER, "at_chance": True}))
    assert str(guessed).startswith("does not read, no usable prior: of 8 names")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("silent", "names an entity in both contexts of too few names to tell whether it reads or repeats."),
        (
            "unknown",
            "names an entity in the neutral contexts of too few names: its prior is not known, and so neither whether"
            " it is repeated.",
        ),
    ],
)
def test_a_verdict_that_cannot_be_given_has_no_rates(verdict: str, words: str) -> None:
    assert describe_verdict(probes(overshadowing={**OVER, "verdict": verdict})) == words
    assert describe_verdict(probes(overshadowing={"not_measured": "no pairs"})) is None
    assert describe_verdict(probes()) is None


def test_what_changes_the_meaning_of_a_figure_is_a_warning() -> None:
    assert list(list_warnings(results_of())) == []
    found = results_of(
        identity={"title": 3, "redirect": 2, "unresolved": 4, "page_id_conflicts": 5},
        missing=6,
        probes={"prior": {"without_prior": 1, "spaces": 8}, "overshadowing": {"snippets_left_out": 7}},
    )
    first, conflicts, prior, paired, missing = list_warnings(found)
    # A conflict is counted by the rule that resolved it too, and so not twice.
    assert first.startswith("4 of 9 answers name an entity that the dataset does not know; they count as wrong")
    assert conflicts == "5 answers match by title although their page id is another"
    assert prior.startswith("1 of 8 names have no prior:")
    assert paired.endswith("; 7 further snippets are in Table 3 only")
    assert missing.startswith("6 snippets have no answer")


def test_scores_leave_out_columns_of_nothing_but_zeros() -> None:
    table = scores_table({"a": results_of(subsets={"top": scores(4, 0.5), "shadow": scores(2, 0.25)})})
    assert [column.key for column in table.columns] == [
        *("system", "subset", "n", "answered", "precision", "recall", "f1", "f1_interval")
    ]
    assert texts(table) == [
        ["a", "Shadow", "2", "2", "0.250", "0.250", "0.250", "0.125 to 0.375"],
        ["a", "Top", "4", "4", "0.500", "0.500", "0.500", "0.375 to 0.625"],
    ]
    assert table.notes == ("Shadow: a less common entity of the name is meant. Top: the most common one.",)


def test_scores_show_what_was_not_answered_and_the_best_cut() -> None:
    best = {"precision": 0.5, "recall": 0.25, "f1": 0.375, "cut": 0.12345}
    rows = {
        "a": results_of(subsets={"all": scores(8, 0.5, nil=1, gerbil_threshold=best)}),
        "b": results_of(subsets={"all": scores(8, 0.5, skipped=2, failed=3)}),
        "c": results_of(),
    }
    table = scores_table(rows)
    assert [row[2:7] for row in texts(table)] == [["8", "8", "1", "0", "0"], ["8", "8", "0", "2", "3"]]
    assert [row[-1] for row in texts(table)] == ["P 0.500 R 0.250 F 0.375 above 0.123", "–"]
    assert table.starts_section() == [False, False]


def test_priors_are_shares_of_top_then_of_shadow_in_percent() -> None:
    shares = {"prior_correct": 0.5, "prior_wrong": 0.125, "context_correct": 0.25, "context_wrong": 0.0, "nil": 0.125}
    other = {**shares, "prior_correct": 0.125, "prior_wrong": 0.5}
    table = priors_table({"a": probes(prior={"shadow": other, "top": shares})})
    assert texts(table) == [
        ["a", "Top", "50.0", "12.5", "25.0", "0.0", "12.5"],
        ["a", "Shadow", "12.5", "50.0", "25.0", "0.0", "12.5"],
    ]
    assert priors_table({"a": probes(prior={"not_measured": "none"})}).rows == ()


def context(n: int, accuracy: float, change: float = 0.0, low: float = 0.0, high: float = 0.0) -> dict[str, Any]:
    return {"n": n, "accuracy": accuracy, "change": change, "change_ci95": [low, high]}


def test_contexts_show_how_far_each_is_from_the_snippet_and_how_many_have_it() -> None:
    lengths = {
        "words_cut": 5,
        "words_page": 100,
        "lengths": {
            "cut": {"top": context(8, 0.25, -0.25, -0.5, 0.0)},
            "sentence": {},
            "snippet": {"top": context(8, 0.5), "shadow": context(4, 0.75)},
            # Nothing changed on the whole, but chance could have changed it.
            "page": {"top": context(6, 0.5, 0.0, -0.125, 0.125)},
        },
    }
    masked = {"top": {**context(8, 0.125, -0.375, -0.5, -0.25), "nil": 0.5}, "spaces": 4}
    table = contexts_table({"a": probes(context_length=lengths, masked_mention=masked)})
    assert [column.name for column in table.columns] == ["system", "what it reads", "Shadow", "Top"]
    assert texts(table) == [
        ["a", "5 words on each side", "", "0.250 (-25.0, -50.0 to +0.0)"],
        ["a", "the snippet, as in Table 3", "0.750", "0.500"],
        ["a", "100 more words of the page on each side", "", "0.500 of 6 (+0.0, -12.5 to +12.5)"],
        ["a", "the snippet without the name", "", "0.125 (-37.5, -50.0 to -25.0)"],
    ]
    assert table.notes == ("Without the name no entity is named in 50.0% of Top.",)
    both = contexts_table({"a": probes(masked_mention=masked), "b": probes(masked_mention=masked)})
    assert [note.partition(":")[0] for note in both.notes] == ["a", "b"]
    assert contexts_table({"a": probes()}).rows == ()


def test_names_have_a_row_for_each_figure_and_a_column_for_each_run() -> None:
    full = probes(
        overshadowing=OVER,
        prior={"stability": 0.625},
        candidates={
            "shadow": {"recall": 0.875, "accuracy_given_candidate": 0.5, "accuracy_given_candidate_ci95": [0.25, 0.75]}
        },
        confidence={"auroc_real_against_neutral": 0.75},
        templates={"spread": 0.125},
    )
    table = names_table({"a": full})
    assert table.columns[1].name == "value (95% interval)"
    assert texts(table) == [
        ["same answer in both contexts", "75.0% (50.0 to 100.0)", "overshadowed"],
        ["  and it is the prior", "50.0% (25.0 to 75.0)", "prior bias"],
        ["both contexts right", "12.5% (0.0 to 37.5)", "consistent"],
        ["Shadow answered with the Top entity", "25.0% (12.5 to 50.0)", "answered with top"],
        ["right on Top minus right on Shadow", "+50.0 (+25.0 to +62.5)", "points"],
        ["  p of that difference", "0.031", "McNemar's test"],
        ["neutral contexts agree on the prior", "62.5%", "stability"],
        ["Shadow gold was a candidate", "87.5%", "candidate recall"],
        ["  and then it is right", "50.0% (25.0 to 75.0)", ""],
        ["score tells real from neutral", "0.750", "AUROC (0.5: coin)"],
        ["neutral templates differ by", "12.5", "points"],
    ]
    both = names_table({"a": full, "b": probes(prior={"stability": 0.5})})
    assert [column.name for column in both.columns] == ["figure", "a", "b", "called"]
    assert texts(both)[6] == ["neutral contexts agree on the prior", "62.5%", "50.0%", "stability"]
    assert texts(both)[0][2] == "–"


def test_a_prior_bias_that_is_not_known_is_a_note_with_its_reason() -> None:
    over = {**OVER, "prior_bias": None}
    silent = probes(overshadowing=over, prior={"not_measured": "no entity in any neutral context"})
    assert names_table({"a": silent}).notes == ("prior bias not measured: no entity in any neutral context.",)
    several = names_table({"a": silent, "b": probes(overshadowing=over), "c": probes(overshadowing=OVER)})
    assert several.notes == (
        "a: prior bias not measured: no entity in any neutral context.",
        "b: prior bias not measured: no prior is known.",
    )


def test_only_tables_with_rows_are_shown() -> None:
    assert [table.key for table in make_tables({"a": probes(prior={"stability": 0.5})})] == ["names"]
    assert list(make_tables({"a": probes()})) == []
