"""The report of language models as a file: what is packed into it, what its tables say, and when it is not written."""

from __future__ import annotations

from pathlib import Path

import pytest
from measured_runs import SAID, write_answers, write_questions_about_namesakes
from namesake_sets import AVON, AVON_SAID, COMO, ambig_set, write_sets
from page_reading import Read, unpack
from refusals import complaint, outcome

from shadowprobe import InputError, UsageError
from shadowprobe.queries.document_order import DocumentOrder
from shadowprobe.reporting.html.answers_data import pack_answers
from shadowprobe.reporting.html.page import page
from shadowprobe.reporting.run_summary import summarize
from shadowprobe.running.answering import AnsweringTask
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.stored import score_stored

HOSTILE = "</script><script>alert(1)</script><!-- <b>&amp;\u202e\N{CLAPPER BOARD}"


@pytest.fixture
def queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The three sets, in the working directory."""
    monkeypatch.chdir(tmp_path)
    return write_questions_about_namesakes(Path())


@pytest.fixture
def runs(queries: Path) -> list[FinishedRun]:
    """A model whose answers are partial, merged and complete, and one that says nothing and fails on one."""
    places = [write_answers(Path("runs/talker"), queries, SAID)]
    places.append(write_answers(Path("runs/mute"), queries, {AVON.id: "I do not know."}))
    Path("runs/mute/failures.jsonl").write_text('{"id": "como", "error": "time-out"}\n')
    return read_runs(places)


def test_every_answer_has_its_category_as_the_probe_gives_it(runs: list[FinishedRun], queries: Path) -> None:
    data = unpack(pack_answers(runs, queries))
    names = [name for name, _ in data["categories"]]
    categories = [[names[code] for code in system["category"]] for system in data["systems"]]
    assert categories == [["partial", "merged", "complete"], ["no answer"] * 3]
    said = [data["passages"][code] if code >= 0 else None for code in data["systems"][0]["answer"]]
    assert said == list(SAID.values())
    # Of the river Avon everything; of the ship its name and none of its answer.
    assert data["systems"][0]["recalls"][0] == [50, 100, 50]
    assert data["systems"][0]["recalls"][2] == [100, 100, 100]


def test_an_answer_that_is_not_there_has_its_error_beside_it(runs: list[FinishedRun], queries: Path) -> None:
    data = unpack(pack_answers(runs, queries))
    assert data["systems"][1]["answer"][1:] == [-1, -1]
    assert data["systems"][1]["errors"] == {"2": "time-out"}


def test_questions_and_documents_come_out_as_they_went_in(runs: list[FinishedRun], queries: Path) -> None:
    data = unpack(pack_answers(runs, queries))
    strings, passages = data["strings"], data["passages"]
    assert [strings[code] for code in data["sets"]["name"]] == ["Avon", "Berg", "Como"]
    documents = data["sets"]["documents"][0]
    assert [[strings[title], passages[text], strings[answers]] for title, text, answers in documents] == [
        ["Avon (river)", "All that is known of Avon (river).", "Bristol Channel"],
        ["Avon (ship)", "All that is known of Avon (ship).", "Falmouth harbour"],
    ]


def test_the_tables_show_the_numbers_worked_out_by_hand(runs: list[FinishedRun], queries: Path) -> None:
    tables = Read(page(runs, queries=queries)).tables
    rates = {row[0]: row[2].partition(" ")[0] for row in tables["table-categories"][1:]}
    assert rates == {
        "complete": "33.3%",
        "partial": "33.3%",
        "no answer": "0.0%",
        "ambiguous": "0.0%",
        "merged": "33.3%",
    }
    sizes = ("all", "2 documents", "3 documents")
    assert tables["table-categories"][0][2:] == [f"{name}, {size}" for name in ("talker", "mute") for size in sizes]
    # Two sets of two documents, one of three; the two systems are next to each other, and the counts come last.
    assert [[*row[:2], row[-1]] for row in tables["table-recall"][1:]] == [
        [label, *sizes] for sizes in (("all", "3"), ("2", "2"), ("3", "1")) for label in ("talker", "mute")
    ]
    assert tables["table-recall"][5][2:5] == ["100.0% (100.0 to 100.0)"] * 3


def test_the_report_shows_whether_the_first_document_is_favoured(tmp_path: Path, queries: Path) -> None:
    run = write_answers(tmp_path / "ordered", queries, SAID, DocumentOrder("given"))
    written = Read(page(read_runs([run]), queries=queries))
    # Of three sets, and of the one with a third document; Wilson's intervals of 3 of 3, 2 of 3 and 1 of 1.
    shares = [row[-3:] for row in written.tables["table-positions"][1:]]
    assert [sorted(cells) for cells in shares] == [
        sorted(["3", "100.0% (43.9 to 100.0)", "66.7% (20.8 to 93.9)"]),
        sorted(["3", "66.7% (20.8 to 93.9)", "66.7% (20.8 to 93.9)"]),
        sorted(["1", "100.0% (20.7 to 100.0)", "100.0% (20.7 to 100.0)"]),
    ]


def test_the_verdict_says_how_often_every_namesake_gets_its_own_answer(runs: list[FinishedRun]) -> None:
    # Wilson's interval of 1 of 3, and of 0 of 3.
    assert str(summarize(runs[0].results).verdict).startswith(
        "gives every namesake its own answer to 33.3% (6.1 to 79.2) of 3 questions, one answer without saying whose it"
        " is to 0.0% (0.0 to 56.1), and several mixed up to 33.3% (6.1 to 79.2); entity-answer recall is "
    )


def test_questions_that_are_not_at_hand_leave_the_answers_out_with_the_reason(runs: list[FinishedRun]) -> None:
    written = Read(page(runs))
    said = "the questions `sets` are not where the run had them; --queries says where they are."
    assert said in written.texts["bdi"]
    assert written.data is None
    assert "table-categories" in written.tables


def test_a_run_tells_where_its_questions_were(runs: list[FinishedRun]) -> None:
    place = score_stored(AnsweringTask("sets.json"), Path("runs/talker"), name="again", out=Path("runs/again")).out
    again = read_runs([place])
    assert [system["label"] for system in Read(page(again)).data["systems"]] == ["again"]


def test_other_questions_or_none_are_refused(runs: list[FinishedRun]) -> None:
    write_sets(Path("other.json"), COMO)
    with pytest.raises(InputError, match=r"other\.json: is not what runs/talker was asked"):
        page(runs, queries=Path("other.json"))
    with pytest.raises(InputError, match=r"nowhere\.json: no such file"):
        page(runs, queries=Path("nowhere.json"))


def test_markup_in_names_and_answers_stays_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_sets(Path("sets.json"), ambig_set(HOSTILE, HOSTILE, (f"{HOSTILE} one", "1"), (f"{HOSTILE} two", HOSTILE)))
    place = write_answers(Path("runs/bad"), Path("sets.json"), {HOSTILE: HOSTILE})
    written = Read(page(read_runs([place], names=[HOSTILE]), queries=Path("sets.json")))
    assert [written.scripts, written.count("style"), written.count("b")] == [1, 1, 0]
    assert written.data["systems"][0]["label"] == HOSTILE
    assert HOSTILE in written.data["strings"]


def test_models_that_were_asked_otherwise_do_not_stand_side_by_side(runs: list[FinishedRun]) -> None:
    write_sets(Path("other.json"), AVON)
    others = read_runs([write_answers(Path("runs/other"), Path("other.json"), {AVON.id: AVON_SAID})])
    with pytest.raises(
        UsageError, match=r"over different questions: runs/talker over `sets` .*, runs/other over `other`"
    ):
        page([*runs, *others])


@pytest.mark.usefixtures("runs")
def test_the_command_writes_the_report_of_models(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(capsys, "report", "runs/talker", "runs/mute", "--queries", "sets.json")
    assert (code, err) == (0, "Written to report.html\n")
    figures = [one["id"] for tag, one in Read(Path("report.html").read_text(encoding="utf-8")).elements if tag == "img"]
    assert figures == ["figure-answer-categories"]
    told = complaint(capsys, "report", "runs/talker", "--dataset", "mini")
    assert told == "--dataset: goes with runs of linkers and retrievers; --queries is for language models"
    assert complaint(capsys, "report", "runs/talker", "--published").startswith(
        "--published: goes with runs of retrievers and readers"
    )
