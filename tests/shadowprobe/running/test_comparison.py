"""Pairs of systems whose every figure is worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import world as hand_made
from finished_runs import finished_run
from world import linked, shadow, top

from shadowprobe import Answers, Card, Dataset, Entity, Prediction, Snippet, UsageError, write_dataset
from shadowprobe.reporting.tables.pairs_table import pairs_table
from shadowprobe.running.comparison import Pair, compare, holm, is_clearly_best
from shadowprobe.running.finished import FinishedRun, check_comparable
from shadowprobe.running.item_measures import Measure
from shadowprobe.running.linking import measure_answers

NAMES = tuple(f"Town{number:02d}" for number in range(20))


@pytest.fixture
def twenty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """The hand-made dataset with twenty names."""
    monkeypatch.setattr(hand_made, "NAMES", NAMES)
    return hand_made.write_world(tmp_path / "twenty")


def answer(snippet: Snippet, right: set[str], other_prior: set[str]) -> Prediction:
    """The river, but the ship in the Shadow contexts of `right` and in the neutral contexts of `other_prior`."""
    name = snippet.space
    if name is None:
        return linked(snippet.id, "Ourika")
    ship = name in {"shadow": right, "neutral": other_prior}.get(snippet.subset, set())
    return linked(snippet.id, shadow(name) if ship else top(name))


def finished(dataset: Dataset, label: str, predictions: Iterable[Prediction]) -> FinishedRun:
    """A run that gave these answers."""
    answers = Answers(dataset).fill(predictions)
    linker = {"name": label, "version": "", "options": {}}
    return finished_run(label, measure_answers(answers, [], linker=linker), answers)


def system(dataset: Dataset, label: str, right: Iterable[int], other_prior: Iterable[int] = ()) -> FinishedRun:
    """A system that is right on every Top and on these Shadow snippets, and whose prior for these names is the ship."""
    named = [{NAMES[number] for number in numbers} for numbers in (right, other_prior)]
    return finished(dataset, label, (answer(snippet, *named) for snippet in dataset.snippets()))


def a_b_and_c(dataset: Dataset) -> list[FinishedRun]:
    """Shadow: A and B right on 5, A alone on 9, B alone on 1, neither on 5; C is right on none."""
    return [
        system(dataset, "A", range(14)),
        system(dataset, "B", [0, 1, 2, 3, 4, 14], other_prior=range(10, 20)),
        system(dataset, "C", []),
    ]


def pairs_on(name: str, pairs: Iterable[Pair]) -> Iterator[Pair]:
    return (pair for pair in pairs if pair.measure == name)


def cells(pair: Pair) -> tuple[int, int, int, int]:
    return pair.both, pair.first_only, pair.second_only, pair.neither


def test_a_subset_is_paired_by_snippet(twenty: Dataset) -> None:
    (pair,) = pairs_on("shadow", compare(a_b_and_c(twenty)[:2]).pairs)
    assert (pair.first, pair.second, pair.unit, pair.n) == ("A", "B", "snippets", 20)
    assert cells(pair) == (5, 9, 1, 5)
    assert (pair.win, pair.tie, pair.loss) == (9, 10, 1)
    assert (pair.first_rate, pair.second_rate, pair.difference) == (14 / 20, 6 / 20, 8 / 20)
    # 2 * (C(10,0) + C(10,1)) / 2^10
    assert pair.mcnemar_p == pytest.approx(22 / 1024)
    assert pair.holm_p == pair.mcnemar_p


def test_two_systems_that_never_differ_have_no_difference(twenty: Dataset) -> None:
    (pair,) = pairs_on("top", compare(a_b_and_c(twenty)[:2]).pairs)
    assert cells(pair) == (20, 0, 0, 0)
    assert (pair.difference, pair.mcnemar_p, pair.detectable) == (0.0, 1.0, None)


def test_to_overshadow_less_is_to_win(twenty: Dataset) -> None:
    # A answers the river twice for names 14 to 19, B for 5 to 13 and 15 to 19.
    (pair,) = pairs_on("overshadowed", compare(a_b_and_c(twenty)[:2]).pairs)
    assert (pair.unit, cells(pair)) == ("names", (5, 1, 9, 5))
    assert (pair.win, pair.tie, pair.loss) == (9, 10, 1)
    assert pair.difference == -8 / 20


def test_prior_bias_is_of_the_prior_of_each_system(twenty: Dataset) -> None:
    # A's prior is the river everywhere: 14 to 19. B's is the ship from 10 on: 5 to 9 remain.
    (pair,) = pairs_on("prior_bias", compare(a_b_and_c(twenty)[:2]).pairs)
    assert cells(pair) == (0, 6, 5, 9)
    # 5 of 11 is the middle: both halves together are everything.
    assert pair.mcnemar_p == pytest.approx(1.0)


def test_several_systems_are_corrected_by_holm_over_all_pairs(twenty: Dataset) -> None:
    found = list(pairs_on("shadow", compare(a_b_and_c(twenty)).pairs))
    assert [(pair.first, pair.second) for pair in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert [pair.mcnemar_p for pair in found] == pytest.approx([22 / 1024, 2 / 2**14, 2 / 2**6])
    # Times 3 for the smallest, times 2 for the next, and the largest is not below that.
    assert [pair.holm_p for pair in found] == pytest.approx([44 / 1024, 6 / 2**14, 44 / 1024])


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_interval_is_a_bootstrap_of_the_pairs(twenty: Dataset) -> None:
    runs = a_b_and_c(twenty)[:2]
    low, high = next(pairs_on("shadow", compare(runs, rounds=4000).pairs)).difference_ci95
    # The variance of one pair is 10/20 - 0.4² = 0.34: 0.4 - 1.96 * sqrt(0.34 / 20) = 0.144, in steps of 1/20.
    assert 0.1 - 1e-9 <= low <= 0.2 + 1e-9
    assert 0.6 - 1e-9 <= high <= 0.7 + 1e-9


def test_the_mentions_of_one_document_are_drawn_together(tmp_path: Path) -> None:
    # Forty documents with five mentions each. On a quarter of the documents only A is right, on the others both are.
    snippets = [
        Snippet(f"d{document}#{place}", "all", "a a a a a", 2 * place, 2 * place + 1, gold="X", document=f"d{document}")
        for document in range(40)
        for place in range(5)
    ]
    data = write_dataset(tmp_path / "data", Card(name="data"), [Entity("X"), Entity("Y")], [], {"all": snippets})
    runs = [
        finished(
            data, label, (linked(snippet.id, "Y" if number < wrong else "X") for number, snippet in enumerate(snippets))
        )
        for label, wrong in (("A", 0), ("B", 50))
    ]
    (pair,) = compare(runs, rounds=20000).pairs
    assert (pair.unit, pair.n, pair.difference, pair.drawn, pair.drawn_n) == ("snippets", 200, 0.25, "documents", 40)
    # One document has the variance 0.25 * 0.75. Drawn by mention, the interval would be narrower by sqrt(5).
    half = 1.96 * (0.25 * 0.75 / 40) ** 0.5
    assert pair.difference_ci95 == pytest.approx((0.25 - half, 0.25 + half), abs=0.03)
    notes = " ".join(pairs_table(compare(runs)).notes)
    assert "The bootstrap draws whole documents, because the snippets of one depend on each other." in notes


def test_what_is_drawn_is_said_only_where_it_is_not_the_item_itself(twenty: Dataset) -> None:
    comparison = compare(a_b_and_c(twenty)[:2])
    assert all((pair.drawn, pair.drawn_n) == (pair.unit, pair.n) for pair in comparison.pairs)
    assert "The bootstrap draws" not in " ".join(pairs_table(comparison).notes)


def test_the_seed_decides_the_interval(twenty: Dataset) -> None:
    runs = a_b_and_c(twenty)
    assert compare(runs, rounds=100, seed=1) == compare(runs, rounds=100, seed=1)
    ends = {
        tuple(pair.difference_ci95 for pair in compare(runs, rounds=100, seed=seed).pairs) for seed in (1, 2, 3, 4, 5)
    }
    assert len(ends) > 1


def test_runs_over_different_datasets_are_refused_with_both_digests(world: Dataset, twenty: Dataset) -> None:
    runs = [system(twenty, "A", []), finished(world, "B", hand_made.hand_predictions())]
    # Both are called `world`: the digest alone tells them apart.
    with pytest.raises(
        UsageError, match=f"A over `world` .*{twenty.digest[:12]}.*B over `world` .*{world.digest[:12]}"
    ):
        compare(runs)


def test_runs_over_different_parts_of_a_dataset_are_refused(twenty: Dataset) -> None:
    runs = [system(twenty, "A", []), system(twenty.first(3), "B", [])]
    with pytest.raises(UsageError, match="A over all of it, B over the first 3 names; run both with the same --limit"):
        compare(runs)


def test_runs_of_one_name_are_refused(twenty: Dataset) -> None:
    with pytest.raises(UsageError, match="two runs are called 'A': give each a --name"):
        check_comparable([system(twenty, "A", []), system(twenty, "A", [1])])


def test_a_limited_part_is_compared_alone(twenty: Dataset) -> None:
    part = twenty.first(10)
    (pair,) = pairs_on("shadow", compare([system(part, "A", range(14)), system(part, "B", range(3))]).pairs)
    assert cells(pair) == (3, 7, 0, 0)


def test_what_is_not_answered_is_not_right_and_said(twenty: Dataset) -> None:
    whole = system(twenty, "A", range(20))
    some = [linked(f"s{name}", shadow(name)) for name in NAMES[:15]]
    found = compare([whole, finished(twenty, "B", some)])
    (pair,) = pairs_on("shadow", found.pairs)
    assert cells(pair) == (15, 5, 0, 0)
    # 20 Top, 5 Shadow, 60 neutral and the tail.
    assert "B: 86 snippets have no answer; they count as not right" in found.notes


def test_a_system_without_a_prior_is_not_compared_on_it_and_that_is_said(twenty: Dataset) -> None:
    silent = finished(twenty, "B", (Prediction(snippet.id, status="nil") for snippet in twenty.snippets()))
    found = compare([system(twenty, "A", []), silent])
    assert not list(pairs_on("prior_bias", found.pairs))
    assert list(pairs_on("overshadowed", found.pairs))
    assert found.notes == ["B: no entity is named in a neutral context, so that it has no prior to repeat"]


def test_a_redirect_table_that_the_pairs_do_not_know_is_said(twenty: Dataset) -> None:
    scored = system(twenty, "B", [])
    scored.results["settings"]["redirects"] = Answers(twenty, {"Old": "New"}).redirects_digest
    found = compare([system(twenty, "A", []), scored])
    assert found.notes == ["B: Tables 3 and 4 were counted with a redirect table, the pairs are counted without it"]


def test_a_system_is_clearly_best_if_it_differs_from_every_other_one() -> None:
    def measure(right: int) -> dict[str, Measure]:
        return {"shadow": Measure("shadow", "snippets", np.arange(20) < right)}

    # Right on 10 more than B: p = 2 / 2^10, and on 3 more than C: p = 2 / 2^3.
    a_and_b = {"A": measure(15), "B": measure(5)}
    assert is_clearly_best(a_and_b, "shadow", "A")
    assert not is_clearly_best({**a_and_b, "C": measure(12)}, "shadow", "A")
    # Six more is 2 / 2^6 = 0.031, which is enough against one rival and not against two.
    assert is_clearly_best({"A": measure(15), "B": measure(9)}, "shadow", "A")
    assert not is_clearly_best({"A": measure(15), "B": measure(9), "C": measure(9)}, "shadow", "A")
    # Nobody to differ from, and nothing to differ in.
    assert not is_clearly_best({"A": measure(15)}, "shadow", "A")
    assert not is_clearly_best({"A": measure(15), "B": {}}, "shadow", "A")
    assert not is_clearly_best({"A": {}, "B": measure(5)}, "shadow", "A")
    assert not is_clearly_best(a_and_b, "top", "A")
    assert not is_clearly_best(a_and_b, "shadow", "Z")


def test_one_run_alone_has_no_pairs_and_no_notes(twenty: Dataset) -> None:
    found = compare([system(twenty, "A", [])])
    assert (found.pairs, found.notes) == ([], [])
    assert found.settings == {"bootstrap_rounds": 1000, "bootstrap_seed": 7, "level": 0.05, "power": 0.8}
