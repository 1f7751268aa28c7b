"""A run of retrieval: what it writes, how it goes on, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusals import contents
from retrieval_world import amber_set, entity, query, write_collection, write_documents, write_questions, write_sets
from retriever_scripts import OUT, job, run, write_retrievers

from shadowprobe import InputError, LinkerError, UsageError
from shadowprobe.base.files import lock_file
from shadowprobe.base.jsonl import read_lines
from shadowprobe.queries.query import Document, Ranking
from shadowprobe.running.job import Outcome
from shadowprobe.running.retrieving import RetrievalSettings

# In the order in which they are asked, two at a time.
AMBER = ["a1", "a2", "a3", "b1", "b2", "c1", "c2", "d1", "d2"]
QUESTIONS = ["P19-0", "P19-1", "P19-2", "P20-0"]


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_collection(tmp_path / "little")
    write_retrievers(tmp_path)
    monkeypatch.chdir(tmp_path)


def asked() -> list[str]:
    return Path("asked.txt").read_text().split()


def stored(out: Path = OUT) -> list[Ranking]:
    return [ranking for _, ranking in read_lines(out / "rankings.jsonl", Ranking)]


def test_a_run_writes_its_card_its_rankings_and_its_results() -> None:
    finished = run()
    assert sorted(path.name for path in OUT.iterdir()) == ["rankings.jsonl", "results.json", "run.json"]
    assert [ranking.id for ranking in stored()] == AMBER == asked()
    assert stored()[0] == Ranking("a1", ("avon-river-1", "avon-river-2", "avon-ship"), (1.0, 0.5, 0.333333))
    results = json.loads((OUT / "results.json").read_text())
    assert results == finished.results
    assert (finished.outcome.answered, finished.outcome.resumed) == (9, 0)
    assert results["retriever"]["name"] == "telling"
    assert results["collection"]["name"] == "little"
    assert results["settings"] == {
        "depth": 3,
        "k": [1, 2],
        "bootstrap_rounds": 1000,
        "bootstrap_seed": 7,
        "text_only": False,
    }
    assert results["missing"] == 0
    # Always the river Avon, then the ship: right at 1 for a1 alone, at 2 for a2 and a3 too.
    accuracy = results["probes"]["amber"]["human"]["qa"]["accuracy"]
    assert (accuracy["1"]["all"]["rate"], accuracy["2"]["all"]["rate"]) == (1 / 9, 3 / 9)
    card = json.loads((OUT / "run.json").read_text())
    assert card["retriever"] == results["retriever"]
    assert card["depth"] == 3


def test_without_a_probe_all_are_asked_that_the_collection_has_queries_for(tmp_path: Path) -> None:
    assert list(run(probes=()).results["probes"]) == ["amber", "entity_questions"]
    assert asked() == [*AMBER, *QUESTIONS]
    (tmp_path / "half").mkdir()
    write_documents(tmp_path / "half" / "documents.jsonl")
    write_questions(tmp_path / "half" / "entity_questions")
    assert list(run(probes=(), collection="half", out=Path("other")).results["probes"]) == ["entity_questions"]


def test_a_finished_run_is_measured_again_and_asks_nobody() -> None:
    first = run()
    card = (OUT / "run.json").read_bytes()
    again = job("Telling", settings=RetrievalSettings(ks=(3,), depth=3)).run()
    assert again.outcome == Outcome(resumed=9)
    assert asked() == AMBER
    assert list(again.results["probes"]["amber"]["human"]["qa"]["accuracy"]) == ["3"]
    assert (OUT / "run.json").read_bytes() == card
    # And back: the same numbers as at first.
    assert run().results == first.results


def test_an_interrupt_costs_the_batch_under_way_and_no_query_twice() -> None:
    undisturbed = run(out=Path("undisturbed"), options={"last": "nobody"}).out / "results.json"
    Path("asked.txt").unlink()
    stopping = job(options={"last": "nobody"})
    # The third batch is b2 and c1; the first of these was asked in vain.
    vars(stopping.task.retriever)["last"] = "c1"
    with pytest.raises(KeyboardInterrupt):
        stopping.run()
    assert [ranking.id for ranking in stored()] == AMBER[:4]
    assert not (OUT / "results.json").exists()
    finished = run(options={"last": "nobody"})
    assert (finished.outcome.answered, finished.outcome.resumed) == (5, 4)
    assert asked() == [*AMBER[:6], *AMBER[4:]]
    assert (OUT / "results.json").read_bytes() == undisturbed.read_bytes()


def test_a_torn_last_line_is_cut_off_and_its_query_asked_again() -> None:
    whole = run()
    before = (OUT / "rankings.jsonl").read_bytes()
    (OUT / "rankings.jsonl").write_bytes(before[:-10])
    Path("asked.txt").unlink()
    assert run().results == whole.results
    assert asked() == ["d2"]
    assert (OUT / "rankings.jsonl").read_bytes() == before


def test_progress_starts_with_what_is_there() -> None:
    run()
    lines = (OUT / "rankings.jsonl").read_bytes().splitlines(keepends=True)
    (OUT / "rankings.jsonl").write_bytes(b"".join(lines[:6]))
    steps: list[int] = []
    job().run(steps.append)
    assert steps == [6, 2, 1]


def test_a_line_of_another_run_is_refused() -> None:
    run()
    with (OUT / "rankings.jsonl").open("a") as file:
        file.write('{"id": "z9", "documents": []}\n')
    with pytest.raises(InputError, match=r"rankings\.jsonl:10: field `id`: 'z9' is no query of this run"):
        run()


def test_a_query_that_is_answered_twice_is_refused() -> None:
    run()
    content = (OUT / "rankings.jsonl").read_bytes()
    (OUT / "rankings.jsonl").write_bytes(content + content.splitlines(keepends=True)[0])
    with pytest.raises(InputError, match=r"rankings\.jsonl:10: field `id`: 'a1' is answered twice"):
        run()


def change_documents() -> None:
    write_documents(Path("little/documents.jsonl"), [Document("one", "One", "Only this.")])


def change_queries() -> None:
    sets = [amber_set("X", entity([query("x", "X?", "elbe")], head=True))]
    write_sets(Path("little/amber/human/qa/amber_sets.jsonl"), sets)


def change_code() -> None:
    with Path("mine.py").open("a") as file:
        file.write("# better now\n")


CHANGES: list[tuple[Callable[[], None], dict[str, Any], str]] = [
    (change_code, {}, "whose retriever version is 'sha256:"),
    (change_documents, {}, "whose collection digest is"),
    (change_queries, {}, "whose queries amber is"),
    (lambda: None, {"kind": "bm25"}, "whose retriever name is 'telling', not 'bm25'; give another --out, or --force"),
    (lambda: None, {"options": {"last": "x"}}, "whose retriever options last is '', not 'x'"),
    (lambda: None, {"probes": ["amber", "entity_questions"]}, "whose queries entity_questions is None, not"),
    (lambda: None, {"settings": RetrievalSettings(ks=(1,), depth=4)}, "whose depth is 3, not 4"),
]


@pytest.mark.parametrize(("change", "arguments", "words"), CHANGES, ids=[words for _, _, words in CHANGES])
def test_another_run_does_not_go_on_in_the_same_directory(
    change: Callable[[], None], arguments: dict[str, Any], words: str
) -> None:
    run()
    before = contents(OUT)
    change()
    with pytest.raises(UsageError) as refused:
        run(**arguments)
    assert f"run holds a run {words}" in str(refused.value)
    assert contents(OUT) == before


def test_a_file_that_an_option_names_is_part_of_the_run() -> None:
    Path("table.tsv").write_text("1")
    run(options={"table": "table.tsv"})
    Path("table.tsv").write_text("2")
    with pytest.raises(UsageError, match="whose retriever files table is"):
        run(options={"table": "table.tsv"})


def test_secrets_among_the_options_reach_no_file() -> None:
    run(options={"api_token": "s3cret"})
    assert b"s3cret" not in b"".join(path.read_bytes() for path in OUT.iterdir())
    assert json.loads((OUT / "run.json").read_text())["retriever"]["options"]["api_token"] == "***"


def test_force_starts_afresh() -> None:
    run()
    finished = run(options={"last": "nobody"}, force=True)
    assert (finished.outcome.answered, finished.outcome.resumed) == (9, 0)
    assert asked() == [*AMBER, *AMBER]
    assert [ranking.id for ranking in stored()] == AMBER


def test_a_forced_run_that_cannot_start_leaves_all_that_was_there() -> None:
    run()
    before = contents(OUT)
    with pytest.raises(LinkerError, match="the model is not there"):
        run("NotStarting", force=True)
    assert contents(OUT) == before


def test_a_forced_run_that_is_interrupted_is_not_taken_for_the_one_before() -> None:
    run()
    with pytest.raises(KeyboardInterrupt):
        run(options={"last": "b1"}, force=True)
    assert [ranking.id for ranking in stored()] == AMBER[:2]
    # Results that belong to other rankings are gone.
    assert not (OUT / "results.json").exists()
    with pytest.raises(UsageError, match="whose retriever options last is 'b1', not ''"):
        run()


def test_a_run_that_cannot_start_claims_no_directory() -> None:
    with pytest.raises(LinkerError, match="the model is not there"):
        run("NotStarting")
    assert list(OUT.iterdir()) == []
    assert run().outcome.answered == 9


def test_rankings_or_results_of_nobody_are_not_gone_on_with() -> None:
    run()
    (OUT / "run.json").unlink()
    with pytest.raises(
        UsageError, match=r"run holds rankings\.jsonl without run\.json; give another --out, or --force"
    ):
        run()
    (OUT / "rankings.jsonl").unlink()
    with pytest.raises(UsageError, match=r"run holds results\.json without run\.json"):
        run()
    assert run(force=True).outcome.answered == 9


def test_the_card_of_another_kind_of_run_is_refused() -> None:
    run()
    (OUT / "run.json").write_text('{"linker": {"name": "prior", "options": {}}, "dataset": {}, "shadowprobe": "1"}')
    with pytest.raises(UsageError, match="run holds a run of a linker, not of a retriever; give another --out"):
        run()


def test_the_card_of_a_newer_shadowprobe_is_refused() -> None:
    run()
    card = json.loads((OUT / "run.json").read_text())
    (OUT / "run.json").write_text(json.dumps(card | {"schema": 2}))
    with pytest.raises(InputError, match="field `schema`: is 2, and this shadowprobe reads 1: update it"):
        run()


def test_a_directory_that_another_writes_to_is_refused() -> None:
    pytest.importorskip("fcntl", reason="file locks are the POSIX kind")
    OUT.mkdir()
    with lock_file(OUT, "rankings.jsonl"), pytest.raises(UsageError, match="another shadowprobe is writing to run"):
        run()


def test_what_a_retriever_says_of_a_run_stands_in_its_results() -> None:
    assert "the first query was strange" in run("Noting").results["notes"]


def test_what_a_retriever_said_before_an_interrupt_is_not_lost() -> None:
    undisturbed = run("Noting", out=Path("undisturbed"))
    stopping = job("Noting")
    vars(stopping.task.retriever)["last"] = "d1"
    with pytest.raises(KeyboardInterrupt):
        stopping.run()
    # The rest has nothing strange about it.
    assert run("Noting").results == undisturbed.results


def test_a_query_on_which_the_retriever_fails_is_counted_and_asked_again_by_the_next_run() -> None:
    finished = run("Failing")
    assert finished.results["missing"] == 1
    assert [ranking.id for ranking in stored()] == ["a1", *AMBER[2:]]
    Path("mended").touch()
    Path("asked.txt").unlink()
    again = run("Failing")
    assert asked() == ["a2"]
    assert (again.outcome.answered, again.outcome.resumed, again.results["missing"]) == (1, 8, 0)
