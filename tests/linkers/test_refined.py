"""The wrapper of ReFinED: its real worker in a real process, with a stand-in for the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import marked
from standins import write_refined
from worker_contract import WorkerContract, get_answer, use_stand_in
from world import shadow

from shadowprobe import Candidate, Dataset, Failure, LinkerError, Prediction, UsageError


class TestContract(WorkerContract):
    wrapper = "shadowprobe.linkers.refined:RefinedLinker"
    place = "data"

    def write(self, directory: Path) -> Path:
        return write_refined(directory)


wrapper, ask = TestContract.linker, TestContract.ask


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_refined(tmp_path / "data")


def test_an_answer_is_a_qid_with_its_title_and_its_candidates_are_qids_alone(world: Dataset, data: Path) -> None:
    (answer,) = ask(world, data, marked("The crew of [Avon] cut down both masts in the gale."))
    # Weights: ship 1 + 2 x 2 (crew, masts), river 1 + 2 (the) + 1 (first), NIL 1; 10 in all.
    assert answer == Prediction(
        "marked",
        answer=shadow("Avon"),
        qid="Q200",
        score=0.5,
        candidates=(Candidate(qid="Q200", score=0.5), Candidate(qid="Q100", score=0.4)),
    )


def test_nil_is_explicit_and_no_candidate_of_its_own(world: Dataset, data: Path) -> None:
    (answer,) = ask(world, data, marked("Nobody knows [Avon]."))
    # Weights: NIL 5, river 2, ship 1.
    assert answer == Prediction(
        "marked",
        status="nil",
        score=0.625,
        candidates=(Candidate(qid="Q100", score=0.25), Candidate(qid="Q200", score=0.125)),
    )


def test_an_unknown_name_is_nil(world: Dataset, data: Path) -> None:
    assert ask(world, data, marked("Here is [Zzyzx].")) == [Prediction("marked", status="nil", score=1.0)]


def test_a_mention_that_no_token_begins_in_or_after_is_skipped(world: Dataset, data: Path) -> None:
    inside, whole = ask(world, data, marked("Stratford[avon]", "a"), marked("crew [Avon]", "b"))
    assert inside == Prediction("a", status="skipped")
    assert get_answer(whole) == shadow("Avon")


def test_an_entity_without_an_article_is_named_by_its_qid(world: Dataset, data: Path) -> None:
    tables = data / "wikipedia_data" / "tables.json"
    tables.write_text(tables.read_text("utf-8").replace('"Q200": "Avon (ship)", ', ""), encoding="utf-8")
    (answer,) = ask(world, data, marked("The crew of [Avon] with masts"))
    assert isinstance(answer, Prediction)
    assert (answer.answer, answer.qid) == ("Q200", "Q200")


def test_without_its_data_nothing_is_fetched_and_the_file_is_named(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"FileNotFoundError: .*nowhere/wikipedia_data/.*; `shadowprobe check"):
        ask(world, tmp_path / "nowhere", marked("[Avon]"))


def test_a_model_of_another_name_is_looked_for(world: Dataset, data: Path) -> None:
    with pytest.raises(LinkerError, match=r"FileNotFoundError: .*aida_model"):
        ask(world, data, marked("[Avon]"), model="aida_model")


def test_an_entity_set_that_it_does_not_have_is_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="option `entity_set`: 'dbpedia' is not one of wikipedia, wikidata"):
        wrapper(Path("data"), entity_set="dbpedia")


def test_rubbish_in_its_tables_is_a_failure_of_the_snippets_that_meet_it(world: Dataset, data: Path) -> None:
    tables = data / "wikipedia_data" / "tables.json"
    tables.write_text(tables.read_text("utf-8").replace('"Q100": "Fresh', '"Q999": "Fresh'), encoding="utf-8")
    broken, whole = ask(world, data, marked("[Avon]", "a"), marked("[Ourika]", "b"))
    assert broken == Failure("a", "KeyError: 'Q100'")
    assert get_answer(whole) == "Ourika"
