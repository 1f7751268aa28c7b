"""A finished run corrected for its prior: the files that are written, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from scored_world import of_name, replace_predictions, scored_predictions, store_run
from world import hand_predictions, linked, shadow, snippet, top

import shadowprobe
from shadowprobe import Candidate, Card, Dataset, Entity, EntitySpace, Prediction, UsageError, write_dataset
from shadowprobe.running.correction import CorrectedRun, correct_run
from shadowprobe.running.debias_file import read_debias
from shadowprobe.running.finished import FinishedRun, read_runs

Store = Callable[[Sequence[Prediction]], FinishedRun]


@pytest.fixture
def stored(world: Dataset, tmp_path: Path) -> Store:
    """Stores answers as a run and reads it."""

    def store(predictions: Sequence[Prediction]) -> FinishedRun:
        (run,) = read_runs([store_run(tmp_path, world, predictions)])
        return run

    return store


def lines(path: Path) -> dict[str, dict[str, Any]]:
    """The predictions of a run as plain JSON, by snippet."""
    read = map(json.loads, (path / "predictions.jsonl").read_text(encoding="utf-8").splitlines())
    return {line["id"]: line for line in read}


def correct(run: FinishedRun, **how: Any) -> CorrectedRun:
    return correct_run(run, **how)


def test_the_corrected_run_stands_beside_the_run(stored: Store, tmp_path: Path) -> None:
    corrected = correct(stored(scored_predictions()), weight=0.6)
    assert corrected.out == tmp_path / "hand-debiased"
    assert sorted(path.name for path in corrected.out.iterdir()) == ["predictions.jsonl", "results.json", "run.json"]
    assert (tmp_path / "hand/debias.json").exists()


def test_a_corrected_answer_has_the_corrected_scores_best_first(stored: Store) -> None:
    corrected = lines(correct(stored(scored_predictions()), weight=0.6).out)
    # The river -1 + 0.6 * 1, the ship -2 + 0.6 * 3. The ship gains 1 over its neutral contexts and the river nothing.
    assert corrected["sAvon"] == {
        "id": "sAvon",
        "answer": shadow("Avon"),
        "score": pytest.approx(-0.2),
        "entity": shadow("Avon"),
        "suspicion": pytest.approx(-1),
        "candidates": [
            {"answer": shadow("Avon"), "score": pytest.approx(-0.2), "entity": shadow("Avon")},
            {"answer": top("Avon"), "score": pytest.approx(-0.4), "entity": top("Avon")},
        ],
    }
    assert corrected["tail1"] == {"id": "tail1", "answer": "Ourika", "score": -0.5}


COSTLY = "a weight of 0.55 makes the most names right in both contexts, but costs 25.0 points on Top: --top-loss allows"


@pytest.mark.parametrize(("top_loss", "is_noted"), [(None, True), (0.24, True), (0.25, False), (1.0, False)])
def test_a_better_weight_that_costs_too_much_on_top_is_noted(
    stored: Store, top_loss: float | None, is_noted: bool
) -> None:
    # Above 0.5, Avon and Como are right in both contexts instead of Berg, which is one of four names on Top.
    found = correct(stored(scored_predictions()), top_loss=top_loss).found
    assert found["top_loss"] == (0.01 if top_loss is None else top_loss)
    assert any(note.startswith(COSTLY) for note in found["notes"]) == is_noted


def test_a_given_weight_is_not_limited(stored: Store) -> None:
    found = correct(stored(scored_predictions()), weight=0.6).found
    assert found["measures"]["top"]["difference"] == -0.25
    assert not any(note.startswith(COSTLY) for note in found["notes"])


def test_candidates_without_a_score_go_last_and_keep_their_ids(stored: Store) -> None:
    mixed = Prediction(
        "sAvon",
        answer="Avon (river)",
        page_id=100,
        candidates=(
            Candidate(page_id=100, score=-1), Candidate("Avon Products"), Candidate(shadow("Avon"), score=-2)
        ),
    )  # fmt: skip
    run = stored(replace_predictions(scored_predictions(), {"sAvon": mixed}))
    found = lines(correct(run, weight=0.6).out)["sAvon"]
    assert found["answer"] == shadow("Avon")
    assert "page_id" not in found
    assert [one.get("answer") for one in found["candidates"]] == [shadow("Avon"), None, "Avon Products"]
    assert "score" not in found["candidates"][2]


def test_the_card_says_what_it_is(stored: Store) -> None:
    run = stored(scored_predictions())
    card = json.loads((correct(run, weight=0.6).out / "run.json").read_text(encoding="utf-8"))
    assert card["linker"]["name"] == "hand debiased"
    assert card["linker"]["options"] == {"debias_weight": "0.6"}
    assert "answers of `hand`, corrected by `shadowprobe debias` with weight 0.6; no system was asked" in card["notes"]


def test_results_and_figures_of_the_correction_agree(stored: Store) -> None:
    corrected = correct(stored(scored_predictions()), weight=0.6)
    results = json.loads((corrected.out / "results.json").read_text(encoding="utf-8"))
    over = results["probes"]["overshadowing"]
    measures = corrected.found["measures"]
    assert over["consistent"] == measures["both_right"]["after"] == 2 / 4
    assert over["overshadowed"] == measures["overshadowed"]["after"] == 2 / 4
    assert over["prior_bias"] == measures["prior_bias"]["after"] == 0
    assert results["subsets"]["shadow"]["recall"] == measures["shadow"]["after"] == 1


def test_debias_json_has_what_a_linker_needs_to_correct_new_texts(stored: Store) -> None:
    run = stored(scored_predictions())
    correct(run, weight=0.6)
    found = json.loads((run.path / "debias.json").read_text(encoding="utf-8"))
    assert found["priors"]["Como"] == {top("Como"): -2.0, shadow("Como"): -4.0}
    assert found["scale"] == {"kind": "log", "spread": 1.0}
    assert (found["weight"], found["chosen_by"]) == (0.6, "given")
    # Avon and Como become right on Shadow, Berg wrong on Top.
    assert (found["answers"]["n"], found["answers"]["changed"]) == (9, 3)
    assert found["answers"]["left"]["no_candidates"] == 1
    assert found["break_even"] == {"share": pytest.approx(1 / 3), "pays": "above"}


def test_equal_runs_give_equal_files(stored: Store) -> None:
    run = stored(scored_predictions())
    first = (correct(run).found, lines(run.path.with_name("hand-debiased")))
    assert (correct(run, force=True).found, lines(run.path.with_name("hand-debiased"))) == first


def test_where_it_is_not_worth_it_the_answers_stay(stored: Store) -> None:
    run = stored(scored_predictions())
    corrected = correct(run)
    assert (corrected.found["verdict"], corrected.found["weight"]) == ("not worth it", 0)
    before, after = lines(run.path), lines(corrected.out)
    assert {name: line["answer"] for name, line in before.items()} == {
        name: line["answer"] for name, line in after.items()
    }


def test_a_run_over_a_part_of_a_dataset_is_corrected_over_that_part(world: Dataset, tmp_path: Path) -> None:
    file = store_run(tmp_path, world, scored_predictions()) / "predictions.jsonl"
    shadowprobe.score(file, world, limit=2, out=tmp_path / "part")
    (run,) = read_runs([tmp_path / "part"])
    corrected = correct(run, weight=0.6)
    assert corrected.found["measures"]["top"]["n"] == 2
    results = json.loads((corrected.out / "results.json").read_text(encoding="utf-8"))
    assert (results["dataset"]["limit"], results["subsets"]["top"]["n"]) == (2, 2)


def test_other_answers_have_other_corrections(stored: Store) -> None:
    run = stored(scored_predictions())
    assert read_debias(run) is None
    correct(run)
    assert read_debias(run) is not None
    with (run.path / "predictions.jsonl").open("ab") as file:
        file.write(b"\n")
    assert read_debias(run) is None


def test_notes_say_what_was_left_and_why(stored: Store) -> None:
    others = {
        "sAvon": Prediction("sAvon", status="nil"),
        "tBerg": linked("tBerg", top("Berg"), -1),
        "sComo": Prediction(
            "sComo", answer=top("Como"),
            candidates=(Candidate(top("Como"), score=-1), Candidate("Como 1907", score=-5)),
        ),
    }  # fmt: skip
    notes = correct(stored(replace_predictions(scored_predictions(), others)), weight=0.5).found["notes"]
    assert "2 of 8 answers are left as they are: 1 with NIL, 1 with no candidates" in notes
    assert (
        "1 candidates are in no neutral context of their name; the lowest mean of the name is subtracted from them"
        in notes
    )


def without_scores() -> list[Prediction]:
    found = []
    for one in scored_predictions():
        candidates = tuple(Candidate(each.answer) for each in one.candidates)
        found.append(Prediction(one.id, answer=one.answer, candidates=candidates))
    return found


def with_one_candidate() -> list[Prediction]:
    return [
        Prediction(one.id, answer=one.answer, candidates=(Candidate(one.answer, score=-1),))
        for one in scored_predictions()
    ]


def with_silent_neutral() -> list[Prediction]:
    return [one if one.id[0] != "n" else linked(one.id, top(one.id[1:5])) for one in scored_predictions()]


def with_all_nil() -> list[Prediction]:
    return [Prediction(one.id, status="nil") for one in scored_predictions()]


def against_its_scores() -> list[Prediction]:
    return [
        Prediction(one.id, answer=one.candidates[-1].answer, candidates=one.candidates)
        for one in scored_predictions()
        if one.candidates and one.candidates[0].score != one.candidates[-1].score
    ]


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (hand_predictions, "the linker gives no candidates, and a correction chooses among them"),
        (without_scores, "the linker gives no scores for its candidates"),
        (with_one_candidate, "the linker gives one candidate only, and there is nothing to choose from"),
        (with_silent_neutral, "no candidate has a score in a neutral context, so that there is no prior to subtract"),
        (with_all_nil, "no entity is named"),
        (against_its_scores, "the answers are not the best-scored candidates"),
    ],
)
def test_a_run_that_cannot_be_corrected_is_refused_with_the_reason(
    stored: Store, predictions: Callable[[], list[Prediction]], message: str
) -> None:
    run = stored(predictions())
    with pytest.raises(UsageError, match=message):
        correct(run)
    assert not (run.path / "debias.json").exists()
    assert not run.path.with_name("hand-debiased").exists()


def test_a_dataset_without_neutral_contexts_is_refused(tmp_path: Path) -> None:
    avon = {subset: [snippet(f"{subset[0]}Avon", subset, "By Avon.", "Avon", space="Avon", gold=gold("Avon"))]
            for subset, gold in (("top", top), ("shadow", shadow))}  # fmt: skip
    entities = [Entity(top("Avon")), Entity(shadow("Avon"))]
    spaces = [EntitySpace("Avon", (top("Avon"), shadow("Avon")))]
    dataset = write_dataset(tmp_path / "bare", Card(name="bare"), entities, spaces, avon)  # type: ignore[arg-type]
    (run,) = read_runs([store_run(tmp_path, dataset, of_name("Avon", (-1, -4), (-1, -2), []))])
    with pytest.raises(UsageError, match="`bare` has no neutral contexts to take a prior from"):
        correct(run)


def test_a_corrected_run_is_not_corrected_again(stored: Store) -> None:
    (corrected,) = read_runs([correct(stored(scored_predictions()), weight=0.6).out])
    with pytest.raises(UsageError, match="is corrected already; give the run that it was made from"):
        correct(corrected)


def test_a_run_is_never_written_over(stored: Store) -> None:
    run = stored(scored_predictions())
    with pytest.raises(UsageError, match="is the run itself; name another directory"):
        correct(run, out=run.path, force=True)
    correct(run)
    with pytest.raises(UsageError, match="exists; give another --out, or --force"):
        correct(run)


@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan"), float("inf")])
def test_a_weight_is_from_0_to_1(stored: Store, weight: float) -> None:
    with pytest.raises(UsageError, match="give a number from 0"):
        correct(stored(scored_predictions()), weight=weight)


# The built-in systems that need nothing else, and whether they have a prior to remove; `blend` mixes one in.
BUILT_IN: list[tuple[str, dict[str, str], bool]] = [
    ("prior", {}, False),
    ("random", {}, False),
    ("tfidf", {}, False),
    ("bm25", {}, False),
    ("oracle", {}, False),
    ("blend", {"weight": "0.3"}, True),
    ("blend", {}, True),
]


@pytest.mark.parametrize("dataset", ["mini", "places"])
@pytest.mark.parametrize(("linker", "options", "has_prior"), BUILT_IN)
def test_half_the_prior_makes_no_built_in_system_worse(
    linker: str, options: dict[str, str], has_prior: bool, dataset: str, tmp_path: Path
) -> None:
    shadowprobe.run(linker, dataset, options=options, limit=400, out=tmp_path / "run")
    (run,) = read_runs([tmp_path / "run"])
    assert correct(run, weight=0.5).found["measures"]["both_right"]["difference_ci95"][1] >= 0
    if not has_prior:
        # `prior` is nothing but its prior: without it, nothing is left.
        found = correct(run, force=True).found
        assert (found["verdict"], found["weight"]) == ("not worth it", 0)


@pytest.mark.parametrize("dataset", ["mini", "places"])
def test_a_linker_that_names_nothing_is_refused(dataset: str, tmp_path: Path) -> None:
    shadowprobe.run("nil", dataset, limit=20, out=tmp_path / "run")
    (run,) = read_runs([tmp_path / "run"])
    with pytest.raises(UsageError, match="cannot be corrected: no entity is named"):
        correct(run, weight=0.5)


def test_a_built_in_dataset_without_neutral_contexts_is_refused(tmp_path: Path) -> None:
    shadowprobe.run("prior", "mini-train", limit=20, out=tmp_path / "run")
    (run,) = read_runs([tmp_path / "run"])
    with pytest.raises(UsageError, match="`mini-train` has no neutral contexts to take a prior from"):
        correct(run, weight=0.5)


def test_a_linker_that_mixes_in_a_prior_is_worth_correcting(tmp_path: Path) -> None:
    shadowprobe.run("blend", "mini", options={"weight": "0.7"}, out=tmp_path / "run")
    (run,) = read_runs([tmp_path / "run"])
    found = correct(run).found
    assert found["verdict"] == "worth it"
    assert 0 < found["weight"] < 1


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"weight": -0.01}, "--weight -0.01: give a number from 0"),
        ({"weight": 1.01}, "--weight 1.01: give a number from 0"),
        ({"top_loss": -0.01}, "--top-loss -1: give points from 0 to 100"),
        ({"top_loss": 1.01}, "--top-loss 101: give points from 0 to 100"),
        ({"weight": 0.5, "top_loss": 0.1}, "--top-loss: limits the weights that are chosen from"),
        ({"scale": "probability"}, "--scale probability: .* has a score of -6, and a probability is not below 0"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(stored: Store, how: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        correct(stored(scored_predictions()), **how)


@pytest.mark.parametrize("how", [{"weight": 0.0}, {"weight": 1.0}, {"top_loss": 0.0}, {"top_loss": 1.0}])
def test_the_ends_of_a_choice_belong_to_it(stored: Store, how: dict[str, float]) -> None:
    assert correct(stored(scored_predictions()), **how).found["chosen_by"] == (
        "given" if "weight" in how else "cross-fit"
    )


def test_scores_from_0_on_may_be_taken_for_probabilities(stored: Store) -> None:
    predictions = [
        replace(
            one, candidates=tuple(replace(each, score=max(0.0, 0.5 + (each.score or 0) / 8)) for each in one.candidates)
        )
        for one in scored_predictions()
    ]
    assert correct(stored(predictions), weight=0.5, scale="probability").found["scale"]["kind"] == "probability"


def test_a_directory_is_written_over_only_by_force(stored: Store, tmp_path: Path) -> None:
    run = stored(scored_predictions())
    for name in ("results.json", "run.json", "predictions.jsonl"):
        (tmp_path / name[:3]).mkdir()
        (tmp_path / name[:3] / name).touch()
        with pytest.raises(UsageError, match=f"{name} exists; give another --out"):
            correct(run, out=tmp_path / name[:3])
        assert correct(run, out=tmp_path / name[:3], force=True).out == tmp_path / name[:3]


def test_a_run_in_the_working_directory_has_its_correction_beside_it(
    stored: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stored(scored_predictions())
    monkeypatch.chdir(run.path)
    (here,) = read_runs([Path()], str(tmp_path / "world"))
    assert correct(here, weight=0.5).out == tmp_path / "hand-debiased"


def test_the_corrected_card_names_the_run_and_its_weight(stored: Store) -> None:
    run = stored(scored_predictions())
    card = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**card, "name": "Mine", "notes": ["slow"]}))
    corrected = json.loads((correct(run, weight=0.25).out / "run.json").read_text())
    assert corrected["name"] == "Mine debiased"
    assert corrected["linker"]["name"].endswith(" debiased")
    assert corrected["linker"]["options"]["debias_weight"] == "0.25"
    assert corrected["notes"][0] == "slow"
    # One weight is the same for every name, and nothing is to be said of halves.
    assert corrected["notes"][1].endswith("corrected by `shadowprobe debias` with weight 0.25; no system was asked")
