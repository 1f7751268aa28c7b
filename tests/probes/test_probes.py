"""Every probe on answers whose figures are worked out by hand; tests/conftest.py lists the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
import world as hand_made
from world import linked, shadow, top

from shadowprobe import Answers, Card, Dataset, Entity, EntitySpace, Prediction, open_dataset, write_dataset
from shadowprobe.base.model import Candidate
from shadowprobe.measure.probe import Findings
from shadowprobe.measure.statistics import f1_interval
from shadowprobe.plugins import PROBES, make_probe, names
from shadowprobe.reporting.run_summary import summarize
from shadowprobe.running.api import make_linking_job


def measure(name: str, answers: Answers) -> Findings:
    """The findings of a probe by name, as the command line gets them."""
    return make_probe(name).measure(answers)


def test_table_3_counts_top_with_its_nil_as_wrong(answers: Answers) -> None:
    # Avon and Berg right, Como wrong, Dale NIL: TP 2, FP 2, FN 2.
    row = measure("subsets", answers)["top"]
    assert (row["n"], row["answered"], row["nil"], row["skipped"], row["correct"]) == (4, 3, 1, 0, 2)
    assert (row["precision"], row["recall"], row["f1"]) == (0.5, 0.5, 0.5)


def test_table_3_counts_shadow_with_its_skip_only_as_missed(answers: Answers) -> None:
    # Berg and Como right, Avon wrong, Dale skipped: TP 2, FP 1, FN 2.
    row = measure("subsets", answers)["shadow"]
    assert (row["n"], row["answered"], row["nil"], row["skipped"], row["correct"]) == (4, 3, 0, 1, 2)
    assert (row["precision"], row["recall"]) == pytest.approx((2 / 3, 1 / 2))
    assert row["f1"] == pytest.approx(4 / 7)
    assert row["f1_ci95"] == list(f1_interval(correct=2, wrong=1, skipped=1))
    assert row["coverage"] == 0.75


def test_neutral_contexts_have_no_row_in_table_3(answers: Answers) -> None:
    assert list(measure("subsets", answers)) == ["top", "shadow", "tail"]


def test_a_snippet_without_a_prediction_counts_as_skipped_and_is_said_to_have_failed(world: Dataset) -> None:
    answers = Answers(world).fill([linked("tAvon", top("Avon"))])
    row = measure("subsets", answers)["top"]
    assert (row["n"], row["failed"], row["skipped"]) == (4, 3, 0)
    assert (row["precision"], row["recall"]) == (1.0, 0.25)


def test_gerbils_threshold_is_off_unless_asked_for(world: Dataset, answers: Answers) -> None:
    assert "gerbil_threshold" not in measure("subsets", answers)["top"]
    # Top scores: Avon 0.9 right, Berg 0.7 right, Como 0.5 wrong, Dale a NIL without a score, which every cut keeps.
    # Above 0.5: TP 2, FP 1 (the NIL), FN 2, F1 = 4/7; uncut it is 1/2.
    asked = Answers(world, gerbil_threshold=True).fill(
        [
            linked("tAvon", top("Avon"), 0.9),
            linked("tBerg", top("Berg"), 0.7),
            linked("tComo", shadow("Como"), 0.5),
            Prediction("tDale", status="nil"),
        ]
    )
    row = measure("subsets", asked)["top"]
    assert row["f1"] == 0.5
    assert row["gerbil_threshold"] == {
        "cut": 0.5,
        "precision": pytest.approx(2 / 3),
        "recall": 0.5,
        "f1": pytest.approx(4 / 7),
    }


def test_figure_4_counts_the_spaces_where_the_name_decided(answers: Answers) -> None:
    found = measure("overshadowing", answers)
    assert found["spaces"] == 4
    assert found["overshadowed"] == 2 / 4  # Avon and Como
    assert found["prior_bias"] == 1 / 4  # Avon: Como's answer, the ship, is not its prior
    assert found["answered_with_top"] == 1 / 4  # Avon
    assert found["consistent"] == 1 / 4  # Berg


def test_top_against_shadow_is_paired_by_space(answers: Answers) -> None:
    # Right on both: Berg. On Top only: Avon. On Shadow only: Como. On neither: Dale.
    found = measure("overshadowing", answers)
    assert found["top_minus_shadow"] == 0.0
    assert found["mcnemar_p"] == 1.0


def test_nil_for_both_is_not_the_same_entity(world: Dataset) -> None:
    answers = Answers(world).fill([Prediction("tAvon", status="nil"), Prediction("sAvon", status="nil")])
    assert measure("overshadowing", answers)["overshadowed"] == 0.0


def test_two_equal_answers_overshadow_although_the_dataset_knows_neither(world: Dataset) -> None:
    answers = Answers(world).fill([linked("tAvon", "Avon Products"), linked("sAvon", "Avon_Products")])
    assert measure("overshadowing", answers)["overshadowed"] == 1 / 4


def test_reading_minus_repeating_is_consistent_minus_prior_bias(answers: Answers) -> None:
    found = measure("overshadowing", answers)
    assert found["reads_minus_repeats"] == 0.0
    low, high = found["reads_minus_repeats_ci95"]
    assert low < 0 < high
    assert found["verdict"] == "undecided"


@pytest.mark.parametrize(
    ("top_answer", "shadow_answer", "verdict"),
    [(top, shadow, "reads"), (top, top, "repeats"), (shadow, shadow, "undecided")],
)
def test_the_verdict_follows_the_interval(
    world: Dataset, top_answer: Callable[[str], str], shadow_answer: Callable[[str], str], verdict: str
) -> None:
    predictions = []
    for name in world.spaces:
        predictions += [linked(f"t{name}", top_answer(name)), linked(f"s{name}", shadow_answer(name))]
        predictions += [linked(f"n{name}{column}", top(name)) for column in (1, 2, 3)]
    assert measure("overshadowing", Answers(world).fill(predictions))["verdict"] == verdict


def answer_in_turn(dataset: Dataset, patterns: list[tuple[int, int]]) -> Findings:
    """What the probe finds if names get, in turn, their Top (0) or Shadow (1) entity in both contexts, and else Top."""
    meant = {snippet.space: str(snippet.gold) for snippet in dataset.snippets("shadow")}
    shown = {name: patterns[number % len(patterns)] for number, name in enumerate(dataset.spaces)}
    predictions = []
    for snippet in dataset.snippets("top", "shadow", "neutral"):
        named = (*shown[str(snippet.space)], 0)[("top", "shadow", "neutral").index(snippet.subset)]
        entities = dataset.spaces[str(snippet.space)].top, meant[snippet.space]
        predictions.append(linked(snippet.id, entities[named]))
    return measure("overshadowing", Answers(dataset).fill(predictions))


ALL_FOUR = [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_answers_that_neither_read_nor_repeat_are_at_chance() -> None:
    # Of every four names one gets both right, and one its prior in both contexts. The Top entity (0) is named in half
    # of the Top contexts, and in half of the Shadow contexts. The last two of the 154 names are (0, 0) and (0, 1).
    found = answer_in_turn(open_dataset("mini"), ALL_FOUR)
    assert (found["spaces"], found["verdict"], found["at_chance"]) == (154, "undecided", True)
    assert found["reads_minus_repeats"] == 0
    assert found["context_effect"] == pytest.approx(1 / 154)


def test_a_run_says_so_of_a_linker_that_answers_by_chance(tmp_path: Path) -> None:
    results = make_linking_job("random", open_dataset("mini"), out=tmp_path / "run").run().results
    assert str(summarize(results).sentence).startswith("random does not read, no usable prior: of 154 names, ")
    # Runs of an earlier version do not have the key.
    del results["probes"]["overshadowing"]["at_chance"]
    assert str(summarize(results).sentence).startswith("random reads the context about as often as it repeats")


def test_answers_that_do_both_are_not_at_chance() -> None:
    # Half of the names get both right, half their prior: in Shadow contexts the Top entity is half as frequent.
    found = answer_in_turn(open_dataset("mini"), [(0, 0), (0, 1)])
    assert (found["verdict"], found["context_effect"], found["at_chance"]) == ("undecided", 0.5, False)


def test_too_few_names_are_not_at_chance(world: Dataset, answers: Answers) -> None:
    found = answer_in_turn(world, ALL_FOUR)
    assert (found["verdict"], found["context_effect"], found["at_chance"]) == ("undecided", 0.0, False)
    # Avon and Berg get the Top entity in their Top context, and of these only Avon in its Shadow context.
    assert measure("overshadowing", answers)["context_effect"] == 1 / 4


@pytest.mark.parametrize(("count", "at_chance"), [(29, False), (30, True)])
def test_thirty_names_are_enough_for_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, at_chance: bool
) -> None:
    monkeypatch.setattr(hand_made, "NAMES", tuple(f"Town{number:02d}" for number in range(count)))
    found = answer_in_turn(hand_made.write_world(tmp_path / "towns"), ALL_FOUR)
    assert (found["spaces"], found["verdict"], found["at_chance"]) == (count, "undecided", at_chance)


def neutral_rivers(world: Dataset) -> list[Prediction]:
    """The river in every neutral context."""
    return [linked(snippet.id, top(snippet.space or "")) for snippet in world.snippets("neutral")]


def test_a_linker_that_names_too_few_entities_gets_no_verdict(world: Dataset) -> None:
    predictions = [Prediction(f"{kind}{name}", status="nil") for kind in "ts" for name in world.spaces]
    answers = Answers(world).fill([*predictions, *neutral_rivers(world)])
    assert measure("overshadowing", answers)["verdict"] == "silent"
    # One name of four gets two entities, and then half of them.
    for number, name in enumerate(list(world.spaces)[:2], start=1):
        predictions += [linked(f"{kind}{name}", top(name)) for kind in "ts"]
        known = {one.id: one for one in predictions}.values()
        found = measure("overshadowing", Answers(world).fill([*known, *neutral_rivers(world)]))
        assert (found["verdict"] == "silent") == (number == 1)


@pytest.mark.parametrize("said_of_neutral", ["nil", "skipped", None])
def test_without_answers_to_neutral_contexts_there_is_no_prior_bias_and_no_verdict(
    world: Dataset, said_of_neutral: Literal["nil", "skipped"] | None
) -> None:
    # The top entity everywhere: all overshadowed. Whether that is the prior nobody has said.
    predictions = [linked(f"{kind}{name}", top(name)) for kind in "ts" for name in world.spaces]
    if said_of_neutral is not None:
        predictions += [Prediction(snippet.id, status=said_of_neutral) for snippet in world.snippets("neutral")]
    answers = Answers(world).fill(predictions)
    over = measure("overshadowing", answers)
    assert over["overshadowed"] == 1.0
    assert over["prior_bias"] is None
    assert over["verdict"] == "unknown"
    assert measure("prior", answers) == {"not_measured": "the linker names no entity in any neutral context"}


def test_a_prior_for_fewer_than_half_of_the_names_is_no_ground_for_a_verdict(world: Dataset) -> None:
    predictions = [linked(f"{kind}{name}", top(name)) for kind in "ts" for name in world.spaces]
    answers = Answers(world).fill([*predictions, linked("nAvon1", top("Avon"))])
    over = measure("overshadowing", answers)
    assert over["prior_bias"] == 1 / 4
    assert over["verdict"] == "unknown"
    # Half of the names are enough.
    answers = Answers(world).fill([*predictions, linked("nAvon1", top("Avon")), linked("nBerg1", top("Berg"))])
    assert measure("overshadowing", answers)["verdict"] != "unknown"
    answers = Answers(world).fill([*predictions, linked("nAvon1", top("Avon"))])
    assert measure("prior", answers)["without_prior"] == 3


def test_one_name_of_three_is_fewer_than_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_made, "NAMES", ("Avon", "Berg", "Como"))
    three = hand_made.write_world(tmp_path / "three")
    predictions = [linked(f"{kind}{name}", top(name)) for kind in "ts" for name in three.spaces]
    with_one_prior = Answers(three).fill([*predictions, linked("nAvon1", top("Avon"))])
    assert measure("overshadowing", with_one_prior)["verdict"] == "unknown"
    of_avon = [linked(f"{kind}Avon", top("Avon")) for kind in "ts"]
    assert measure("overshadowing", Answers(three).fill([*of_avon, *neutral_rivers(three)]))["verdict"] == "silent"


def test_further_snippets_of_a_name_are_left_out_and_counted(tmp_path: Path) -> None:
    flows = [hand_made.snippet(f"t{n}", "top", f"Avon {n} flows.", "Avon", space="Avon", gold="Avon") for n in (1, 2)]
    sails = [hand_made.snippet("s1", "shadow", "Avon sails.", "Avon", space="Avon", gold="Avon (ship)")]
    # Berg has no Shadow snippet, so that it is in no pair.
    flows.append(hand_made.snippet("t3", "top", "Berg flows.", "Berg", space="Berg", gold="Berg"))
    entities = [Entity(title) for title in ("Avon", "Avon (ship)", "Berg", "Berg (ship)")]
    spaces = [EntitySpace(name, (name, f"{name} (ship)")) for name in ("Avon", "Berg")]
    dataset = write_dataset(tmp_path / "few", Card(name="few"), entities, spaces, {"top": flows, "shadow": sails})
    found = measure("overshadowing", Answers(dataset).fill([linked("t1", "Avon"), linked("s1", "Avon (ship)")]))
    assert (found["spaces"], found["consistent"], found["snippets_left_out"]) == (1, 1.0, 2)


def test_table_4_splits_top_by_prior_and_rightness(answers: Answers) -> None:
    assert measure("prior", answers)["top"] == {
        "prior_correct": 2 / 4,  # Avon, Berg
        "prior_wrong": 0.0,
        "context_correct": 0.0,
        "context_wrong": 1 / 4,  # Como: the ship, although the prior is the river
        "nil": 1 / 4,  # Dale
    }


def test_table_4_splits_shadow_by_prior_and_rightness(answers: Answers) -> None:
    assert measure("prior", answers)["shadow"] == {
        "prior_correct": 0.0,
        "prior_wrong": 1 / 4,  # Avon
        "context_correct": 2 / 4,  # Berg, Como
        "context_wrong": 0.0,
        "nil": 1 / 4,  # Dale, skipped
    }


def test_the_five_shares_of_table_4_add_up_to_one(answers: Answers) -> None:
    found = measure("prior", answers)
    assert sum(found["top"].values()) == pytest.approx(1)
    assert sum(found["shadow"].values()) == pytest.approx(1)


def test_stability_is_the_mean_share_of_neutral_contexts_that_agree(answers: Answers) -> None:
    # Avon 2 of 3, Berg 3 of 3, Como 2 of 3, Dale 1 of 3.
    found = measure("prior", answers)
    assert found["stability"] == pytest.approx((2 + 3 + 2 + 1) / 12)
    assert found["prior_is_top"] == 3 / 4  # all but Dale
    assert found["without_prior"] == 0


def prior_of(world: Dataset, name: str, predictions: list[Prediction]) -> str | None:
    """The prior of a name under some neutral answers."""
    answers = Answers(world).fill(predictions)
    code = answers.prior[answers.space_names.index(name)]
    return answers.names[code] if code >= 0 else None


def test_a_tie_of_votes_goes_to_the_higher_mean_score(world: Dataset) -> None:
    votes = [linked("nDale1", shadow("Dale"), 0.9), linked("nDale2", top("Dale"), 0.5)]
    assert prior_of(world, "Dale", votes) == shadow("Dale")


def test_a_tie_of_votes_and_scores_goes_to_the_title_that_sorts_first(world: Dataset) -> None:
    votes = [linked("nDale1", shadow("Dale"), 0.5), linked("nDale2", top("Dale"), 0.5)]
    assert prior_of(world, "Dale", votes) == "Dale (river)"
    unscored = [linked("nDale1", shadow("Dale")), linked("nDale2", top("Dale"))]
    assert prior_of(world, "Dale", unscored) == "Dale (river)"


def test_more_votes_beat_a_higher_score(world: Dataset) -> None:
    votes = [linked("nDale1", shadow("Dale"), 0.9), *(linked(f"nDale{n}", top("Dale"), 0.1) for n in (2, 3))]
    assert prior_of(world, "Dale", votes) == top("Dale")


def test_a_name_whose_neutral_contexts_name_no_entity_has_no_prior(world: Dataset) -> None:
    votes = [Prediction(f"nDale{n}", status="nil") for n in (1, 2, 3)]
    assert prior_of(world, "Dale", votes) is None
    others = [linked("nAvon1", top("Avon"))]
    found = measure("prior", Answers(world).fill([linked("tDale", top("Dale")), *votes, *others]))
    assert found["without_prior"] == 3
    assert found["stability"] == pytest.approx(1 / 3)  # Avon alone has a prior, named in one of its three contexts
    assert found["top"]["context_correct"] == 1 / 4


def test_candidate_recall_counts_mentions_without_candidates_as_missed(world: Dataset) -> None:
    river, ship = Candidate(top("Avon"), score=0.9), Candidate(shadow("Avon"), score=0.1)
    answers = Answers(world).fill(
        [
            Prediction("sAvon", answer=top("Avon"), candidates=(river, ship)),  # a candidate, but not chosen
            Prediction("sBerg", answer=shadow("Berg"), candidates=(Candidate(shadow("Berg")),)),  # chosen
            Prediction("sComo", answer=top("Como"), candidates=(Candidate(top("Como")),)),  # never a candidate
            Prediction("sDale", status="skipped"),
        ]
    )
    row = measure("candidates", answers)["shadow"]
    assert row["recall"] == 2 / 4
    assert row["accuracy_given_candidate"] == 1 / 2
    assert row["errors_without_candidate"] == 2 / 3  # of Avon, Como and Dale: the last two
    assert row["mean_candidates"] == pytest.approx(4 / 3)
    assert row["with_candidates"] == 3


def test_a_candidate_under_another_key_is_still_the_gold(world: Dataset) -> None:
    by_page = Prediction("sAvon", answer="whatever", page_id=200, candidates=(Candidate("x", page_id=200),))
    row = measure("candidates", Answers(world).fill([by_page]))["shadow"]
    assert row["recall"] == 1 / 4
    assert row["accuracy_given_candidate"] == 1.0


def test_without_candidates_the_probe_says_so(answers: Answers) -> None:
    assert measure("candidates", answers) == {"not_measured": "the linker gives no candidates"}


def test_scores_are_summed_up_by_quantiles_per_subset(answers: Answers) -> None:
    found = measure("confidence", answers)["subsets"]["top"]  # 0.9, 0.7, 0.5; Dale has none
    assert found["n"] == 3
    assert found["mean"] == pytest.approx(0.7)
    assert (found["q00"], found["q50"], found["q100"]) == (0.5, 0.7, 0.9)
    assert found["q25"] == pytest.approx(0.6)


def test_auroc_is_the_chance_that_a_real_context_scores_higher_than_a_neutral_one(answers: Answers) -> None:
    # Real: 0.9 0.8 0.7 0.6 0.5 0.5. Neutral: 0.3 0.3 0.4 0.5 0.5 0.5 0.2 0.2 0.9 0.5. Of the 60 pairs, real wins
    # 0.9: 9 + half a tie = 9.5; 0.8, 0.7, 0.6: 9 each; 0.5 twice: 5 + 4 halves = 7 each. Sum 50.5.
    assert measure("confidence", answers)["auroc_real_against_neutral"] == pytest.approx(50.5 / 60)


def test_auroc_of_right_against_wrong_answers(answers: Answers) -> None:
    # Right: 0.9 (Avon) 0.7 0.6 (Berg) 0.5 (Como, Shadow). Wrong: 0.8 (Avon, Shadow) 0.5 (Como, Top). Tail stays out.
    # Against 0.8: 0.9 wins. Against 0.5: 3 win and one ties, 3.5. Of 8 pairs: 4.5.
    assert measure("confidence", answers)["auroc_right_against_wrong"] == pytest.approx(4.5 / 8)


def test_without_scores_the_probe_says_so(world: Dataset) -> None:
    answers = Answers(world).fill([linked("tAvon", top("Avon"))])
    assert measure("confidence", answers) == {"not_measured": "the linker gives no scores"}


def test_every_probe_has_a_name_and_a_definition() -> None:
    for name in names(PROBES):
        probe = make_probe(name)
        assert probe.name == name
        assert len((type(probe).__doc__ or "").splitlines()) > 2
