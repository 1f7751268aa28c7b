"""The report of retrievers as a file: what is packed into it, what its tables say, and when it is not written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from measured_runs import READ, write_retrieval
from page_reading import Read, unpack
from refusals import complaint, outcome
from retrieval_world import ANSWERED, FOUND, SETS, write_collection, write_sets

from shadowprobe import InputError, UsageError
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.query import Ranking
from shadowprobe.reporting.html.page import page
from shadowprobe.reporting.html.sets_data import pack_sets
from shadowprobe.reporting.published.retrieval import AMBER_SOURCE
from shadowprobe.reporting.run_summary import summarize
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.retrieving import RetrievingTask
from shadowprobe.running.stored import score_stored

HOSTILE = "</script><script>alert(1)</script><!-- <b>&amp;\u202e\N{CLAPPER BOARD}"


@pytest.fixture
def little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small collection, in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_collection(Path("little"))
    return Path("little")


@pytest.fixture
def runs(little: Path) -> list[FinishedRun]:
    """The retriever of the small world, which prefers the head, and one that finds the tail too."""
    places = [write_retrieval(Path("runs/confused"), little, {**FOUND, **ANSWERED})]
    places.append(write_retrieval(Path("runs/reader"), little, READ))
    return read_runs(places)


def of_query(data: dict[str, Any], system: int, column: str) -> dict[str, Any]:
    """A column of a system by the ids of the queries."""
    ids = [data["strings"][number] for number in data["queries"]["id"]]
    return dict(zip(ids, data["systems"][system][column], strict=True))


def test_every_query_has_its_outcome(runs: list[FinishedRun]) -> None:
    data = unpack(pack_sets(runs, "little"))
    names = [name for name, _ in data["outcomes"]]
    outcomes = [{query: names[code] for query, code in of_query(data, n, "outcome").items()} for n in (0, 1)]
    assert outcomes[0] == {
        "a1": "right",
        "a2": "namesake first",
        "a3": "namesake first",
        "b1": "namesake first",
        "b2": "right",
        "c1": "right",
        "c2": "namesake first",
        "d1": "no ranking",
        "d2": "not found",
    }
    # A document that is nobody's of the name stands above the river Avon's.
    assert {query: found for query, found in outcomes[1].items() if found != "right"} == {
        "a1": "other document first",
        "d2": "not found",
    }


def test_ranks_count_articles_and_say_which_namesake_it_is(runs: list[FinishedRun]) -> None:
    data = unpack(pack_sets(runs, "little"))
    ranks, rivals = of_query(data, 0, "rank"), of_query(data, 0, "rival")
    # After two passages of the river the ship is second; the lake's two articles stand second and third.
    assert (ranks["a3"], rivals["a3"]) == (2, 1)
    assert (ranks["c2"], rivals["c2"]) == (4, 2)
    assert (ranks["d2"], rivals["d2"], ranks["d1"], rivals["d1"]) == (0, 0, 0, 0)
    named = of_query(data, 0, "rival_title")
    assert data["strings"][named["c2"]] == "como-lake-a"
    # What stands first is told where it is neither of the two.
    first = of_query(data, 0, "first")
    assert {query: data["strings"][code] for query, code in first.items() if code >= 0} == {"c2": "Elbe", "d2": "Elbe"}


def test_the_outcomes_add_up_to_the_rates_of_the_probe(runs: list[FinishedRun]) -> None:
    data = unpack(pack_sets(runs, "little"))
    names = [name for name, _ in data["outcomes"]]
    for number, run in enumerate(runs):
        found = run.results["probes"]["amber"]["human"]["qa"]
        codes = data["systems"][number]["outcome"]
        assert codes.count(names.index("right")) == pytest.approx(9 * found["accuracy"]["1"]["all"]["rate"])
        assert codes.count(names.index("namesake first")) == pytest.approx(9 * found["confusion"]["all"]["rate"])


def test_entities_are_marked_as_head_or_tail(runs: list[FinishedRun]) -> None:
    data = unpack(pack_sets(runs, "little"))
    entities, strings = data["entities"], data["strings"]
    shown = list(zip((strings[n] for n in entities["title"]), entities["head"], entities["popularity"], strict=True))
    assert shown[:2] == [("avon-river", 1, 6.0), ("avon-ship", 0, 5.0)]
    assert shown[5] == ("como-ship", 0, None)


def test_the_tables_show_the_numbers_worked_out_by_hand(runs: list[FinishedRun]) -> None:
    tables = Read(page(runs, "little")).tables
    assert list(tables) == [
        "table-systems",
        "table-amber-human-1",
        "table-amber-human-2",
        "table-amber-human-confusion",
        "table-questions",
        "table-pairs",
    ]

    def rates(name: str) -> list[list[str]]:
        return [[row[0], row[1], *(cell.partition(" ")[0] for cell in row[2:])] for row in tables[f"table-{name}"]]

    # Head 2 of 4 and tail 1 of 5; no set has every query right. The reader: head 3 of 4, tail 4 of 5, Berg and Como.
    assert rates("amber-human-1") == [
        ["task", "system", "all", "head", "tail", "∀", "head"],
        ["question answering", "confused", "33.3", "50.0", "20.0", "0.0", "+30.0"],
        ["question answering", "reader", "77.8", "75.0", "80.0", "50.0", "-5.0"],
    ]
    assert rates("amber-human-confusion")[1:] == [
        ["question answering", "confused", "25.0", "60.0", "22.2"],
        ["question answering", "reader", "0.0", "0.0", "11.1"],
    ]
    # P19 1 of 3 and 2 of 3, P20 its one question; the reader was asked, and has no ranking for any of them.
    assert tables["table-questions"] == [
        [
            *("relation", "property", "question", "n"),
            *("confused, first 1", "confused, first 2", "reader, first 1", "reader, first 2"),
        ],
        ["P19", "place of birth", "Where was [E] born?", "3", "33.3", "66.7", "0.0", "0.0"],
        ["P20", "place of death", "Where did [E] die?", "1", "100.0", "100.0", "0.0", "0.0"],
        ["macro", "", "mean over the relations", "", "66.7", "83.3", "0.0", "0.0"],
        ["micro", "", "over all questions", "4", "50.0", "75.0", "0.0", "0.0"],
    ]
    # Wilson's intervals of 2, 3 and 0 of 4.
    intervals = "confused, 15–85 among the first 1, confused, 30–95 among the first 2, reader, 0–49 among the first 1"
    assert intervals in page(runs, "little")


def test_the_first_screen_has_the_headline_figures_of_retrievers_and_their_differences(runs: list[FinishedRun]) -> None:
    written = Read(page(runs, "little"))
    heading, confused, reader = written.tables["table-systems"]
    assert heading[2:] == ["people, head @1", "people, tail @1", "questions @1"]
    assert [cell.partition(" ")[0] for cell in confused[2:]] == ["50.0%", "20.0%", "50.0%"]
    assert [cell.partition(" ")[0] for cell in reader[2:]] == ["75.0%", "80.0%", "0.0%"]
    # Too few queries for any difference.
    assert "no difference was found on" in " ".join(written.texts["li"] + written.texts["bdi"])


def test_published_rows_are_marked_and_name_their_source(little: Path) -> None:
    place = write_retrieval(Path("runs/confused"), little, {**FOUND, **ANSWERED}, ks=(1, 20))
    runs = read_runs([place])
    content = page(runs, "little", published=True)
    tables = Read(content).tables
    # Table 5 of the paper, question answering on people; Table 6; Table 5 of EntityQuestions.
    assert tables["table-amber-human-1"][4] == ["question answering", "BLINK †", "31.7", "40.5", "24.6", "6.6", "–"]
    assert tables["table-amber-human-20"][2][:4] == ["question answering", "TF-IDF †", "72.6", "82.0"]
    assert tables["table-amber-human-confusion"][3] == ["question answering", "DPR †", "2.6", "27.0", "–"]
    questions = tables["table-questions"]
    assert questions[0][6:] == ["DPR (NQ) †, first 20", "DPR (multi) †, first 20", "BM25 †, first 20"]
    assert questions[1][6:] == ["25.4", "41.8", "75.3"]
    assert questions[-1] == ["NQ †", "", "Natural Questions", "", "–", "–", "80.1", "79.4", "64.4"]
    assert AMBER_SOURCE in content
    assert "†" not in page(runs, "little")


def test_the_verdict_says_in_how_many_tasks_the_tail_falls_short(little: Path) -> None:
    heads = {"a1": ("avon-river-1",), "b1": ("berg-river",), "c1": ("como-lake-a",), "d1": ("dale-river",)}
    places = [write_retrieval(Path("runs/heads"), little, heads), write_retrieval(Path("runs/reader"), little, READ)]
    first, second = read_runs(places)
    # Every head query is right and every tail query wrong, whichever sets are drawn.
    assert summarize(first.results).verdict == (
        "finds the less popular namesake less often in 1 of 1 tasks than the popular one: head minus tail accuracy@1 is"
        " +100.0 points (+100.0 to +100.0; people, question answering), with 95% intervals."
    )
    assert str(summarize(second.results).verdict).startswith(
        "finds the less popular namesake about as often as the popular one, no difference being certain in any of 1"
        " tasks: head minus tail accuracy@1 is -5.0 points ("
    )


def results_of_tasks(parts: dict[str, Any]) -> dict[str, Any]:
    """The results of a retriever with these findings in the tasks of AmbER."""
    return {
        "retriever": {"name": "x", "options": {}},
        "collection": {"name": "little"},
        "settings": {"k": [1]},
        "missing": 0,
        "notes": [],
        "probes": {"amber": parts},
    }


def gap(difference: float, low: float, high: float, verdict: str) -> dict[str, Any]:
    figures = {"difference": difference, "ci95": [low, high]}
    return {"sets": 1, "entities": 2, "gap": figures, "verdict": verdict}


def test_the_verdict_of_several_tasks_has_the_least_and_the_greatest_gap() -> None:
    parts = {
        "human": {"fc": gap(0.2, 0.1, 0.3, "head"), "qa": gap(0.4, 0.2, 0.6, "head")},
        "nonhuman": {"sf": gap(-0.1, -0.2, -0.05, "tail"), "qa": gap(0.01, -0.1, 0.1, "undecided")},
    }
    assert summarize(results_of_tasks(parts)).verdict == (
        "finds the less popular namesake less often in 2 and more often in 1 of 4 tasks than the popular one, no"
        " difference being certain in the other 1: head minus tail accuracy@1 runs from -10.0 points (-20.0 to -5.0;"
        " things, slot filling) to +40.0 points (+20.0 to +60.0; people, question answering), with 95% intervals."
    )


def test_results_of_an_earlier_version_name_the_command_that_adds_the_verdict() -> None:
    parts = {"human": {"qa": {"sets": 1, "entities": 2, "gap": {"difference": 0.2, "ci95": [0.1, 0.3]}}}}
    assert summarize(results_of_tasks(parts)).verdict == (
        "was measured by an earlier version, which gives no verdict (`shadowprobe retrieve --predictions` does): head"
        " minus tail accuracy@1 is +20.0 points (+10.0 to +30.0; people, question answering), with 95% intervals."
    )


def test_without_amber_the_verdict_says_so_and_there_are_no_sets(little: Path) -> None:
    place = write_retrieval(Path("runs/asked"), little, ANSWERED, probes=["entity_questions"])
    (run,) = read_runs([place])
    # Two of four at the first document.
    assert str(summarize(run.results).verdict).startswith(
        "was not asked whether it finds the less popular namesake; it finds an answer in the first document for 50.0%"
    )
    written = Read(page([run]))
    assert "runs/asked was not asked `amber`." in written.texts["bdi"]
    assert list(written.tables) == ["table-systems", "table-questions"]
    assert written.data is None


def test_sets_that_are_not_at_hand_are_left_out_with_the_reason(runs: list[FinishedRun]) -> None:
    written = Read(page(runs))
    said = "the collection `little` is not where the run had it; --dataset says where it is."
    assert said in written.texts["bdi"]
    assert written.data is None
    assert ("form", {"id": "filters", "hidden": None}) not in written.elements
    assert "table-amber-human-1" in written.tables


def test_a_run_without_rankings_has_no_browser(runs: list[FinishedRun]) -> None:
    Path("runs/reader/rankings.jsonl").unlink()
    with pytest.raises(InputError, match=r"runs/reader: has no rankings\.jsonl"):
        page(runs, "little")


def test_a_collection_or_sets_that_are_others_are_refused(runs: list[FinishedRun]) -> None:
    write_sets(Path("other/amber_sets.jsonl"), SETS[:1])
    with pytest.raises(InputError, match="other: has other queries of `amber` than runs/confused"):
        page(runs, "little", Path("other"))
    with pytest.raises(InputError, match=r"documents\.jsonl: is not what runs/confused is over"):
        page(runs, "namesakes")


def test_sets_can_lie_apart_from_their_documents(little: Path) -> None:
    place = write_retrieval(Path("runs/confused"), little, FOUND, probes=["amber"])
    runs = read_runs([place])
    with pytest.raises(UsageError, match="`documents` is a file of documents alone; --queries says where"):
        page(runs, "little/documents.jsonl")
    assert Read(page(runs, "little/documents.jsonl", Path("little/amber"))).data["systems"][0]["label"] == "confused"


def test_a_run_tells_where_its_documents_and_queries_were(little: Path) -> None:
    Path("apart").mkdir()
    Path("little/amber").rename("apart/amber")
    stored = Path("stored.jsonl")
    stored.write_bytes(encode_lines([Ranking(query, tuple(found)) for query, found in FOUND.items()]))
    task = RetrievingTask("little/documents.jsonl", probes=["amber"], queries=Path("apart/amber"))
    scored = score_stored(task, stored, name="confused")
    (run,) = read_runs([scored.out])
    assert Read(page([run])).data["systems"][0]["label"] == "confused"
    Path("apart").rename("elsewhere")
    reason = "apart/amber does not exist any more; --queries says where the queries of `amber` are."
    assert reason in Read(page([run])).texts["bdi"]
    assert Read(page([run], None, Path("elsewhere/amber"))).data["systems"][0]["label"] == "confused"


def test_markup_in_the_data_stays_text(little: Path) -> None:
    sets = json.loads(json.dumps(SETS[:1]).replace("Where does Avon rise?", "@"))
    sets[0]["name"] = HOSTILE
    sets[0]["qids"]["Q1"]["queries"][0]["input"] = HOSTILE
    write_sets(little / "amber/human/qa/amber_sets.jsonl", sets)
    place = write_retrieval(Path("runs/confused"), little, {"a1": (HOSTILE,)})
    written = Read(page(read_runs([place], names=[HOSTILE]), "little"))
    assert [written.scripts, written.count("style"), written.count("b")] == [1, 1, 0]
    assert written.data["systems"][0]["label"] == HOSTILE
    assert HOSTILE in written.data["strings"]
    assert written.texts["title"] == [f"{HOSTILE} on little"]


def test_the_figures_that_can_be_drawn_are_in_the_report(runs: list[FinishedRun]) -> None:
    figures = [attributes["id"] for tag, attributes in Read(page(runs, "little")).elements if tag == "img"]
    named = ["head-tail", "confusion", "retrieval-gap", "long-tail", "questions"]
    assert figures == [f"figure-{name}" for name in named]


def test_the_same_runs_give_the_same_file(runs: list[FinishedRun]) -> None:
    assert page(runs, "little") == page(runs, "little")


def test_runs_over_other_documents_or_queries_do_not_stand_side_by_side(runs: list[FinishedRun]) -> None:
    write_collection(Path("other"))
    write_sets(Path("other/amber/human/qa/amber_sets.jsonl"), SETS[:1])
    asked = read_runs([write_retrieval(Path("runs/asked"), Path("other"), FOUND)])
    with pytest.raises(UsageError, match="runs/asked has other queries for `amber` than runs/confused"):
        page([*runs, *asked])
    with Path("other/documents.jsonl").open("a") as file:
        file.write('{"id": "new", "title": "New", "text": ""}\n')
    found = read_runs([write_retrieval(Path("runs/found"), Path("other"), FOUND)])
    with pytest.raises(UsageError, match=r"over different documents: runs/confused over .*, runs/found over"):
        page([*runs, *found])


@pytest.mark.usefixtures("runs")
def test_the_command_writes_the_report_of_retrievers(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, "report", "runs/confused", "--dataset", "little")
    assert (code, out, err) == (0, "", "Written to runs/confused/report.html\n")
    assert complaint(capsys, "report", "runs/confused").startswith(
        "runs/confused/report.html exists; give another --out"
    )
    names = ("--name", "one", "--name", "two")
    assert outcome(capsys, "report", "runs/confused", "runs/reader", "--dataset", "little", *names)[0] == 0
    systems = Read(Path("report.html").read_text(encoding="utf-8")).data["systems"]
    assert [system["label"] for system in systems] == ["one", "two"]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("runs/confused", "runs/nil", "--queries", "little"), "--queries: goes with the report of runs over the same"),
        (("runs/nil", "--published"), "--published: goes with runs of retrievers"),
        (("runs/nil", "--queries", "little"), "--queries: goes with runs of retrievers and language models"),
        (
            ("runs/confused", "runs/reader", "--name", "a", "--name", "a"),
            "two runs are called 'a': give each a --name of",
        ),
        (("runs/confused", "--name", "a", "--name", "b"), "2 names for 1 runs"),
        (("runs/confused", "--dataset", "nowhere"), "unknown collection `nowhere`"),
        (("runs/none",), "runs/none: no such run directory"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert outcome(capsys, "run", "--linker", "nil", "--limit", "1", "--out", "runs/nil")[0] == 0
    assert complaint(capsys, "report", *arguments).startswith(words)


@pytest.mark.slow
def test_the_report_of_two_retrievers_over_the_built_in_collection_is_below_3_mb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for retriever in ("bm25", "tfidf"):
        assert outcome(capsys, "retrieve", "--retriever", retriever)[0] == 0
    assert outcome(capsys, "report", "runs/bm25-namesakes", "runs/tfidf-namesakes", "--published")[0] == 0
    assert Path("report.html").stat().st_size < 3_000_000
    data = Read(Path("report.html").read_text(encoding="utf-8")).data
    counts = json.loads(Path("runs/bm25-namesakes/results.json").read_text())["probes"]["amber"]
    asked = sum(part["queries"]["all"] for tasks in counts.values() for part in tasks.values())
    assert len(data["queries"]["id"]) == asked
