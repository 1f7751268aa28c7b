"""What a job writes at each step, in which directory, and what it takes over from an earlier run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clues import Clues
from recording import Failing, Recording, all_ids, ids, run

from shadowprobe import Dataset, LinkerError, Prediction, Settings, Snippet, UsageError
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.directory import FAILURES, PREDICTIONS, RESULTS, read_card
from shadowprobe.running.job import Outcome


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def edit(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps(read(path) | entries))


def lose_answers(out: Path, kept: int) -> None:
    """Leaves only the first answers of a run."""
    lines = (out / PREDICTIONS).read_bytes().splitlines(keepends=True)
    (out / PREDICTIONS).write_bytes(b"".join(lines[:kept]))


def test_outcomes_are_added_entry_by_entry() -> None:
    assert Outcome(1, 2, 3, 4, 0.5) + Outcome(10, 20, 30, 40, 1.5) == Outcome(11, 22, 33, 44, 2.0)
    assert Outcome() + Outcome(failed=1) == Outcome(failed=1)


def test_the_outcome_counts_what_was_there_what_was_answered_and_what_failed(world: Dataset, tmp_path: Path) -> None:
    shown: list[int] = []
    out = tmp_path / "run"
    first = make_linking_job(Failing(), world, out=out, batch_size=4).run(shown.append).outcome
    assert (first.resumed, first.answered, first.repeated, first.failed) == (0, 19, 0, 2)
    # What was there before, then the answers and failures of each batch or of its parts.
    assert (shown[0], sum(shown)) == (0, 21)
    lose_answers(out, 5)
    shown.clear()
    second = make_linking_job(Recording(), world, out=out).run(shown.append).outcome
    assert (second.resumed, second.answered, second.repeated, second.failed) == (5, 16, 0, 0)
    assert shown == [5, 16]


def test_a_repeated_text_is_counted_and_not_asked_again(world: Dataset, tmp_path: Path) -> None:
    line = (world.path / "tail.jsonl").read_text()
    (world.path / "tail.jsonl").write_text(line + line.replace("tail1", "tail2") + line.replace("tail1", "tail3"))
    (world.path / "dataset.json").write_text('{"name": "world"}')
    outcome = make_linking_job(Recording(), Dataset.read(world.path), out=tmp_path / "run").run().outcome
    assert (outcome.answered, outcome.repeated) == (23, 2)


def test_failures_are_listed_only_as_long_as_there_are_some(world: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(Failing(), world, out)
    assert [json.loads(line)["id"] for line in (out / FAILURES).read_text().splitlines()] == ["tBerg", "nComo2"]
    run(Recording(), world, out)
    assert sorted(path.name for path in out.iterdir()) == [PREDICTIONS, RESULTS, "run.json"]


def test_the_time_of_all_parts_of_a_run_is_added_and_it_started_with_the_first(world: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(Recording(), world, out)
    edit(out / "run.json", started="2020-01-01T00:00:00+00:00", finished="2020-01-01T00:01:40+00:00", seconds=100.0004)
    lose_answers(out, 5)
    job = run(Recording(), world, out)
    card = read_card(out / "run.json")
    assert card.started == "2020-01-01T00:00:00+00:00"
    assert card.finished > "2026"
    assert 100 <= card.seconds < 160
    assert card.seconds == round(card.seconds, 3)
    assert job.card.seconds == card.seconds


def test_a_torn_line_is_cut_off_before_the_next_answer_is_written(world: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(Recording(), world, out)
    whole = (out / PREDICTIONS).read_bytes()
    (out / PREDICTIONS).write_bytes(whole[:-7])
    (out / f".{RESULTS}.x.half").write_text("{")
    linker = Recording()
    run(linker, world, out)
    assert (out / PREDICTIONS).read_bytes() == whole
    assert linker.asked == all_ids(world)[-1:]
    # Half a write of a killed run is gone too.
    assert sorted(path.name for path in out.iterdir()) == [PREDICTIONS, RESULTS, "run.json"]


def test_a_run_that_starts_afresh_removes_what_was_derived_from_the_old_answers(world: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(Recording(), world, out)
    (out / "debias.json").write_text("{}")

    class Stops(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Stops(), world, out, force=True)
    assert not (out / "debias.json").exists()
    assert not (out / RESULTS).exists()
    assert (out / PREDICTIONS).read_bytes() == b""
    # The card is there before the first answer.
    with pytest.raises(KeyboardInterrupt):
        run(Stops(), world, tmp_path / "new")
    assert read_card(tmp_path / "new" / "run.json").total == 21


def test_a_note_is_stored_before_the_answers_that_it_is_about(world: Dataset, tmp_path: Path) -> None:
    class Noting(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            if len(self.batches) == 1:
                raise KeyboardInterrupt
            self.note("the model is old")
            return super().link(snippets)

    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run(Noting(), world, out, batch_size=4)
    assert read_card(out / "run.json").notes == ["the model is old"]
    assert ids(out) == all_ids(world)[:4]
    # The next part of the run has said nothing.
    run(Recording(), world, out)
    assert read(out / RESULTS)["notes"] == ["the model is old"]


def test_a_note_at_the_end_of_a_run_is_stored_too(world: Dataset, tmp_path: Path) -> None:
    class Late(Recording):
        def close(self) -> None:
            self.note("it took long")

    run(Late(), world, tmp_path / "run")
    assert read_card(tmp_path / "run" / "run.json").notes == ["it took long"]


def test_the_results_are_there_if_only_the_variants_fail(world: Dataset, tmp_path: Path) -> None:
    class Stops(Clues):
        def _one(self, snippet: Snippet) -> Prediction:
            if "~" in snippet.id:
                raise LinkerError("no more")
            return super()._one(snippet)

    with pytest.raises(LinkerError, match="no more"):
        make_linking_job(Stops(), world, out=tmp_path / "run", settings=Settings(also=("masked_mention",))).run()
    assert read(tmp_path / "run" / RESULTS)["subsets"]["top"]["f1"] == 1.0


def test_a_run_keeps_its_name_until_it_gets_another(world: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "run"

    def name_after(given: str | None) -> str:
        make_linking_job(Recording(), world, out=out, name=given).run()
        return read_card(out / "run.json").name

    assert name_after(None) == ""
    # Nothing is asked any more, and the card is written all the same.
    assert name_after("mine") == "mine"
    assert name_after(None) == "mine"
    lose_answers(out, 5)
    assert name_after(None) == "mine"
    lose_answers(out, 5)
    assert name_after("other") == "other"
    assert make_linking_job(Recording(), world, name="other", folder=tmp_path).out == tmp_path / "other"


def test_a_run_of_an_earlier_version_is_continued_in_its_directory_without_options(
    world: Dataset, tmp_path: Path
) -> None:
    def choose(seed: str) -> str:
        return make_linking_job("random", world, options={"seed": seed}, folder=tmp_path).out.name

    earlier = tmp_path / "random-world"
    assert choose("25") == "random-seed=25-world"
    make_linking_job("random", world, options={"seed": "25"}, out=earlier).run()
    assert choose("25") == "random-world"
    # It is of another run.
    assert choose("75") == "random-seed=75-world"
    card = read(earlier / "run.json")
    (earlier / "run.json").write_text(json.dumps({**card, "linker": None, "retriever": card["linker"]}))
    assert choose("25") == "random-seed=25-world"
    (earlier / "run.json").write_text(json.dumps(card))
    (tmp_path / "random-seed=25-world").mkdir()
    assert choose("25") == "random-seed=25-world"


@pytest.mark.parametrize(("name", "content"), [(PREDICTIONS, '{"id": "tAvon", "status": "nil"}\n'), (RESULTS, "{}")])
def test_what_is_there_without_a_card_is_written_over_only_by_force(
    world: Dataset, tmp_path: Path, name: str, content: str
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / name).write_text(content)
    with pytest.raises(UsageError, match=f"holds {name} without run.json; give another --out, or --force"):
        run(Recording(), world, out)
    assert (out / name).read_text() == content
    run(Recording(), world, out, force=True)
    assert ids(out) == all_ids(world)


def test_the_card_finds_a_dataset_beside_it_and_knows_a_built_in_one_by_name(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "runs" / "a")
    assert read_card(tmp_path / "runs" / "a" / "run.json").relative_locations == {"dataset": "../../world"}
    job = make_linking_job("prior", "mini", out=tmp_path / "runs" / "b")
    assert (job.card.locations, job.card.relative_locations) == ({"dataset": "mini"}, {})
