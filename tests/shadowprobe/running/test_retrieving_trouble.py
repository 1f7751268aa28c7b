"""Retrievers that do not keep to their contract, and jobs that cannot be."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import amber_set, entity, query, write_collection, write_documents, write_sets
from retriever_scripts import OUT, job, run, write_retrievers

from shadowprobe import LinkerError, PluginError, ShadowprobeError, UsageError, plugins
from shadowprobe.base.jsonl import read_lines
from shadowprobe.queries.query import Ranking
from shadowprobe.running.retrieving import RetrievalSettings, make_retrieving_job

SILENT = """
from shadowprobe import Failure
from shadowprobe.retrieval import Retriever

class Silent(Retriever):
    batch_size = 2

    def index(self, documents):
        list(documents)

    def search(self, queries, k):
        return [Failure(query.id, "no index") for query in queries]
"""


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_collection(tmp_path / "little")
    write_retrievers(tmp_path)
    monkeypatch.chdir(tmp_path)


def stored() -> list[Ranking]:
    return [ranking for _, ranking in read_lines(OUT / "rankings.jsonl", Ranking)]


WRONG = [
    ("Raising", "retriever `telling` failed: RuntimeError: out of memory at mine.py:"),
    ("Leaving", "retriever `telling` failed: SystemExit: no licence"),
    ("TooFew", "retriever `telling` gave 1 rankings for 2 queries"),
    (
        "TooMany",
        "query 'a1': search() gave 4 documents, 4 of them different, where at most 3 different ones were asked",
    ),
    ("Twice", "query 'a1': search() gave 2 documents, 1 of them different"),
    ("Names", "query 'a1': search() gave 'avon-river-1', where Hit(ID OF THE DOCUMENT, SCORE) is called for"),
    ("NotANumber", "query 'a1': the document 'avon-river-1' has the score nan, which is no number"),
    ("Endless", "query 'a1': the document 'avon-river-2' has the score -inf, which is no number"),
    ("Wordy", "query 'a1': must be real number, not str"),
    ("Generating", "retriever `telling` failed: TypeError: object of type 'generator' has no len()"),
    ("NoIndex", "retriever `NoIndex` failed: NotImplementedError: NoIndex must define index()"),
]


@pytest.mark.parametrize(("kind", "words"), WRONG, ids=[kind for kind, _ in WRONG])
def test_a_retriever_that_does_not_keep_to_its_contract_is_told_so(kind: str, words: str) -> None:
    with pytest.raises(LinkerError) as refused:
        run(kind)
    assert words in str(refused.value)
    # Nothing that it gave is in the file, which the next run must be able to read.
    assert not (OUT / "rankings.jsonl").exists() or stored() == []


def test_a_retriever_may_find_nothing() -> None:
    finished = run("Nothing")
    assert stored()[0] == Ranking("a1", ())
    # To have found nothing is an answer, and wrong.
    assert finished.results["missing"] == 0
    assert finished.results["probes"]["amber"]["human"]["qa"]["neither"]["rate"] == 1.0


def test_a_retriever_that_cannot_be_closed_has_given_its_rankings_all_the_same() -> None:
    finished = run("Clinging")
    assert finished.results["missing"] == 0
    (note,) = (note for note in finished.results["notes"] if "close" in note)
    assert note.startswith("the retriever failed to close: OSError: still in use at mine.py:")


def test_numbers_may_be_numpys() -> None:
    run("Numpy")
    assert stored()[0] == Ranking("a1", ("7",), (0.5,))


def test_documents_that_the_collection_lacks_are_counted_in_a_note() -> None:
    gold, found = run("Numpy").results["notes"]
    # Of the nine gold documents the ship Dale; of the one document found that one.
    assert gold == "1 of the 9 documents that queries ask for are not in the collection `little`"
    assert found == "1 of the 1 documents found are not in the collection `little`"


def test_two_queries_of_one_id_are_refused() -> None:
    sets = [amber_set("X", entity([query("P19-0", "X?", "elbe")], head=True))]
    write_sets(Path("little/amber/human/qa/amber_sets.jsonl"), sets)
    with pytest.raises(UsageError, match="probe `entity_questions`: there is a second query 'P19-0'"):
        run(probes=())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ks": ()}, "-k: is a number of documents, and at least 1"),
        ({"ks": (0, 1)}, "-k: is a number of documents, and at least 1"),
        ({"ks": (1, 101)}, "--depth: is 100, and less than the largest -k, 101"),
        ({"seen": Path("none.txt")}, r"none\.txt: no such file: --seen lists titles or QIDs"),
    ],
)
def test_a_k_that_cannot_be_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ShadowprobeError, match=words):
        RetrievalSettings(**settings)


def test_a_k_may_be_as_large_as_the_depth(tmp_path: Path) -> None:
    assert RetrievalSettings(ks=(1, 100)).depth == 100
    (tmp_path / "seen.txt").touch()
    assert RetrievalSettings(ks=(1,), depth=1, seen=tmp_path / "seen.txt").ks == (1,)


def test_queries_may_come_from_elsewhere(tmp_path: Path) -> None:
    sets = write_sets(tmp_path / "else.jsonl", [amber_set("Elbe", entity([query("e", "Elbe?", "elbe")], head=True))])
    results = run(queries=sets).results
    assert results["probes"]["amber"]["sets"]["queries"]["queries"]["all"] == 1
    assert [ranking.id for ranking in stored()] == ["e"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"queries": Path("x"), "probes": ()}, "--queries: goes with one --probe, whose queries they are"),
        ({"queries": Path("x"), "probes": ["amber", "entity_questions"]}, "--queries: goes with one --probe"),
        (
            {"collection": "bare.jsonl"},
            "`bare` is a file of documents alone: give --probe, and its queries by --queries",
        ),
        ({"collection": "bare.jsonl", "probes": ()}, "`bare` is a file of documents alone"),
        ({"collection": "bare"}, "the collection `bare` has no queries for `amber`: give --queries"),
        ({"collection": "bare", "probes": ()}, "the collection `bare` has no queries: give --probe, and --queries"),
        ({"probes": ["ambigdocs"]}, "--probe ambigdocs: asks no retriever; those that do are amber, entity_questions"),
    ],
)
def test_queries_that_are_nowhere_are_missed_with_what_to_do(arguments: dict[str, Any], words: str) -> None:
    write_documents(Path("bare.jsonl"))
    write_documents(Path("bare/documents.jsonl"))
    with pytest.raises(UsageError) as refused:
        job(**arguments)
    assert words in str(refused.value)


def test_a_probe_that_cannot_be_loaded_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("broken_probe.py").write_text("import no_such_module\n")
    monkeypatch.syspath_prepend(".")
    point = EntryPoint("broken", "broken_probe:Broken", plugins.RETRIEVAL_PROBES)
    monkeypatch.setattr("shadowprobe.plugins.loading.find_entry_points", lambda group: [point])
    with pytest.raises(PluginError, match="no_such_module"):
        job(probes=["broken"])


def test_a_retriever_that_never_gives_a_ranking_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shadowprobe.running.job.HOPELESS", 4)
    Path("silent.py").write_text(SILENT)
    words = "retriever `Silent` failed on each of its first 4 queries, the last time with: no index"
    with pytest.raises(LinkerError, match=words):
        make_retrieving_job("silent.py:Silent", "little", probes=["amber"], out=Path("silent")).run()
    assert not Path("silent/results.json").exists()


def test_an_id_that_no_file_can_hold_is_refused_in_one_line() -> None:
    Path("odd.py").write_text(SILENT.replace('Failure(query.id, "no index")', '[("\\ud800", 1.0)]'))
    with pytest.raises(LinkerError, match=r"retriever `Silent`, query 'a1': .*surrogates not allowed"):
        make_retrieving_job("odd.py:Silent", "little", probes=["amber"], out=Path("odd")).run()


def test_a_retriever_that_has_once_given_a_ranking_may_fail_as_often_as_it_likes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shadowprobe.running.job.HOPELESS", 4)
    answer_first = '[("avon-ship", 1.0)] if query.id == "a1" else Failure(query.id, "no index")'
    Path("once.py").write_text(SILENT.replace('Failure(query.id, "no index")', answer_first))
    finished = make_retrieving_job("once.py:Silent", "little", probes=["amber"], out=Path("once")).run()
    # Nine queries, of which only the first has a ranking.
    assert (finished.outcome.answered, finished.outcome.failed, finished.results["missing"]) == (1, 8, 8)
