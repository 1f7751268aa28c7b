"""Batches and resume: nothing that was computed is lost, nothing is asked twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from recording import Recording, all_ids, ids, run
from world import NAMES, hand_predictions, linked

import shadowprobe
from shadowprobe import (
    Card,
    Dataset,
    Entity,
    InputError,
    Linker,
    LinkerError,
    Prediction,
    Settings,
    Snippet,
    UsageError,
    write_dataset,
)
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.directory import PREDICTIONS, RESULTS, read_card
from shadowprobe.running.linking import LinkingTask


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
    job = make_linking_job(linker, Dataset.read(world.path), out=tmp_path / "run")
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
    results = make_linking_job("oracle", Dataset.read(world.path), out=tmp_path / "run").run().results
    assert results["subsets"]["shadow"]["f1"] == 1.0
    assert results["subsets"]["top"]["f1"] == 1.0


def test_the_same_command_again_asks_nothing(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    before = (tmp_path / "run" / RESULTS).read_bytes()
    again = Recording()
    job = run(again, world, tmp_path / "run")
    assert again.asked == []
    assert (tmp_path / "run" / RESULTS).read_bytes() == before
    assert job.card.started


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


def test_the_nil_uris_of_the_services_become_an_explicit_nil(world: Dataset, tmp_path: Path) -> None:
    class NotInWiki(Recording):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return [self.answer(snippet, f"http://aksw.org/notInWiki/{snippet.mention}") for snippet in snippets]

    results = run_results(NotInWiki(), world, tmp_path / "run")
    assert results["subsets"]["top"]["nil"] == len(NAMES)
    assert results["subsets"]["top"]["answered"] == 0


def run_results(linker: Linker, dataset: Dataset, out: Path) -> dict[str, dict[str, dict[str, int]]]:
    return make_linking_job(linker, dataset, out=out).run().results


def test_another_linker_may_not_go_on_with_a_run(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    before = (tmp_path / "run" / PREDICTIONS).read_bytes()
    with pytest.raises(UsageError, match="linker name is 'recording', not 'prior'"):
        run_results(make_linking_job("prior", world, out=tmp_path / "run").task.linker, world, tmp_path / "run")
    assert (tmp_path / "run" / PREDICTIONS).read_bytes() == before


def test_force_starts_a_run_afresh(world: Dataset, tmp_path: Path) -> None:
    run(Recording(), world, tmp_path / "run")
    linker = Recording()
    run(linker, world, tmp_path / "run", force=True)
    assert linker.asked == all_ids(world)
    assert ids(tmp_path / "run") == all_ids(world)


def test_a_limited_run_can_be_taken_further(world: Dataset, tmp_path: Path) -> None:
    linker = Recording()
    first = make_linking_job(linker, world, out=tmp_path / "run", limit=2).run().results
    assert {snippet.space for snippet in linker.seen} == {"Avon", "Berg", None}
    assert first["subsets"]["top"]["n"] == 2
    assert first["dataset"]["limit"] == 2
    linker = Recording()
    whole = make_linking_job(linker, world, out=tmp_path / "run").run().results
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

    job = make_linking_job(Noting(), world, out=tmp_path / "run", batch_size=2)
    assert job.run().results["notes"] == ["spans are searched for, not given"]
    again = make_linking_job(Noting(), world, out=tmp_path / "run").run().results
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

    results = make_linking_job(Mixed(), world, out=tmp_path / "run").run().results
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


def test_a_linker_sees_neither_subset_nor_template(world: Dataset, tmp_path: Path) -> None:
    linker = Recording()
    run(linker, world, tmp_path / "run")
    assert {(snippet.subset, snippet.template, snippet.source) for snippet in linker.seen} == {("all", None, None)}


def test_what_a_kill_in_the_middle_of_a_write_leaves_is_gone_after_the_next_run(world: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    dies_before_the_end = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from shadowprobe.base.files import write_atomically\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(Path(sys.argv[1]), b'{}')\n"
    )
    done = subprocess.run([sys.executable, "-c", dies_before_the_end, str(out / RESULTS)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(out.iterdir())) == 1
    run(Recording(), world, out)
    assert sorted(path.name for path in out.iterdir()) == [PREDICTIONS, RESULTS, "run.json"]


def test_the_card_names_the_dataset_as_the_user_did(world: Dataset, tmp_path: Path) -> None:
    for place, location in ((None, str(world.path)), ("my dataset", "my dataset")):
        out = tmp_path / (place or "run")
        make_linking_job("prior", world, out=out, location=place).run()
        assert read_card(out / "run.json").locations == {"dataset": location}


def test_the_options_that_were_given_are_in_the_name_of_the_directory(world: Dataset, tmp_path: Path) -> None:
    given = {"weight": "0.25"}
    assert make_linking_job("blend", world, options=given, folder=tmp_path).out.name == "blend-weight=0.25-world"
    assert make_linking_job("blend", world, folder=tmp_path).out.name == "blend-world"


def test_a_linker_is_closed_also_if_it_fails(world: Dataset, tmp_path: Path) -> None:
    class Closing(Recording):
        closed = 0
        is_broken = False

        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            if self.is_broken:
                raise LinkerError("no more")
            return super().link(snippets)

        def close(self) -> None:
            self.closed += 1

    linker = Closing()
    run(linker, world, tmp_path / "run")
    assert linker.closed == 1
    linker.is_broken = True
    with pytest.raises(LinkerError, match="no more"):
        run(linker, world, tmp_path / "other")
    assert linker.closed == 2


def test_a_task_of_stored_predictions_has_no_linker_to_ask(world: Dataset) -> None:
    task = LinkingTask(world)
    assert task.notes == []
    with pytest.raises(LinkerError, match="there is no linker to ask: the predictions are stored ones"):
        _ = task.linker


def test_predictions_of_the_rest_are_ignored_only_where_the_dataset_is_limited(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    limited = shadowprobe.score(tmp_path / "hand.jsonl", world, limit=1, out=tmp_path / "limited")
    assert (limited["dataset"]["spaces"], limited["dataset"]["snippets"], limited["missing"]) == (1, 6, 0)
    with (tmp_path / "hand.jsonl").open("ab") as file:
        file.write(encode_lines([linked("tEger", "Eger (river)")]))
    with pytest.raises(InputError, match="tEger"):
        shadowprobe.score(tmp_path / "hand.jsonl", world, out=tmp_path / "whole")


def test_a_limit_above_the_number_of_names_counts_the_names_that_there_are(world: Dataset, tmp_path: Path) -> None:
    results = shadowprobe.run("prior", world, limit=9, out=tmp_path / "run")
    assert (results["dataset"]["spaces"], results["dataset"]["limit"]) == (4, 9)
    assert shadowprobe.run("prior", world, out=tmp_path / "whole")["dataset"]["spaces"] == 4


def test_a_run_that_is_scored_again_has_its_linker_and_a_file_its_own_name(world: Dataset, tmp_path: Path) -> None:
    shadowprobe.run("prior", world, out=tmp_path / "run")
    assert shadowprobe.score(tmp_path / "run", world, out=tmp_path / "scored")["linker"]["name"] == "prior"
    (tmp_path / "hand.csv").write_text("id,answer\ntAvon,Avon (river)\n")
    scored = shadowprobe.score(tmp_path / "hand.csv", world, out=tmp_path / "table")
    assert (scored["linker"]["name"], scored["missing"]) == ("hand", world.count() - 1)
    # Rows of a table are stored in our own form.
    assert ids(tmp_path / "table") == ["tAvon"]


def test_nil_is_right_for_a_mention_without_an_entity_only_with_the_counting_of_gerbil(tmp_path: Path) -> None:
    text = "Avon runs past Ourika."
    mentions = [
        Snippet("a", "all", text, 0, 4, gold="Avon (river)"),
        Snippet("b", "all", text, 15, 21),
    ]
    dataset = write_dataset(tmp_path / "foreign", Card(name="foreign"), [Entity("Avon (river)")], [], {"all": mentions})
    results = shadowprobe.run("nil", dataset, out=tmp_path / "run", settings=Settings(gerbil_nil=True))
    assert results["notes"] == ["counted with --gerbil-nil: NIL is right for 1 mentions without an entity"]
