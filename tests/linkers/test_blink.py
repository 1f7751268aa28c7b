"""The wrapper of BLINK: its real worker in a real process, with a stand-in for the package."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from asking import marked
from refusals import outcome
from standins import write_blink
from worker_contract import WorkerContract, get_answer, use_stand_in
from world import NAMES, shadow, top

from shadowprobe import Candidate, Dataset, Failure, LinkerError, Prediction, UsageError
from shadowprobe.running.check import check


class TestContract(WorkerContract):
    wrapper = "shadowprobe.linkers.blink:BlinkLinker"
    place = "models"

    def write(self, directory: Path) -> Path:
        return write_blink(directory)


wrapper, ask = TestContract.linker, TestContract.ask


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch)
    monkeypatch.setenv("STANDIN_GPU", "1")


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return write_blink(tmp_path / "models")


def test_an_answer_is_a_title_with_its_page_id_its_logit_and_the_candidates(world: Dataset, models: Path) -> None:
    (answer,) = ask(world, models, marked("The crew of [Avon] cut down both masts."), top_k="2")
    # Ten for the name, two for the words of the ship (crew, masts), one for that of the river (the), 11.5 off each.
    assert answer == Prediction(
        "marked",
        answer=shadow("Avon"),
        page_id=200,
        score=0.5,
        candidates=(
            Candidate(shadow("Avon"), page_id=200, score=0.5),
            Candidate(top("Avon"), page_id=100, score=-0.5),
        ),
    )


def test_fast_leaves_the_cross_encoder_out(world: Dataset, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STANDIN_GPU")
    (models / "crossencoder_wiki_large.bin").unlink()
    (models / "crossencoder_wiki_large.json").unlink()
    (answer,) = ask(world, models, marked("The crew of [Avon] cut down both masts."), fast="true", top_k="1")
    # Ten for the name and one for each shared word.
    assert answer == Prediction(
        "marked",
        answer=shadow("Avon"),
        page_id=200,
        score=12.0,
        candidates=(Candidate(shadow("Avon"), page_id=200, score=12.0),),
    )


def test_capitals_in_name_and_context_change_nothing(world: Dataset, models: Path) -> None:
    small, capitals = ask(world, models, marked("a crew on [avon]", "a"), marked("A CREW ON [AVON]", "b"))
    assert (get_answer(small), get_answer(capitals)) == (shadow("Avon"), shadow("Avon"))


def test_an_unknown_name_is_answered_too_since_blink_has_no_nil(world: Dataset, models: Path) -> None:
    (answer,) = ask(world, models, marked("Nobody knows [Zzyzx], a crew with masts."))
    # No name fits: of the descriptions, that of the first ship shares most words (a, crew, with, masts).
    assert get_answer(answer) == shadow(NAMES[0])


def test_no_letter_that_is_longer_in_lower_case_moves_the_mention(world: Dataset, models: Path) -> None:
    # In lower case, the capital dotted I is two characters.
    (answer,) = ask(world, models, marked("İİİ crew [Berg] at dawn"))
    assert get_answer(answer) == shadow("Berg")


def test_a_snippet_that_blink_cannot_take_costs_the_others_nothing(world: Dataset, models: Path) -> None:
    good, bad = ask(world, models, marked("A crew on [Avon]", "a"), marked("[Avon] assertion", "b"))
    assert get_answer(good) == shadow("Avon")
    assert bad == Failure("b", "AssertionError: 34 ids in a row of 32")


def test_a_score_that_is_not_a_number_becomes_none(world: Dataset, models: Path) -> None:
    (answer,) = ask(world, models, marked("overflow of [Avon]"))
    assert isinstance(answer, Prediction)
    assert (answer.status, answer.score) == ("linked", None)


def test_a_page_without_an_id_is_known_by_its_title(world: Dataset, models: Path) -> None:
    line = {"text": "A ferry.", "idx": "local-7", "title": "Esk (ferry)", "entity": "Esk (ferry)"}
    with (models / "entity.jsonl").open("a") as catalogue:
        catalogue.write(json.dumps(line) + "\n")
    (answer,) = ask(world, models, marked("The ferry [Esk]"))
    assert isinstance(answer, Prediction)
    assert (answer.answer, answer.page_id) == ("Esk (ferry)", None)


def test_without_a_gpu_it_says_that_only_fast_works(
    world: Dataset, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STANDIN_GPU")
    with pytest.raises(LinkerError, match=r"needs a GPU and there is none: -o fast=true leaves it out; "):
        ask(world, models, marked("[Avon]"))


def test_without_its_models_it_says_which_file_is_missing(world: Dataset, models: Path) -> None:
    (models / "entity.jsonl").unlink()
    with pytest.raises(
        LinkerError, match=r"there is no file .*models/entity\.jsonl: -o models=DIR names the directory"
    ):
        ask(world, models, marked("[Avon]"))


def test_no_candidate_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="top_k must be at least 1"):
        wrapper(Path("models"), top_k="0")


def test_the_battery_finds_nothing_broken_without_the_cross_encoder(world: Dataset, models: Path) -> None:
    assert [finding for finding in check(wrapper(models, fast="true"), world) if not finding.holds] == []


def test_a_whole_run_by_the_command_line(
    world: Dataset, models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    options = ["-o", f"python={sys.executable}", "-o", f"models={models}"]
    command = ["run", "--linker", "blink", *options, "--dataset", str(world.path), "--out", str(out), "--json"]
    code, printed, errors = outcome(capsys, *command)
    assert code == 0, errors
    results = json.loads(printed)
    # Top: that, runs, the; Shadow: crew, masts against the; Ourika by its name.
    assert [results["subsets"][subset]["correct"] for subset in ("top", "shadow", "tail")] == [4, 4, 1]
    # Neutral contexts share no word, so that the first of the catalogue, the river, is the prior of each name.
    assert results["probes"]["prior"]["stability"] == 1.0
    python = ".".join(map(str, sys.version_info[:3]))
    assert f"blink ran in an environment of its own: torch 1.6.0, entities 10, Python {python}" in results["notes"]
