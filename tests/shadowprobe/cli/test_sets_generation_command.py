"""`shadowprobe sets ambigdocs` with a language model that writes the questions, as a user types it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from chat_models import v1
from generation_world import AVON_SET, DOCUMENTS, FUNNELS, PROMPTS, write_generation_world, writer
from killing import Generating, kill_repeatedly
from refusals import complaint, outcome
from service import Service, serving

from shadowprobe.queries.ambigdocs_sets import read_ambigdocs

DOCUMENT_FILE = ("--collection", "documents.jsonl", "--out", "made")
COMMAND = ("sets", "ambigdocs", "--reader", "writers.py:Writer", *DOCUMENT_FILE)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHADOWPROBE_LLM_TOKEN", raising=False)
    write_generation_world(tmp_path)


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(writer) as running:
        yield running


def by_endpoint(service: Service, *more: str) -> list[str]:
    return ["sets", "ambigdocs", "--url", v1(service), "--model", "small", *DOCUMENT_FILE, *more]


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def asked() -> list[str]:
    return [json.loads(line) for line in Path("asked.txt").read_text().splitlines()]


def test_a_chat_model_writes_sets_in_the_released_form(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, *by_endpoint(service))
    assert (code, len(service.requests)) == (0, PROMPTS), err
    assert json.loads(Path("made/ambigdocs.json").read_text()) == [AVON_SET]
    assert json.loads(Path("made/funnel.json").read_text())["funnels"] == FUNNELS
    assert "made/ambigdocs.json: 1 sets, 2 documents" in out
    assert "1 unanswerable: fewer than two documents answer" in out
    assert [one.id for one in read_ambigdocs(Path("made/ambigdocs.json"))] == ["Avon"]


def test_the_sets_can_be_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *COMMAND)
    code, out, _ = outcome(capsys, "answer", "--queries", "made/ambigdocs.json", "--show-prompt", "--order", "given")
    assert code == 0
    assert out.endswith("She was built at Millwall in 1842.\n\nQuestion: Where did Avon begin?\nAnswer:\n")


def test_the_counts_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, *COMMAND, "--json")
    found = json.loads(out)
    assert (found["sets"], found["documents"], found["missing"], found["funnels"]) == (1, 2, 0, FUNNELS)
    assert (found["collection"]["name"], found["queries"]["name"]) == ("documents", "titles")


def test_rejected_drafts_are_kept_with_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *COMMAND)
    rejected = lines("made/rejected.jsonl")
    # Four questions, four answers, and two questions after their documents were asked.
    assert len(rejected) == 4 + 4 + 2
    assert {
        "name": "Dart",
        "reason": "reply without a question",
        "reply": "I cannot think of one.",
    } in rejected
    assert {
        "name": "Esk",
        "reason": "answer that is not in the document",
        "question": "Who saw Esk first?",
        "title": "Esk (ship)",
        "reply": "a fisherman",
    } in rejected
    assert {
        "name": "Berg",
        "reason": "ambiguous: fewer than two answers are in one document alone",
        "question": "When was Berg named?",
        "reply": '"When was Berg named?"',
    } in rejected


def test_the_same_command_asks_nothing_twice(capsys: pytest.CaptureFixture[str]) -> None:
    # Each name has one question and two or three documents; of the first two names, that is 1 + 3 and 1 + 2.
    outcome(capsys, *COMMAND, "--limit", "2")
    assert len(asked()) == 7
    _, _, err = outcome(capsys, *COMMAND)
    assert err.startswith("7 taken from an earlier run; 7 answered in ")
    outcome(capsys, *COMMAND)
    assert (len(asked()), len(set(asked()))) == (PROMPTS, PROMPTS)
    assert json.loads(Path("made/funnel.json").read_text())["funnels"] == FUNNELS


def test_a_shorter_run_leaves_the_replies_about_other_names(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *COMMAND)
    _, out, _ = outcome(capsys, *COMMAND, "--limit", "1", "--json")
    assert (json.loads(out)["sets"], len(asked()), len(lines("made/replies.jsonl"))) == (1, PROMPTS, PROMPTS)


@pytest.mark.slow
def test_a_killed_command_goes_on_and_makes_the_same_sets(tmp_path: Path) -> None:
    report = kill_repeatedly(Generating(tmp_path), 4, Random(5))
    assert report.problems == ()
    assert max(report.stored) > 0


def test_a_prompt_that_fails_is_asked_again_by_the_next_command(capsys: pytest.CaptureFixture[str]) -> None:
    command = [part.replace(":Writer", ":Failing") for part in COMMAND]
    code, out, err = outcome(capsys, *command)
    assert code == 1
    assert "1 prompts failed" in err
    assert "the first of them: too hard" in err
    # Without its second document, Avon has one answer too few.
    assert "1 no reply" in out
    assert json.loads(Path("made/ambigdocs.json").read_text()) == []
    Path("mended").touch()
    assert outcome(capsys, *command)[0] == 0
    assert json.loads(Path("made/ambigdocs.json").read_text()) == [AVON_SET]
    assert len(asked()) == PROMPTS + 1


def test_another_model_does_not_go_on_with_the_replies_of_the_first(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome(capsys, *by_endpoint(service))
    said = complaint(capsys, *by_endpoint(service, "-o", "max_tokens=9"))
    assert said.startswith("made holds a run whose reader options max_tokens is 256, not 9; give another --out")
    said = complaint(capsys, *by_endpoint(service, "--words", "9"))
    assert said.startswith("made holds a run whose queries words is 200, not 9;")
    assert outcome(capsys, *by_endpoint(service, "--words", "9", "--force"))[0] == 0
    assert len(service.requests) > PROMPTS


def test_a_dead_endpoint_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(
        capsys, "sets", "ambigdocs", "--url", "http://127.0.0.1:9/v1", "--model", "m", *DOCUMENT_FILE, "-o", "retries=0"
    )
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "http://127.0.0.1:9/v1/chat/completions: no connection" in err


@pytest.mark.parametrize(
    ("options", "collection", "names"),
    [
        ((), "namesakes", "mini"),
        (("--collection", "namesakes"), "namesakes", "mini"),
        (("--dataset", "mini"), "mini", "mini"),
    ],
)
def test_names_and_documents_may_come_from_the_package(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], collection: str, names: str
) -> None:
    command = ("sets", "ambigdocs", "--reader", "writers.py:Parrot", "--limit", "1", "--out", "other")
    code, _, err = outcome(capsys, *command, *options)
    assert code == 0, err
    card = json.loads(Path("other/generation.json").read_text())
    assert (card["collection"]["name"], card["queries"]["name"]) == (collection, names)
    # The first name of `mini`: the fish, the song, the car and the aircraft.
    (made,) = read_ambigdocs(Path("other/ambigdocs.json"))
    assert made.question == "What is Barracuda?"
    titles = ["Barracuda", "Barracuda (song)", "Plymouth Barracuda", "Fairey Barracuda"]
    assert [one.title for one in made.documents] == titles


def test_a_reader_that_writes_no_text_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(capsys, *(part.replace(":Writer", ":Numbers") for part in COMMAND))
    assert code == 2
    assert err == "shadowprobe: reader `writer`, query 'Avon': write() gave 7, which is no text\n"


def test_sets_of_others_are_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    Path("made").mkdir()
    Path("made/ambigdocs.json").write_text("mine")
    said = complaint(capsys, *COMMAND)
    assert said == "made/ambigdocs.json exists; give another --out, or --force to write over it"
    Path("made/ambigdocs.json").rename("made/run.json")
    assert complaint(capsys, *COMMAND).startswith("made/run.json exists;")
    Path("file").write_text("mine")
    assert complaint(capsys, *COMMAND[:-1], "file").startswith(
        "--out file: is a file; generated sets go to a directory"
    )


def test_a_list_of_runs_does_not_show_it(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *COMMAND)
    code, out, _ = outcome(capsys, "runs", ".", "--json")
    assert (code, json.loads(out)) == (0, [])


REFUSED = [
    ((), "--url: say who writes the questions, by --url and --model, by --reader, or give --questions"),
    (("--url", "http://127.0.0.1:9"), "--model: say who writes the questions"),
    (("--reader", "lm", "--model", "m"), "--model: goes without --reader; use -o for its options"),
    (("--reader", "span", "-o", "model=m"), "reader `span` has no language model that writes questions: `chat` and"),
    (("--reader", "writers.py:OnlyReads"), "reader `OnlyReads` has no language model that writes questions"),
    (("--reader", "lm", "--questions", "q.jsonl"), "--reader: with --questions no model is asked"),
    (("--reader", "writers.py:Writer", "--collection", "one.jsonl"), "no two documents of `one` are about one name:"),
    (
        ("--reader", "writers.py:Writer", "--dataset", "mini"),
        "`documents` has no document with the title of an entity of `mini`",
    ),
    (("--reader", "writers.py:Writer", "--collection", "none"), "unknown collection `none`"),
    (("--reader", "writers.py:Writer", "--out", ""), "--out: the name of the file is empty"),
]


@pytest.mark.parametrize(("options", "problem"), REFUSED, ids=[problem for _, problem in REFUSED])
def test_what_cannot_be_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], problem: str
) -> None:
    Path("one.jsonl").write_text(json.dumps({"id": "1", "title": DOCUMENTS[0].title, "text": "It is."}))
    assert complaint(capsys, "sets", "ambigdocs", *DOCUMENT_FILE, *options).startswith(problem)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"id": "Avon"}', "field `reply`"),
        ('{"id": "Avon", "reply": 7}', "Expected `str`, got `int`"),
        ('{"id": "Avon", "reply": "x"}\n{"id": "Avon", "reply": "x"}', "'Avon' is answered twice"),
        ("no JSON", "not valid JSON"),
    ],
)
def test_damaged_replies_are_refused(capsys: pytest.CaptureFixture[str], content: str, problem: str) -> None:
    outcome(capsys, *COMMAND)
    Path("made/replies.jsonl").write_text(f"{content}\n")
    said = complaint(capsys, *COMMAND)
    assert said.startswith("made/replies.jsonl:")
    assert problem in said
