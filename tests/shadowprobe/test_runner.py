"""Batches, resume, failures: nothing that was computed is lost, nothing is asked twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from world import NAMES

from shadowprobe import Dataset, ItemError, Linker, LinkerError, Prediction, Snippet, UsageError
from shadowprobe.jsonl import read_lines
from shadowprobe.run_directory import FAILURES, PREDICTIONS, RESULTS, read_failures
from shadowprobe.runner import HOPELESS
from shadowprobe.session import Job


class Recording(Linker):
    """Answers with the top entity and remembers what it was asked."""

    name = "recording"
    # Given, so that the variants of this class can go on with each other's runs.
    version = "1"
    broken: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.seen: list[Snippet] = []

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.batches.append([snippet.id for snippet in snippets])
        self.seen += snippets
        if any(snippet.id in self.broken for snippet in snippets):
            raise RuntimeError("the server\nsaid no")
        return [self.answer(snippet, self.knowledge.candidates(snippet.mention)[0], 0.5) for snippet in snippets]

    @property
    def asked(self) -> list[str]:
        return [snippet.id for snippet in self.seen]


class Failing(Recording):
    """Breaks on two of the snippets."""

    broken = frozenset({"tBerg", "nComo2"})


def run(linker: Linker, dataset: Dataset, out: Path, **options: object) -> Job:
    """A finished job."""
    job = Job(linker, dataset, out=out, **options)  # type: ignore[arg-type]
    job.run()
    return job


def ids(out: Path) -> list[str]:
    """The snippets that have a stored prediction, in the order of the file."""
    return [prediction.id for _, prediction in read_lines(out / PREDICTIONS, Prediction)]


def all_ids(dataset: Dataset) -> list[str]:
    return [snippet.id for snippet in dataset.snippets()]


def test_every_snippet_gets_one_prediction_in_the_order_of_the_dataset(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    assert ids(tmp_path / "run") == all_ids(world)


def test_stored_predictions_hold_what_the_linker_said_and_what_it_means(world: Dataset, tmp_path: Path) -> None:
    class Underscores(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return [self.answer(snippet, "Avon_(river)", 0.25) for snippet in snippets]

    run(Underscores(), world, tmp_path / "run")
    _, first = next(read_lines(tmp_path / "run" / PREDICTIONS, Prediction))
    assert (first.answer, first.entity, first.score) == ("Avon_(river)", "Avon (river)", 0.25)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_any_batch_size_gives_the_same_bytes(world: Dataset, tmp_path: Path, size: int) -> None:
    run(Recording(), world, tmp_path / "default")
    linker = Recording()
    run(linker, world, tmp_path / "sized", batch_size=size)
    assert max(map(len, linker.batches)) == min(size, world.count())
    for name in (PREDICTIONS, RESULTS):
        assert (tmp_path / "sized" / name).read_bytes() == (tmp_path / "default" / name).read_bytes()


def test_a_linker_is_not_shown_the_gold_answers(world: Dataset, tmp_path: Path) -> None:
    linker = Recording()
    run(linker, world, tmp_path / "run")
    assert all(snippet.gold is None for snippet in linker.seen)


def test_the_same_text_is_linked_once(tmp_path: Path, world: Dataset) -> None:
    # The second tail snippet repeats the first, under another id.
    line = (world.path / "tail.jsonl").read_text()
    (world.path / "tail.jsonl").write_text(line + line.replace("tail1", "tail2"))
    unsealed(world)
    linker = Recording()
    job = Job(linker, Dataset.read(world.path), out=tmp_path / "run")
    outcome = job.run().outcome
    assert "tail2" not in linker.asked
    assert "tail2" in ids(tmp_path / "run")
    assert outcome is not None
    assert outcome.repeated == 1


def unsealed(dataset: Dataset) -> None:
    """Takes the digests out of the card, as a user does who edits a dataset by hand."""
    (dataset.path / "dataset.json").write_text('{"name": "world"}')


def test_the_same_text_in_another_place_of_the_text_is_another_question(tmp_path: Path, world: Dataset) -> None:
    text = "Ourika, by the author of Ourika."
    rows = [
        f'{{"id":"x{n}","subset":"tail","text":"{text}","start":{n},"end":{n + 6},"gold":"Ourika"}}' for n in (0, 25)
    ]
    (world.path / "tail.jsonl").write_text("\n".join(rows))
    unsealed(world)
    linker = Recording()
    run(linker, Dataset.read(world.path), tmp_path / "run")
    assert {"x0", "x25"} <= set(linker.asked)


def test_an_oracle_gets_both_when_one_text_has_two_gold_answers(tmp_path: Path, world: Dataset) -> None:
    shadow_line = (world.path / "shadow.jsonl").read_text().splitlines()
    top_text = next(world.snippets("top")).text
    rewritten = shadow_line[0].replace("The crew of Avon cut down both masts in the gale.", top_text)
    rewritten = rewritten.replace('"start":12,"end":16', '"start":17,"end":21')
    (world.path / "shadow.jsonl").write_text("\n".join([rewritten, *shadow_line[1:]]))
    unsealed(world)
    results = Job("oracle", Dataset.read(world.path), out=tmp_path / "run").run().results
    assert results["subsets"]["shadow"]["f1"] == 1.0
    assert results["subsets"]["top"]["f1"] == 1.0


def test_the_same_command_again_asks_nothing(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    before = (tmp_path / "run" / RESULTS).read_bytes()
    again = Recording()
    job = run(again, world, tmp_path / "run")
    assert again.asked == []
    assert (tmp_path / "run" / RESULTS).read_bytes() == before
    assert job.runner.card.started


def test_a_run_goes_on_after_the_snippets_it_has(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "whole")
    lines = (tmp_path / "whole" / PREDICTIONS).read_bytes().splitlines(keepends=True)
    run(Recording(), world, tmp_path / "run")
    (tmp_path / "run" / PREDICTIONS).write_bytes(b"".join(lines[:5]))
    linker = Recording()
    run(linker, world, tmp_path / "run")
    assert linker.asked == all_ids(world)[5:]
    assert (tmp_path / "run" / PREDICTIONS).read_bytes() == b"".join(lines)


@pytest.mark.parametrize("torn", [1, 10, 40])
def test_half_a_line_at_the_end_is_linked_again(world: Dataset, tmp_path: Path, torn: int) -> None:
    run(Recording(), world, tmp_path / "run")
    whole = (tmp_path / "run" / PREDICTIONS).read_bytes()
    (tmp_path / "run" / PREDICTIONS).write_bytes(whole[:-torn])
    linker = Recording()
    run(linker, world, tmp_path / "run")
    assert len(linker.asked) == 1
    assert (tmp_path / "run" / PREDICTIONS).read_bytes() == whole


def test_a_failure_costs_no_other_snippet_its_answer(world: Dataset, tmp_path: Path) -> None:
    outcome = Job(Failing(), world, out=tmp_path / "run").run().outcome
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

    job = Job(Failing(), world, out=tmp_path / "run")
    job.run()
    mended = Mended()
    job = Job(mended, world, out=tmp_path / "run")
    job.run()
    assert set(mended.asked) == {"tBerg", "nComo2"}
    assert sorted(ids(tmp_path / "run")) == sorted(all_ids(world))
    assert not (tmp_path / "run" / FAILURES).exists()


def test_a_failed_snippet_counts_as_skipped_and_the_results_say_so(world: Dataset, tmp_path: Path) -> None:
    results = Job(Failing(), world, out=tmp_path / "run").run().results
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
    assert len(linker.asked) <= world.count() + HOPELESS


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


def test_the_nil_uris_of_the_services_become_an_explicit_nil(world: Dataset, tmp_path: Path) -> None:
    class NotInWiki(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return [self.answer(snippet, f"http://aksw.org/notInWiki/{snippet.mention}") for snippet in snippets]

    results = run_results(NotInWiki(), world, tmp_path / "run")
    assert results["subsets"]["top"]["nil"] == len(NAMES)
    assert results["subsets"]["top"]["answered"] == 0


def run_results(linker: Linker, dataset: Dataset, out: Path) -> dict[str, dict[str, dict[str, int]]]:
    return Job(linker, dataset, out=out).run().results


def test_another_linker_may_not_go_on_with_a_run(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    before = (tmp_path / "run" / PREDICTIONS).read_bytes()
    with pytest.raises(UsageError, match="linker name is 'recording', not 'prior'"):
        run_results(Job("prior", world, out=tmp_path / "run").linker, world, tmp_path / "run")
    assert (tmp_path / "run" / PREDICTIONS).read_bytes() == before


def test_force_starts_a_run_afresh(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    linker = Recording()
    run(linker, world, tmp_path / "run", force=True)
    assert linker.asked == all_ids(world)
    assert ids(tmp_path / "run") == all_ids(world)


def test_a_limited_run_can_be_taken_further(world: Dataset, tmp_path: Path) -> None:
    linker = Recording()
    first = Job(linker, world, out=tmp_path / "run", limit=2).run().results
    assert {snippet.space for snippet in linker.seen} == {"Avon", "Berg", None}
    assert first["subsets"]["top"]["n"] == 2
    assert first["dataset"]["limit"] == 2
    linker = Recording()
    whole = Job(linker, world, out=tmp_path / "run").run().results
    assert {snippet.space for snippet in linker.seen} == {"Como", "Dale"}
    assert whole["subsets"]["top"]["n"] == 4


def test_a_run_without_its_card_is_not_touched(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(UsageError, match=r"holds predictions.jsonl without run.json"):
        run(Recording(), world, tmp_path / "run")


def test_what_a_linker_notes_stands_in_the_results_once(world: Dataset, tmp_path: Path) -> None:
    class Noting(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            self.note("spans are searched for, not given")
            return super().link(snippets)

    job = Job(Noting(), world, out=tmp_path / "run", batch_size=2)
    assert job.run().results["notes"] == ["spans are searched for, not given"]
    again = Job(Noting(), world, out=tmp_path / "run").run().results
    assert again["notes"] == ["spans are searched for, not given"]


def test_results_hold_no_time_and_no_path(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "one")
    run(Recording(), world, tmp_path / "two")
    first, second = ((tmp_path / name / RESULTS).read_bytes() for name in ("one", "two"))
    assert first == second
    assert str(tmp_path).encode() not in first


def test_answers_by_page_id_qid_title_and_redirect_are_counted(world: Dataset, tmp_path: Path) -> None:
    class Mixed(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            forms = {
                "tAvon": Prediction("tAvon", answer="renamed since", page_id=100),
                "tBerg": Prediction("tBerg", answer="http://dbpedia.org/resource/Berg_(river)"),
                "tComo": Prediction("tComo", answer="Lake of nowhere"),
                "tDale": Prediction("tDale", answer="Dale (river)", page_id=999),
            }
            return [forms.get(snippet.id) or self.skip(snippet) for snippet in snippets]

    results = Job(Mixed(), world, out=tmp_path / "run").run().results
    identity = results["identity"]
    assert identity == {
        "page_id": 1,
        "qid": 0,
        "title": 2,
        "redirect": 0,
        "unresolved": 1,
        "page_id_conflicts": 1,
    }
    assert results["subsets"]["top"]["correct"] == 3


def test_a_finished_run_sets_nothing_up(world: Dataset, tmp_path: Path) -> None:
    class Heavy(Recording):
        loaded = 0

        def setup(self) -> None:
            type(self).loaded += 1

    run(Heavy(), world, tmp_path / "run")
    run(Heavy(), world, tmp_path / "run")
    assert Heavy.loaded == 1


def test_answers_are_kept_and_measured_when_a_linker_fails_to_close(world: Dataset, tmp_path: Path) -> None:
    class Sticky(Recording):
        def close(self) -> None:
            raise RuntimeError("CUDA is gone")

    results = Job(Sticky(), world, out=tmp_path / "run").run().results
    assert results["subsets"]["top"]["recall"] == 1.0
    assert results["notes"] == ["the linker failed to close: RuntimeError: CUDA is gone"]


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


def test_a_linker_sees_neither_subset_nor_template(world: Dataset, tmp_path: Path) -> None:
    linker = Recording()
    run(linker, world, tmp_path / "run")
    assert {(snippet.subset, snippet.template, snippet.source) for snippet in linker.seen} == {("all", None, None)}


def test_a_linker_that_exits_does_not_take_the_run_with_it(world: Dataset, tmp_path: Path) -> None:
    class Exits(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            if any(snippet.id == "tBerg" for snippet in snippets):
                raise SystemExit(5)
            return super().link(snippets)

    outcome = Job(Exits(), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert outcome.failed == 1
    assert [failure.error for failure in read_failures(tmp_path / "run")] == ["SystemExit: 5"]
