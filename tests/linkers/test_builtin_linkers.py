"""The built-in linkers on the built-in dataset: the ends of every scale, and what lies between."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from world import shadow, top

from shadowprobe import Dataset, Failure, Linker, LinkerError, Prediction, Snippet, UsageError, open_dataset
from shadowprobe.base.jsonl import read_lines
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check
from shadowprobe.running.directory import Results

OFFLINE = ["prior", "random", "oracle", "nil", "tfidf", "bm25", "blend"]
WEIGHTS = ["0", "0.25", "0.5", "0.75", "1"]


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


def run(name: str, dataset: Dataset, out: Path, **options: str) -> Results:
    return make_linking_job(name, dataset, options=options, out=out).run().results


def f1(results: Results) -> dict[str, float]:
    return {subset: row["f1"] for subset, row in results["subsets"].items()}


def test_the_oracle_is_right_on_every_subset_and_never_overshadowed(mini: Dataset, tmp_path: Path) -> None:
    results = run("oracle", mini, tmp_path)
    assert f1(results) == {"top": 1.0, "shadow": 1.0, "tail": 1.0}
    assert results["probes"]["overshadowing"]["overshadowed"] == 0.0
    assert results["probes"]["overshadowing"]["consistent"] == 1.0


def test_nil_is_right_on_none(mini: Dataset, tmp_path: Path) -> None:
    results = run("nil", mini, tmp_path)
    assert f1(results) == {"top": 0.0, "shadow": 0.0, "tail": 0.0}
    assert results["probes"]["overshadowing"]["verdict"] == "unknown"
    assert "not_measured" in results["probes"]["prior"]


def test_the_prior_is_all_prior(mini: Dataset, tmp_path: Path) -> None:
    results = run("prior", mini, tmp_path)
    assert f1(results) == {"top": 1.0, "shadow": 0.0, "tail": 1.0}
    over = results["probes"]["overshadowing"]
    assert (over["overshadowed"], over["prior_bias"], over["answered_with_top"]) == (1.0, 1.0, 1.0)
    assert over["verdict"] == "repeats"
    assert results["probes"]["prior"]["stability"] == 1.0


def test_random_answers_depend_on_neither_context_nor_prior(tmp_path: Path) -> None:
    # Over the 1,120 names of `places` chance is not mistaken for reading or repeating.
    over = run("random", open_dataset("places"), tmp_path)["probes"]["overshadowing"]
    low, high = over["reads_minus_repeats_ci95"]
    assert low < 0 < high
    assert over["verdict"] == "undecided"


def test_random_scores_are_spread_evenly_between_0_and_1(mini: Dataset, tmp_path: Path) -> None:
    run("random", mini, tmp_path)
    stored = [prediction for _, prediction in read_lines(tmp_path / "predictions.jsonl", Prediction)]
    scores = [candidate.score for prediction in stored for candidate in prediction.candidates]
    assert len(scores) > 1000
    assert all(score is not None and 0 <= score < 1 for score in scores)
    # The standard error of the mean of a thousand such numbers is 0.29 / 32, which is less than 0.01.
    assert abs(sum(score or 0 for score in scores) / len(scores) - 0.5) < 0.04


def test_another_seed_draws_other_lots(mini: Dataset, tmp_path: Path) -> None:
    one, two = (run("random", mini, tmp_path / seed, seed=seed) for seed in ("1", "2"))
    assert one["subsets"] != two["subsets"]


def test_the_more_weight_the_prior_has_the_more_it_shows(mini: Dataset, tmp_path: Path) -> None:
    swept = [run("blend", mini, tmp_path / weight, weight=weight) for weight in WEIGHTS]
    bias = [results["probes"]["overshadowing"]["prior_bias"] for results in swept]
    right = [results["subsets"]["shadow"]["recall"] for results in swept]
    assert bias == sorted(bias)
    # Noise is what one snippet in fifty can do.
    assert all(later <= earlier + 0.02 for earlier, later in pairwise(right))
    assert bias[-1] == 1.0
    assert bias[0] < 0.4
    assert right[0] > 0.4
    assert right[-1] == 0.0


def test_blend_without_prior_ranks_as_tfidf_does(mini: Dataset, tmp_path: Path) -> None:
    blend, tfidf = run("blend", mini, tmp_path / "b", weight="0"), run("tfidf", mini, tmp_path / "t")
    assert blend["subsets"] == tfidf["subsets"]
    ranked = {}
    for name in ("b", "t"):
        lines = (tmp_path / name / "predictions.jsonl").read_text().splitlines()
        ranked[name] = [[c["entity"] for c in json.loads(line).get("candidates", [])] for line in lines]
    assert ranked["b"] == ranked["t"]


def test_blend_refuses_a_weight_outside_its_scale() -> None:
    with pytest.raises(UsageError, match=r"weight is 1.5, and must be from 0 \(context\) to 1 \(prior\)"):
        make_linker("blend", {"weight": "1.5"})


@pytest.mark.parametrize("name", ["tfidf", "bm25"])
def test_a_context_linker_reads_a_context_that_says_something(name: str, world: Dataset) -> None:
    linker = opened(name, world)
    water = Snippet("w", "all", "Fresh water runs down to the sea where Avon ends.", 39, 43)
    masts = Snippet("m", "all", "With a crew of ten and tall masts, Avon was a fine vessel.", 35, 39)
    assert [prediction.answer for prediction in link(linker, [water, masts])] == [top("Avon"), shadow("Avon")]


def link(linker: Linker, snippets: Iterable[Snippet]) -> list[Prediction]:
    """The predictions of a linker that fails on nothing."""
    found = linker.link(list(snippets))
    assert not any(isinstance(prediction, Failure) for prediction in found)
    return [prediction for prediction in found if isinstance(prediction, Prediction)]


def opened(name: str, dataset: Dataset, **options: str) -> Linker:
    linker = make_linker(name, options)
    linker.open(dataset.knowledge)
    return linker


@pytest.mark.parametrize("name", ["prior", "random", "tfidf", "bm25", "blend"])
def test_candidates_come_ranked_with_scores_and_the_first_is_the_answer(name: str, world: Dataset) -> None:
    for prediction in link(opened(name, world), list(world.snippets("top", "shadow"))):
        scores = [candidate.score for candidate in prediction.candidates]
        assert len(scores) == 2
        assert all(score is not None for score in scores)
        assert scores == sorted(scores, reverse=True, key=lambda score: score or 0.0)
        assert prediction.answer == prediction.candidates[0].answer
        assert prediction.score == scores[0]


@pytest.mark.parametrize("name", ["prior", "random", "tfidf", "bm25", "blend"])
def test_a_name_that_the_dataset_does_not_know_is_skipped(name: str, world: Dataset) -> None:
    stranger = Snippet("x", "all", "Nobody knows Zork here.", 13, 17)
    assert link(opened(name, world), [stranger])[0].status == "skipped"


@pytest.mark.parametrize("name", ["tfidf", "bm25", "blend"])
def test_a_note_counts_missing_descriptions(name: str, world: Dataset) -> None:
    assert opened(name, world).notes == ["1 of 9 entities have no description and are matched by their title"]


def test_the_prior_of_known_commonness_is_its_share(world: Dataset) -> None:
    # Commonness 50 and 5, each with one added: 51 / 57 and 6 / 57.
    (prediction,) = link(opened("prior", world), [next(world.snippets("top"))])
    assert [candidate.score for candidate in prediction.candidates] == pytest.approx([51 / 57, 6 / 57])


def test_the_prior_of_unknown_commonness_is_one_over_the_rank(mini: Dataset) -> None:
    snippet = next(snippet for snippet in mini.snippets("top") if len(mini.spaces[snippet.space or ""].entities) == 2)
    (prediction,) = link(opened("prior", mini), [snippet])
    assert [candidate.score for candidate in prediction.candidates] == pytest.approx([2 / 3, 1 / 3])


def test_an_equal_score_is_no_prior(world: Dataset) -> None:
    # Nothing in these contexts speaks for either entity: over many of them both must come first now and then.
    linker = opened("tfidf", world)
    snippets = [Snippet(str(n), "all", f"{n} {n}: Avon", len(f"{n} {n}: "), len(f"{n} {n}: Avon")) for n in range(60)]
    answers = [prediction.answer for prediction in link(linker, snippets)]
    assert {top("Avon"), shadow("Avon")} == set(answers)


@pytest.mark.parametrize("name", OFFLINE)
@pytest.mark.parametrize("size", [1, 7])
def test_any_batch_size_gives_the_same_predictions(name: str, size: int, mini: Dataset, tmp_path: Path) -> None:
    for folder, batch_size in (("default", None), ("sized", size)):
        make_linking_job(name, mini, out=tmp_path / folder, batch_size=batch_size, limit=20).run()
    stored = [(tmp_path / folder / "predictions.jsonl").read_bytes() for folder in ("default", "sized")]
    assert stored[0] == stored[1]


@pytest.mark.parametrize("name", OFFLINE)
def test_every_built_in_linker_passes_its_own_check(name: str, mini: Dataset) -> None:
    findings = list(check(make_linker(name), mini))
    assert [finding.what for finding in findings if not finding.holds] == []
    assert len(findings) > 8


def test_dense_without_its_model_says_what_to_give(world: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra [dense] is not installed", exc_type=ImportError)
    with pytest.raises(LinkerError, match="give a directory that holds one with -o model=DIR"):
        opened("dense", world, model=str(tmp_path / "nothing"))


def test_dense_without_its_extra_says_what_to_type(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(LinkerError, match=r"pip install 'shadowprobe\[dense\]'"):
        opened("dense", world)
