"""Linkers that fail, stop, or break the contract: what the run makes of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recording import Failing, Recording, all_ids, ids, run

from shadowprobe import Dataset, ItemError, LinkerError, Prediction, Snippet
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.directory import FAILURES, read_failures
from shadowprobe.running.job import HOPELESS


def test_a_failure_costs_no_other_snippet_its_answer(world: Dataset, tmp_path: Path) -> None:
    outcome = make_linking_job(Failing(), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert outcome.failed == 2
    assert set(all_ids(world)) - set(ids(tmp_path / "run")) == Failing.broken
    assert [(failure.id, failure.error) for failure in read_failures(tmp_path / "run")] == [
        ("tBerg", "RuntimeError: the server said no"),
        ("nComo2", "RuntimeError: the server said no"),
    ]


def test_failures_are_tried_again_and_forgotten_when_they_succeed(world: Dataset, tmp_path: Path) -> None:
    class Mended(Failing):
        broken = frozenset()

    job = make_linking_job(Failing(), world, out=tmp_path / "run")
    job.run()
    mended = Mended()
    job = make_linking_job(mended, world, out=tmp_path / "run")
    job.run()
    assert set(mended.asked) == {"tBerg", "nComo2"}
    assert sorted(ids(tmp_path / "run")) == sorted(all_ids(world))
    assert not (tmp_path / "run" / FAILURES).exists()


def test_a_failed_snippet_counts_as_skipped_and_the_results_say_so(world: Dataset, tmp_path: Path) -> None:
    results = make_linking_job(Failing(), world, out=tmp_path / "run").run().results
    assert results["subsets"]["top"]["failed"] == 1
    assert results["subsets"]["top"]["precision"] == 1.0
    assert results["subsets"]["top"]["recall"] == 3 / 4
    assert results["missing"] == 2


class Dead(Recording):
    """Fails on everything."""

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.seen += snippets
        raise ItemError("nobody is at home")


@pytest.mark.parametrize("size", [1, 64])
def test_a_linker_that_never_answers_stops_the_run_early(world: Dataset, tmp_path: Path, size: int) -> None:
    linker = Dead()
    with pytest.raises(LinkerError, match="first 16 snippets, the last time with: nobody is at home"):
        run(linker, world, tmp_path / "run", batch_size=size)
    # A batch that fails is asked again one by one.
    assert len(linker.asked) == (HOPELESS if size == 1 else world.count() + HOPELESS)


def test_a_linker_that_says_it_cannot_work_stops_the_run_at_once(world: Dataset, tmp_path: Path) -> None:
    class NoToken(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            self.seen += snippets
            raise LinkerError("set SHADOWPROBE_X_TOKEN")

    linker = NoToken()
    with pytest.raises(LinkerError, match="set SHADOWPROBE_X_TOKEN"):
        run(linker, world, tmp_path / "run", batch_size=2)
    assert len(linker.asked) == 2


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda predictions: predictions[1:], "no prediction for snippet"),
        (lambda predictions: [*predictions, Prediction("intruder", answer="X")], "which was not asked for"),
        (lambda predictions: [Prediction(p.id) for p in predictions], "`answer` is missing"),
        (lambda predictions: [Prediction(p.id, status="nil", answer="X") for p in predictions], "`status` is nil"),
    ],
)
def test_a_wrapper_that_breaks_the_contract_is_told_how(
    world: Dataset, tmp_path: Path, change: Callable[[list[Prediction]], list[Prediction]], complaint: str
) -> None:
    class Sloppy(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return change(super().link(snippets))

    with pytest.raises(LinkerError, match=complaint):
        run(Sloppy(), world, tmp_path / "run", batch_size=1)


@pytest.mark.parametrize("returned", [None, "Avon (river)", 7, ["Avon (river)"], [None]])
def test_a_wrong_return_value_is_told_what_link_must_return(world: Dataset, tmp_path: Path, returned: object) -> None:
    class Wrong(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return returned  # type: ignore[return-value]

    with pytest.raises(LinkerError, match=r"link\(\) must return one prediction for each snippet, made by self.answer"):
        run(Wrong(), world, tmp_path / "run")


def test_two_predictions_for_one_snippet_are_refused(world: Dataset, tmp_path: Path) -> None:
    class Twice(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return super().link(snippets) * 2

    with pytest.raises(LinkerError, match="two predictions for"):
        run(Twice(), world, tmp_path / "run")


def test_answers_are_kept_and_measured_when_a_linker_fails_to_close(world: Dataset, tmp_path: Path) -> None:
    class Sticky(Recording):
        def close(self) -> None:
            raise RuntimeError("CUDA is gone")

    results = make_linking_job(Sticky(), world, out=tmp_path / "run").run().results
    assert results["subsets"]["top"]["recall"] == 1.0
    assert results["notes"] == ["the linker failed to close: RuntimeError: CUDA is gone"]


def test_a_linker_that_exits_does_not_take_the_run_with_it(world: Dataset, tmp_path: Path) -> None:
    class Exits(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            if any(snippet.id == "tBerg" for snippet in snippets):
                raise SystemExit(5)
            return super().link(snippets)

    outcome = make_linking_job(Exits(), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert outcome.failed == 1
    assert [failure.error for failure in read_failures(tmp_path / "run")] == ["SystemExit: 5"]
