"""Which of several systems is better, in sentences, of comparisons that are written by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from shadowprobe.reporting.html.differences import write_differences
from shadowprobe.reporting.html.first_screen import write_systems
from shadowprobe.running.comparison import Comparison, Pair
from shadowprobe.running.finished import FinishedRun

SUBSETS = ("shadow", "top", "all")


def run_of(label: str, **over: Any) -> FinishedRun:
    """A linker with scores on three subsets, and perhaps findings on overshadowing."""
    row = {"f1": 0.5, "f1_ci95": [0.4, 0.6]}
    results = {
        "linker": {"name": label, "options": {}},
        "subsets": dict.fromkeys(SUBSETS, row),
        "probes": {"overshadowing": over} if over else {},
    }
    return FinishedRun(Path(label), label, results)


def pair(first: str, second: str, measure: str = "top", difference: float = 0.25, p: float = 0.01) -> Pair:
    win, loss = (8, 3) if difference > 0 else (3, 8)
    return Pair(
        measure=measure,
        unit="snippets",
        first=first,
        second=second,
        n=20,
        both=5,
        first_only=win,
        second_only=loss,
        neither=4,
        first_rate=0.5,
        second_rate=0.5 - difference,
        difference=difference,
        difference_ci95=(difference - 0.125, difference + 0.125),
        drawn="snippets",
        drawn_n=20,
        win=win,
        tie=9,
        loss=loss,
        mcnemar_p=p / 2,
        holm_p=p,
        detectable=None,
    )


def sentences(runs: list[FinishedRun], *pairs: Pair) -> tuple[list[str], str]:
    """The sentences without markup, and the whole."""
    comparison = Comparison({}, [{"label": run.label} for run in runs], {}, list(pairs), [])
    written = write_differences(runs, comparison)
    return [re.sub("<[^>]*>", "", item) for item in re.findall(r"<li>(.*?)</li>", written)], written


def test_the_better_one_comes_first_with_a_difference_that_is_never_negative() -> None:
    runs = [run_of("a"), run_of("b")]
    found, _ = sentences(runs, pair("a", "b", "shadow"), pair("a", "b", "top", -0.5))
    assert found == [
        "a is better than b on Shadow by 25.0 points (12.5 to 37.5, p = 0.010).",
        "b is better than a on Top by 50.0 points (37.5 to 62.5, p = 0.010).",
    ]


@pytest.mark.parametrize(("p", "is_clear"), [(0.049, True), (0.05, False)])
def test_a_difference_counts_below_the_level_of_5_percent_after_holm(p: float, is_clear: bool) -> None:
    (sentence,), _ = sentences([run_of("a"), run_of("b")], pair("a", "b", p=p))
    assert sentence.startswith("a is better than b" if is_clear else "Between a and b no difference was found on Top")


def test_measures_that_no_headline_has_are_left_out_and_without_any_there_is_nothing() -> None:
    assert sentences([run_of("a"), run_of("b")], pair("a", "b", "tail")) == ([], "")


def test_pairs_are_in_the_order_of_the_systems_and_several_have_holms_note() -> None:
    runs = [run_of("c"), run_of("a"), run_of("b")]
    found, written = sentences(runs, pair("a", "b"), pair("c", "b"), pair("c", "a"))
    assert [sentence.partition(" on ")[0] for sentence in found] == [
        "c is better than a",
        "c is better than b",
        "a is better than b",
    ]
    assert "McNemar's exact test, corrected by Holm over all pairs of systems." in written
    assert "corrected by Holm" not in sentences(runs[1:], pair("a", "b"))[1]


@pytest.mark.parametrize(("count", "is_folded"), [(6, False), (7, True)])
def test_more_than_six_sentences_are_folded(count: int, is_folded: bool) -> None:
    runs = [run_of("x"), *(run_of(str(number)) for number in range(count))]
    found, written = sentences(runs, *(pair("x", str(number)) for number in range(count)))
    assert len(found) == count
    assert written.startswith("<details>") == is_folded


def test_the_first_screen_has_a_bar_as_long_as_each_figure_with_its_interval() -> None:
    over = {
        "verdict": "reads",
        "overshadowed": 0.5,
        "overshadowed_ci95": [0.25, 0.75],
        "prior_bias": 0.125,
        "prior_bias_ci95": [0.0, 0.25],
        "consistent": 0.75,
        "consistent_ci95": [0.5, 0.875],
    }
    written = write_systems([run_of("a", **over), run_of("b")])
    assert re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', written) == [
        *("system", "verdict", "both right", "prior bias (less is better)", "Shadow F1", "Top F1", "All F1")
    ]
    first, second = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", written)
    # Of a linker with a verdict two figures answer the question; of another one the scores are shown.
    assert re.findall(r'class="(good|fault)" width="([0-9.]+)"', first) == [("good", "75.0"), ("fault", "12.5")]
    assert re.findall(r'class="(good|fault)" width="([0-9.]+)"', second) == [("good", "50.0")] * 3
    assert ('data-kind="good">reads<' in first, 'data-kind="none">–<' in second) == (True, True)
    assert (first.count(">–</td>"), second.count(">–</td>")) == (3, 2)
    assert "75.0% (50.0 to 87.5)" in first
    assert write_systems([]) == ""
