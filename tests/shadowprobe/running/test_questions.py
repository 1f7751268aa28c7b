"""The questions of finished runs, opened again: where they were, where a user says, or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from measured_runs import SAID
from namesake_sets import AVON, BERG, write_sets
from reading_world import write_reading_world
from retrieval_world import FOUND, write_collection, write_documents

from shadowprobe import InputError, ShadowprobeError, UsageError
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.collection import open_collection
from shadowprobe.queries.query import Ranking
from shadowprobe.running.answering import AnsweringTask
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.questions import (
    check_probe,
    open_collection_of,
    open_ranking_probe,
    open_sets_of,
    read_answers_of,
    read_rankings_of,
    read_reading_rows,
    read_stored_rankings,
)
from shadowprobe.running.reading import ReadingSettings, make_reading_job
from shadowprobe.running.retrieving import RetrievalSettings, RetrievingTask
from shadowprobe.running.stored import score_stored


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def retrieved() -> FinishedRun:
    """A run over the collection `little` beside it."""
    write_collection(Path("little"))
    Path("stored.jsonl").write_bytes(encode_lines(Ranking(one, documents) for one, documents in FOUND.items()))
    task = RetrievingTask("little", probes=("amber",), settings=RetrievalSettings(ks=(1, 2)))
    (run,) = read_runs([score_stored(task, Path("stored.jsonl"), out=Path("run")).out])
    return run


@pytest.fixture
def answered() -> FinishedRun:
    """A run about the sets beside it."""
    write_sets(Path("sets.json"))
    Path("stored.jsonl").write_bytes(encode_lines({"id": one, "answer": text} for one, text in SAID.items()))
    (run,) = read_runs([score_stored(AnsweringTask("sets.json"), Path("stored.jsonl"), out=Path("run")).out])
    return run


def complaint(call: Callable[[], object]) -> str:
    with pytest.raises(ShadowprobeError) as refused:
        call()
    return str(refused.value)


def test_a_probe_that_was_not_asked_is_refused(retrieved: FinishedRun) -> None:
    check_probe(retrieved, "amber")
    with pytest.raises(UsageError, match="run was not asked `entity_questions`"):
        check_probe(retrieved, "entity_questions")


def test_a_collection_is_opened_where_it_was_or_where_the_user_says(retrieved: FinishedRun) -> None:
    assert open_collection_of(retrieved).path == Path("little/documents.jsonl")
    shutil.move("little", "moved")
    words = "the collection `little` is not where the run had it; --dataset says where it is"
    assert complaint(lambda: open_collection_of(retrieved)) == words
    assert open_collection_of(retrieved, "moved").path == Path("moved/documents.jsonl")
    Path("run/run.json").unlink()
    assert complaint(lambda: open_collection_of(retrieved)) == words


def test_another_collection_is_refused_with_both_digests(retrieved: FinishedRun) -> None:
    old = open_collection_of(retrieved).digest
    path = write_documents(Path("little/documents.jsonl"), [*open_collection_of(retrieved).documents()][1:])
    new = open_collection("little").digest
    words = f"{path}: is not what run is over ({new[:12]}..., not {old[:12]}...)"
    assert complaint(lambda: open_collection_of(retrieved)) == words


def test_the_queries_of_a_probe_must_be_those_of_the_run(retrieved: FinishedRun) -> None:
    collection = open_collection_of(retrieved)
    assert sum(1 for _ in open_ranking_probe(retrieved, "amber", collection).queries()) == 9
    sets = Path("little/amber/human/qa/amber_sets.jsonl")
    sets.write_text(sets.read_text().replace("Who built Dale?", "Who sank Dale?"))
    words = "has other queries of `amber` than run; --queries says where the queries of `amber` are"
    assert complaint(lambda: open_ranking_probe(retrieved, "amber", collection)).endswith(words)


def test_queries_of_the_user_are_looked_for_where_the_card_says(retrieved: FinishedRun) -> None:
    collection = open_collection_of(retrieved)
    shutil.move("little/amber", "apart")
    card = json.loads(Path("run/run.json").read_text())
    card["locations"]["queries"] = "apart"
    Path("run/run.json").write_text(json.dumps(card))
    open_ranking_probe(retrieved, "amber", collection)
    shutil.move("apart", "elsewhere")
    words = "apart does not exist any more; --queries says where the queries of `amber` are"
    assert complaint(lambda: open_ranking_probe(retrieved, "amber", collection)) == words
    open_ranking_probe(retrieved, "amber", collection, Path("elsewhere"))


def test_a_file_of_documents_alone_has_no_queries(retrieved: FinishedRun) -> None:
    alone = open_collection_of(retrieved, "little/documents.jsonl")
    words = "`documents` is a file of documents alone; --queries says where the queries of `amber` are"
    assert complaint(lambda: open_ranking_probe(retrieved, "amber", alone)) == words


def test_rankings_are_read_to_the_depth_of_each_run(retrieved: FinishedRun) -> None:
    assert {one.id for one in read_stored_rankings(retrieved)} == set(FOUND)
    retrieved.results["settings"]["depth"] = 2
    (rankings,) = read_rankings_of([retrieved], open_collection_of(retrieved), (1, 2))
    rows = {
        row["id"]: row["rank"] for row in open_ranking_probe(retrieved, "amber", rankings.collection).rows(rankings)
    }
    # The ship is the second article of a2 and of a3, and the fourth of c2.
    assert (rows["a2"], rows["a3"], rows["c2"]) == (2, 2, None)
    Path("run/rankings.jsonl").unlink()
    with pytest.raises(InputError, match=r"run: has no rankings\.jsonl"):
        read_stored_rankings(retrieved)


def test_sets_are_opened_where_they_were_or_where_the_user_says(answered: FinishedRun) -> None:
    sets = open_sets_of(answered, "ambigdocs")
    assert [one.id for one in sets.sets] == ["avon", "berg", "como"]
    assert read_answers_of(answered, sets) == SAID
    shutil.move("sets.json", "moved.json")
    words = "the questions `sets` are not where the run had them; --queries says where they are"
    assert complaint(lambda: open_sets_of(answered, "ambigdocs")) == words
    assert open_sets_of(answered, "ambigdocs", Path("moved.json")).digest == sets.digest
    write_sets(Path("sets.json"), AVON, BERG)
    assert complaint(lambda: open_sets_of(answered, "ambigdocs")).startswith("sets.json: is not what run was asked (")
    Path("run/answers.jsonl").unlink()
    with pytest.raises(InputError, match=r"run: has no answers\.jsonl"):
        read_answers_of(answered, sets)


def test_only_the_part_of_the_sets_is_opened_that_the_run_was_limited_to(answered: FinishedRun) -> None:
    answered.results["queries"] |= {"limit": 2, "documents": 2}
    sets = open_sets_of(answered, "ambigdocs").sets
    assert [one.id for one in sets] == ["avon", "berg"]
    answered.results["queries"] |= {"limit": None, "documents": 2}
    assert [len(one.documents) for one in open_sets_of(answered, "ambigdocs").sets] == [2, 2, 2]


def test_the_rows_of_a_reader_need_its_documents_and_its_queries() -> None:
    write_reading_world(Path())
    settings = ReadingSettings("little", ("amber_reading",), limit=1)
    make_reading_job("mine.py:Told", settings=settings, out=Path("run")).run()
    (run,) = read_runs([Path("run")])
    # The first set of each of the two tasks, with a query about the head and one about the tail.
    assert [row["id"] for row in read_reading_rows(run)["amber_reading"]] == ["f1", "f2", "a1", "a2"]
    sets = Path("little/amber/human/qa/amber_sets.jsonl")
    sets.write_text(sets.read_text().replace("Who built Dale?", "Who sank Dale?"))
    words = "run: was asked other queries than are there now; --queries says where they are"
    assert complaint(lambda: read_reading_rows(run)) == words
    path = Path("little/documents.jsonl")
    path.write_text(path.read_text().replace("Cuxhaven", "Hamburg"))
    assert complaint(lambda: read_reading_rows(run)).startswith("run/run.json: field `collection`: the run is over ")


def test_sets_are_opened_only_for_a_probe_that_was_asked(answered: FinishedRun) -> None:
    with pytest.raises(UsageError, match="run was not asked `other`"):
        open_sets_of(answered, "other")
