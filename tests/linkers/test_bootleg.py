"""The wrapper of Bootleg: its real worker in a real process, with a stand-in for the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import marked
from standins import write_bootleg
from worker_contract import WorkerContract, get_answer, use_stand_in
from world import shadow, top

from shadowprobe import Candidate, Dataset, Failure, LinkerError, Prediction


class TestContract(WorkerContract):
    wrapper = "shadowprobe.linkers.bootleg:BootlegLinker"
    place = "cache"

    def write(self, directory: Path) -> Path:
        return write_bootleg(directory)


wrapper, ask = TestContract.linker, TestContract.ask


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    use_stand_in(monkeypatch)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return write_bootleg(tmp_path / "cache")


def test_an_answer_is_a_qid_with_its_title_and_probability(world: Dataset, cache: Path) -> None:
    (answer,) = ask(world, cache, marked("The crew of [Avon] cut down both masts in the gale."))
    # Weights: ship 1 + 2 x 2 (crew, masts), river 1 + 2 (the) + 1 (first), no candidate 1; 10 in all.
    assert answer == Prediction(
        "marked",
        answer=shadow("Avon"),
        qid="Q200",
        score=0.5,
        candidates=(Candidate(shadow("Avon"), qid="Q200", score=0.5), Candidate(top("Avon"), qid="Q100", score=0.4)),
    )


def test_no_candidate_is_an_explicit_nil_with_the_candidates_that_lost(world: Dataset, cache: Path) -> None:
    (answer,) = ask(world, cache, marked("Nobody knows [Avon]."))
    # Weights: no candidate 5, river 2, ship 1.
    assert answer == Prediction(
        "marked",
        status="nil",
        score=0.625,
        candidates=(Candidate(top("Avon"), qid="Q100", score=0.25), Candidate(shadow("Avon"), qid="Q200", score=0.125)),
    )


def test_a_model_without_that_class_always_answers(world: Dataset, tmp_path: Path) -> None:
    cache = write_bootleg(tmp_path / "other", no_candidate=False)
    (answer,) = ask(world, cache, marked("Nobody knows [Avon]."))
    assert get_answer(answer) == top("Avon")


@pytest.mark.parametrize("name", ["Zzyzx", "!?"])
def test_a_name_that_the_alias_table_does_not_have_is_skipped(world: Dataset, cache: Path, name: str) -> None:
    unknown, known = ask(world, cache, marked(f"crew of [{name}]", "a"), marked("crew of [Avon]", "b"))
    assert unknown == Prediction("a", status="skipped")
    assert get_answer(known) == shadow("Avon")


def test_an_answer_that_is_not_above_the_threshold_is_skipped(world: Dataset, cache: Path) -> None:
    # 0.5 for the first, as worked out above; 0.8 for the second: river 1 + 2 x 3 (that, runs, the) + 1 of 10.
    low = marked("The crew of [Avon] cut down both masts in the gale.", "low")
    high = marked("Anglers say that [Avon] runs clear above the mill.", "high")
    below, above = ask(world, cache, low, high, threshold="0.5")
    assert below == Prediction("low", status="skipped")
    assert isinstance(above, Prediction)
    assert (above.answer, above.score) == (top("Avon"), 0.8)


def test_a_name_is_looked_up_in_bootlegs_own_spelling(world: Dataset, cache: Path) -> None:
    (answer,) = ask(world, cache, marked("From [KÖLN] down the Rhine."))
    assert get_answer(answer) == "Köln"


def test_without_its_data_nothing_is_fetched_and_the_place_is_named(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"there is no .*nowhere/models/bootleg_uncased: -o cache=DIR names the"):
        ask(world, tmp_path / "nowhere", marked("[Avon]"))
    assert not (tmp_path / "nowhere").exists()


def test_a_file_of_embeddings_that_is_not_there_stops_the_run(world: Dataset, cache: Path) -> None:
    with pytest.raises(
        LinkerError, match=r"AssertionError: no\.npy must exist\.; `shadowprobe check --linker bootleg`"
    ):
        ask(world, cache, marked("[Avon]"), embeddings="no.npy")


def test_rubbish_in_its_tables_is_a_failure_of_the_snippets_that_meet_it(world: Dataset, cache: Path) -> None:
    (cache / "data" / "entity_db" / "qid2title.json").write_text('{"Q300": "Ourika"}')
    broken, whole = ask(world, cache, marked("[Avon]", "a"), marked("[Ourika]", "b"))
    assert broken == Failure("a", "KeyError: 'Q100'")
    assert get_answer(whole) == "Ourika"
