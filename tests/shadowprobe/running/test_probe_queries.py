"""The queries that probes bring, and what a run has stored for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from retrieval_world import write_collection

from shadowprobe import InputError, UsageError
from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Query, Ranking
from shadowprobe.running.probe_queries import choose_probes, gather_queries, load_probes, read_own_lines


@pytest.fixture
def little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collection:
    monkeypatch.chdir(tmp_path)
    return write_collection(Path("little"))


def names(base: type[RankingProbe], chosen: tuple[str, ...], collection: Collection) -> list[str]:
    return [probe.name for probe in choose_probes(base, chosen, collection)]


def test_the_probes_are_those_that_are_named_or_those_with_queries_in_the_collection(little: Collection) -> None:
    assert names(RankingProbe, (), little) == ["amber", "entity_questions"]
    assert names(RankingProbe, ("entity_questions",), little) == ["entity_questions"]
    for file in Path("little/entity_questions").iterdir():
        file.unlink()
    Path("little/entity_questions").rmdir()
    assert names(RankingProbe, (), little) == ["amber"]
    Path("little/amber").rename("amber")
    with pytest.raises(UsageError, match="the collection `little` has no queries: give --probe, and --queries"):
        names(RankingProbe, (), little)


def test_a_probe_of_another_kind_is_refused_with_those_that_fit(little: Collection) -> None:
    with pytest.raises(UsageError) as refused:
        names(RankingProbe, ("ambigdocs",), little)
    assert str(refused.value).startswith("--probe ambigdocs: asks no ")
    assert "amber, entity_questions" in str(refused.value)


def test_queries_come_from_the_collection_or_from_a_file_for_one_probe(little: Collection) -> None:
    both = choose_probes(RankingProbe, (), little)
    digests = load_probes(both, little, None)
    assert list(digests) == ["amber", "entity_questions"]
    # The same queries elsewhere have the same digest.
    Path("little/amber").rename("elsewhere")
    assert load_probes(both[:1], little, Path("elsewhere")) == {"amber": digests["amber"]}
    with pytest.raises(UsageError, match="--queries: goes with one --probe, whose queries they are"):
        load_probes(both, little, Path("elsewhere"))
    with pytest.raises(UsageError, match="the collection `little` has no queries for `amber`: give --queries"):
        load_probes(both[:1], little, None)


@pytest.mark.usefixtures("little")
def test_a_file_of_documents_alone_has_no_queries() -> None:
    alone = open_collection("little/documents.jsonl")
    probes = choose_probes(RankingProbe, ("amber",), alone)
    with pytest.raises(UsageError, match="`documents` is a file of documents alone: give --probe, and its queries by"):
        load_probes(probes, alone, None)


def test_no_two_queries_share_an_id() -> None:
    one, two = Query("1", "a"), Query("2", "b")
    assert gather_queries([("x", [one]), ("y", [two])]) == {"1": one, "2": two}
    with pytest.raises(UsageError, match="probe `y`: there is a second query '1'"):
        gather_queries([("x", [one]), ("y", [two, one])])


def test_stored_lines_are_of_known_queries_each_once(tmp_path: Path) -> None:
    path = tmp_path / "rankings.jsonl"
    path.write_text('{"id": "1", "documents": ["x"]}\n{"id": "2", "documents": []}\n')
    stored = {"1": Ranking("1", ("x",)), "2": Ranking("2", ())}
    assert read_own_lines(path, Ranking, {"1", "2", "3"}, torn=False) == stored
    assert read_own_lines(path, Ranking, None, torn=False) == stored
    with pytest.raises(InputError, match=r"rankings\.jsonl:2: field `id`: '2' is no query of this run"):
        read_own_lines(path, Ranking, {"1"}, torn=False)
    path.write_text(path.read_text() + '{"id": "1", "documents": []}\n')
    with pytest.raises(InputError, match=r"rankings\.jsonl:3: field `id`: '1' is answered twice"):
        read_own_lines(path, Ranking, None, torn=False)
    # What a kill left of a last line.
    path.write_text('{"id": "1", "documents": ["x"]}\n{"id": "2", "docu')
    assert read_own_lines(path, Ranking, None, torn=True) == {"1": stored["1"]}
    with pytest.raises(InputError):
        read_own_lines(path, Ranking, None, torn=False)
