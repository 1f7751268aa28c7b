"""Stored rankings, of our own or in KILT's form, measured without asking anybody."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clues import results_of
from refusals import contents
from retrieval_world import (
    DOCUMENTS,
    FOUND,
    amber_set,
    as_kilt,
    entity,
    query,
    write_collection,
    write_documents,
    write_sets,
)

from shadowprobe import Dataset, InputError, Settings, UsageError
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.queries.query import Ranking
from shadowprobe.running.job import FinishedJob
from shadowprobe.running.linking import LinkingTask
from shadowprobe.running.retrieving import RetrievalSettings, RetrievingTask, make_retrieving_job
from shadowprobe.running.stored import score_stored

SETTINGS = RetrievalSettings(ks=(1, 2))
RANKINGS = [Ranking(query_id, documents) for query_id, documents in FOUND.items()]
FORMS: dict[str, Callable[[Ranking], Any]] = {"own": lambda ranking: ranking, "kilt": as_kilt}


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_collection(tmp_path / "little")
    monkeypatch.chdir(tmp_path)


def predictions(form: str = "own", rankings: list[Ranking] = RANKINGS) -> Path:
    path = Path("theirs.jsonl")
    path.write_bytes(encode_lines(map(FORMS[form], rankings)))
    return path


def score(path: Path, *, out: Path | None = None, force: bool = False, **more: Any) -> FinishedJob:
    arguments: dict[str, Any] = {"collection": "little", "probes": ["amber"], "settings": SETTINGS, **more}
    name = arguments.pop("name", None)
    return score_stored(RetrievingTask(**arguments), path, name=name, out=out, force=force)


@pytest.mark.parametrize("form", FORMS)
def test_both_forms_are_measured_alike(form: str) -> None:
    finished = score(predictions(form))
    part = finished.results["probes"]["amber"]["human"]["qa"]
    # Worked out in the tests of the probe.
    assert [part["accuracy"][k]["all"]["rate"] for k in ("1", "2")] == [3 / 9, 6 / 9]
    assert part["all_correct"]["2"]["rate"] == 2 / 4
    assert part["confusion"]["tail"]["rate"] == 3 / 5
    assert finished.results["missing"] == 1
    assert finished.results["retriever"] == {"name": "theirs", "version": "", "options": {}}
    assert finished.out == Path("runs/theirs-little")
    assert json.loads((finished.out / "results.json").read_text()) == finished.results


def test_the_copy_beside_the_results_keeps_the_scores() -> None:
    rankings = [
        Ranking(one.id, one.documents, tuple(range(len(one.documents), 0, -1))) for one in RANKINGS if one.documents
    ]
    finished = score(predictions(rankings=rankings))
    assert [one for _, one in read_lines(finished.out / "rankings.jsonl", Ranking)] == rankings


def test_documents_that_stand_twice_are_counted_once_as_in_ambers_own_evaluation() -> None:
    # The article comes three times, as passages do, before the one that is asked for; "None" is no article.
    page = {"wikipedia_id": "avon-river"}
    line = {
        "id": "a2",
        "output": {"provenance": [page, page, {"wikipedia_id": "None"}, page, {"wikipedia_id": "avon-ship"}]},
    }
    Path("kilt.jsonl").write_text(json.dumps(line))
    accuracy = score(Path("kilt.jsonl")).results["probes"]["amber"]["human"]["qa"]["accuracy"]
    assert (accuracy["1"]["all"]["rate"], accuracy["2"]["all"]["rate"]) == (0.0, 1 / 9)


def drawn(lottery: random.Random) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Sets of two or three namesakes with one to three queries each, and pages found by lot, some of them twice."""
    sets, found = [], {}
    for number in range(40):
        entities = []
        for place in range(lottery.choice((2, 3))):
            pages = [f"{number}-{place}-{n}" for n in range(lottery.choice((1, 2)))]
            queries = [query(f"{number}-{place}-{n}", "?", *pages) for n in range(lottery.randint(1, 3))]
            entities.append(entity(queries, *pages, head=place == 0))
        sets.append(amber_set(f"Name {number}", *entities))
        known = [page["wikipedia_id"] for each in entities for page in each["wikipedia"]]
        for each in entities:
            for asked in each["queries"]:
                found[asked["id"]] = lottery.choices([*known, "None", "other"], k=lottery.randint(0, 9))
    return sets, found


@pytest.mark.parametrize("k", [1, 2, 3])
def test_figures_are_those_of_ambers_own_evaluation(k: int) -> None:
    sets, found = drawn(random.Random(k))
    path = write_sets(Path("data/human/qa/amber_sets.jsonl"), sets)
    lines = [
        {"id": one, "output": {"provenance": [{"wikipedia_id": p} for p in pages]}} for one, pages in found.items()
    ]
    Path("kilt.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    part = score(Path("kilt.jsonl"), queries=path, settings=RetrievalSettings(ks=(k,))).results["probes"]["amber"][
        "human"
    ]["qa"]

    # Their rule: an article counts once, "None" is none, and of what is left the first k must hold a gold one.
    def right(asked: dict[str, Any]) -> bool:
        pages = [page for page in dict.fromkeys(found[asked["id"]]) if page != "None"]
        return any(page["wikipedia_id"] in pages[:k] for page in asked["output"]["provenance"])

    hits = [[(each["is_head"], right(q)) for each in one["qids"].values() for q in each["queries"]] for one in sets]
    flat = [hit for of_set in hits for hit in of_set]
    for group, members in {
        "all": [hit for _, hit in flat],
        "head": [hit for head, hit in flat if head],
        "tail": [hit for head, hit in flat if not head],
    }.items():
        assert part["accuracy"][str(k)][group]["rate"] == pytest.approx(sum(members) / len(members))
    consistent = [all(hit for _, hit in of_set) for of_set in hits]
    assert part["all_correct"][str(k)]["rate"] == pytest.approx(sum(consistent) / 40)


def test_what_lies_below_the_depth_is_not_read() -> None:
    path = predictions("kilt", [Ranking("c2", ("elbe", "berg-song", "como-ship"))])
    deep, shallow = (
        score(path, settings=RetrievalSettings(ks=(1,), depth=depth), force=True).results["probes"]["amber"]["human"][
            "qa"
        ]
        for depth in (3, 2)
    )
    # c2 and eight queries without a ranking.
    assert deep["neither"]["rate"] == 8 / 9
    assert shallow["neither"]["rate"] == 9 / 9


def test_rankings_of_other_queries_are_passed_over() -> None:
    finished = score(predictions(rankings=[*RANKINGS, Ranking("z9", ("elbe",))]))
    assert finished.results["missing"] == 1


def test_rankings_of_nothing_but_other_queries_are_refused() -> None:
    with pytest.raises(InputError, match=r"theirs\.jsonl: has no ranking for any of the 9 queries"):
        score(predictions(rankings=[Ranking("z9", ("elbe",))]))
    Path("empty.jsonl").touch()
    with pytest.raises(InputError, match="has no ranking for any of the 9 queries"):
        score(Path("empty.jsonl"))
    assert not Path("runs").exists()


def test_documents_of_another_collection_are_counted_in_a_note() -> None:
    finished = score(predictions(rankings=[Ranking("a1", ("307", "308", "elbe"))]))
    assert "2 of the 3 documents found are not in the collection `little`" in finished.results["notes"]


def run(out: str = "run", collection: str = "little") -> FinishedJob:
    return make_retrieving_job("bm25", collection, probes=["amber"], out=Path(out), settings=SETTINGS).run()


def test_a_run_is_measured_again_with_what_it_says_of_itself() -> None:
    ran = run()
    scored = score(Path("run"), out=Path("scored"))
    assert (scored.results, scored.out) == (ran.results, Path("scored"))


def test_a_run_is_measured_in_place_unless_it_gets_another_name() -> None:
    run()
    assert score(Path("run")).out == Path("run")
    assert score(Path("run"), name="other").out == Path("runs/other-little")


def test_a_run_may_be_measured_in_place_and_keeps_its_card() -> None:
    run()
    before = contents(Path("run"))
    score(Path("run"), out=Path("run"))
    assert contents(Path("run")) == before


def test_a_run_over_another_collection_is_refused() -> None:
    run()
    write_documents(Path("other/documents.jsonl"), DOCUMENTS[1:])
    Path("little/amber").rename("other/amber")
    with pytest.raises(InputError, match=r"run\.json: field `collection`: the run is over `little` \("):
        score(Path("run"), collection="other")


def test_results_that_are_there_are_not_written_over_unless_forced() -> None:
    first = score(predictions()).out / "results.json"
    before = first.read_bytes()
    with pytest.raises(UsageError, match=r"runs/theirs-little/results\.json exists; give another --out, or --force"):
        score(predictions(rankings=RANKINGS[:1]))
    assert first.read_bytes() == before
    score(predictions(rankings=RANKINGS[:1]), force=True)
    assert first.read_bytes() != before


def test_a_file_beside_results_of_somebody_does_not_write_over_them() -> None:
    run()
    before = contents(Path("run"))
    predictions().rename("run/theirs.jsonl")
    with pytest.raises(UsageError, match=r"run/results\.json exists"):
        score(Path("run/theirs.jsonl"), out=Path("run"))
    Path("run/theirs.jsonl").unlink()
    assert contents(Path("run")) == before


def test_a_directory_without_rankings_is_refused() -> None:
    Path("nothing").mkdir()
    with pytest.raises(InputError, match=r"nothing/rankings\.jsonl: no such file"):
        score(Path("nothing"))


def test_entity_questions_are_measured_from_stored_rankings() -> None:
    path = predictions("kilt", [Ranking("P19-2", ("elbe",)), Ranking("P20-0", ("elbe",))])
    found = score(path, probes=["entity_questions"]).results["probes"]["entity_questions"]
    assert found["micro"]["accuracy"]["1"] == 1 / 4
    assert found["macro"]["1"] == (1 / 3 + 0) / 2


def edit_results(**entries: Any) -> None:
    path = Path("run/results.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"queries": {}}, "its queries amber is None, not "),
        ({"queries": {"amber": "0"}}, "its queries amber is '0', not "),
        ({"collection": {"name": "big"}}, "its collection name is 'big', not 'little'"),
    ],
)
def test_results_over_another_part_are_replaced_only_where_the_run_is_named(entries: Any, words: str) -> None:
    ran = run()
    edit_results(**entries)
    with pytest.raises(UsageError) as refused:
        score(Path("run"))
    assert str(refused.value).startswith(f"run/results.json: {words}")
    assert str(refused.value).endswith("; give the options of the run, or --out DIR")
    # Under another name nothing is replaced.
    score(Path("run"), name="other")
    assert score(Path("run"), out=Path("run")).results == ran.results
    assert score(Path("run")).results == ran.results


def test_results_that_are_damaged_or_gone_are_replaced() -> None:
    ran = run()
    Path("run/results.json").unlink()
    assert score(Path("run")).results == ran.results
    Path("run/results.json").write_text("{")
    assert score(Path("run")).results == ran.results


def test_notes_of_a_run_stay_with_its_answers() -> None:
    run()
    card = json.loads(Path("run/run.json").read_text())
    Path("run/run.json").write_text(json.dumps({**card, "notes": ["a note"]}))
    scored = score(Path("run"), out=Path("scored"))
    assert scored.results["notes"][0] == "a note"
    assert json.loads(Path("scored/run.json").read_text())["notes"] == ["a note"]
    # What belonged to earlier answers does not stay beside these.
    Path("scored/debias.json").touch()
    score(Path("run"), out=Path("scored"), force=True)
    assert not Path("scored/debias.json").exists()


def test_the_variants_of_a_linkers_run_are_measured_again_and_a_file_alone_has_none(
    world: Dataset, tmp_path: Path
) -> None:
    before = results_of(world, tmp_path, Settings(also=("masked_mention",)))["probes"]
    assert before["masked_mention"]["top"]["accuracy"] == 1.0
    scored = score_stored(LinkingTask(world), tmp_path / "run", out=tmp_path / "scored").results["probes"]
    assert scored == before
    (tmp_path / "run" / "run.json").unlink()
    alone = score_stored(LinkingTask(world), tmp_path / "run", out=tmp_path / "alone").results["probes"]
    assert before.keys() - alone.keys() == {"masked_mention"}
