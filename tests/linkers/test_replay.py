"""The linker that answers from a stored predictions file."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import hand_predictions, shadow, snippet, top

from shadowprobe import (
    Candidate,
    Card,
    Dataset,
    Entity,
    EntitySpace,
    Failure,
    InputError,
    Linker,
    LinkerError,
    Prediction,
    UsageError,
    write_dataset,
)
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job, run, score
from shadowprobe.running.check import check


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stored.jsonl"
    path.write_bytes(encode_lines(hand_predictions()))
    return path


def replay(file: Path) -> Linker:
    return make_linker("shadowprobe.linkers.replay:ReplayLinker", {"file": str(file)})


def opened(file: Path, dataset: Dataset) -> Linker:
    linker = replay(file)
    linker.open(dataset.knowledge)
    return linker


def test_every_answer_is_the_stored_one(file: Path, world: Dataset) -> None:
    stored = {prediction.id: prediction for prediction in hand_predictions()}
    for answer in opened(file, world).link(list(world.snippets())):
        assert answer == stored[answer.id]


def test_candidates_page_ids_and_qids_are_kept(tmp_path: Path, world: Dataset) -> None:
    full = Prediction("tAvon", page_id=100, qid="Q1", score=-3.5, candidates=(Candidate(page_id=100, score=-3.5),))
    (tmp_path / "full.jsonl").write_bytes(encode_lines([full]))
    assert opened(tmp_path / "full.jsonl", world).link(list(world.first(1).snippets()))[0] == full


def test_a_whole_run_gives_what_scoring_the_file_gives(file: Path, world: Dataset, tmp_path: Path) -> None:
    replayed = make_linking_job(replay(file), world, out=tmp_path / "replayed").run().results
    scored = score(file, world, out=tmp_path / "scored")
    assert replayed["subsets"] == scored["subsets"]
    assert replayed["probes"] == scored["probes"]
    assert replayed["linker"]["options"] == {"file": str(file)}


def test_nil_and_skipped_stay_apart(file: Path, world: Dataset, tmp_path: Path) -> None:
    results = make_linking_job(replay(file), world, out=tmp_path / "run").run().results
    # Dale: NIL in its Top context, skipped in its Shadow one.
    assert (results["subsets"]["top"]["nil"], results["subsets"]["top"]["skipped"]) == (1, 0)
    assert (results["subsets"]["shadow"]["nil"], results["subsets"]["shadow"]["skipped"]) == (0, 1)


def test_a_snippet_that_the_file_lacks_fails_alone(file: Path, world: Dataset, tmp_path: Path) -> None:
    file.write_bytes(encode_lines(p for p in hand_predictions() if p.id != "sBerg"))
    answers = opened(file, world).link(list(world.snippets()))
    assert [a for a in answers if isinstance(a, Failure)] == [Failure("sBerg", f"{file} has no answer to 'sBerg'")]
    outcome = make_linking_job(replay(file), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert (outcome.answered, outcome.failed) == (world.count() - 1, 1)


def test_a_file_for_another_dataset_stops_the_run(file: Path, world: Dataset, tmp_path: Path) -> None:
    file.write_bytes(encode_lines([Prediction("elsewhere", answer="Avon (river)")]))
    with pytest.raises(LinkerError, match="has no answer to"):
        make_linking_job(replay(file), world, out=tmp_path / "run").run()


def test_snippets_that_differ_in_their_gold_alone_keep_their_own_answers(tmp_path: Path) -> None:
    text = "Avon was late."
    entities = [Entity(top("Avon"), commonness=2), Entity(shadow("Avon"), commonness=1)]
    twins = {
        "top": [snippet("t", "top", text, "Avon", space="Avon", gold=top("Avon"))],
        "shadow": [snippet("s", "shadow", text, "Avon", space="Avon", gold=shadow("Avon"))],
    }
    spaces = [EntitySpace("Avon", (top("Avon"), shadow("Avon")))]
    dataset = write_dataset(tmp_path / "twins", Card(name="twins"), entities, spaces, twins)  # type: ignore[arg-type]
    oracle = make_linking_job("oracle", dataset, out=tmp_path / "oracle").run()
    replayed = make_linking_job(replay(oracle.out / "predictions.jsonl"), dataset, out=tmp_path / "replayed").run()
    assert [replayed.results["subsets"][subset]["correct"] for subset in ("top", "shadow")] == [1, 1]


WRONG = [
    pytest.param(b'{"id": "tAvon"}\n', r":1: field `answer`: is missing", id="no answer"),
    pytest.param(
        b'{"id": "a", "answer": "A"}\n{"id": "a", "answer": "B"}\n', ":2: field `id`: 'a' is answered twice", id="twice"
    ),
    pytest.param(b'\n{"id": 7}\n', ":2: field `id`: Expected `str`, got `int`", id="an id that is no text"),
    pytest.param(b'{"id": "a", "status": "gone"}\n', ":1: field `status`: Invalid enum value", id="unknown status"),
    pytest.param(b'{"id": "a", "answer"', ":1: not valid JSON", id="a torn line"),
    pytest.param(b"\xff\xfe", ":1: is not UTF-8", id="another charset"),
]


@pytest.mark.parametrize(("content", "complaint"), WRONG)
def test_a_wrong_file_is_refused_by_line_and_field(
    tmp_path: Path, world: Dataset, content: bytes, complaint: str
) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{path}{complaint}"):
        opened(path, world)


def test_a_missing_file_is_named(tmp_path: Path, world: Dataset) -> None:
    with pytest.raises(InputError, match=r"nowhere\.jsonl: no such file"):
        opened(tmp_path / "nowhere.jsonl", world)
    with pytest.raises(InputError, match="is a directory, not a file"):
        opened(tmp_path, world)


def test_the_file_must_be_named() -> None:
    with pytest.raises(UsageError, match="needs the option `file`: add -o file=VALUE"):
        make_linker("shadowprobe.linkers.replay:ReplayLinker")


def test_the_battery_finds_broken_only_what_it_made_up_itself(file: Path, world: Dataset) -> None:
    broken = [finding for finding in check(replay(file), world) if not finding.holds]
    assert [finding.what for finding in broken] == [
        "the name twice: each of the two can be asked for",
        "characters beyond the BMP before the mention",
        "mention at the very start and at the very end",
        "an unknown name: NIL or skipped, or an answer, but no crash",
    ]
    assert all(f"{file} has no answer to 'check-" in finding.detail for finding in broken)


def test_a_file_that_has_changed_does_not_go_on_with_the_old_ones_run(world: Dataset, tmp_path: Path) -> None:
    stored = tmp_path / "stored.jsonl"
    stored.write_bytes(encode_lines(hand_predictions()))
    run("replay", world, options={"file": str(stored)}, out=tmp_path / "run")
    stored.write_bytes(encode_lines(reversed(hand_predictions())))
    with pytest.raises(UsageError, match="holds a run whose linker files file is"):
        run("replay", world, options={"file": str(stored)}, out=tmp_path / "run")
