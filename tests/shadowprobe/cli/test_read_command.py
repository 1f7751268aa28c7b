"""`shadowprobe read`, `readers` and `table readers`, as their users meet them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from reading_world import CLAIMS, QUESTIONS, write_reading_world
from refusals import complaint, ids, outcome
from retrieval_world import write_documents, write_sets

from shadowprobe.retrieval import Document

LITTLE = ("read", "--collection", "little", "--out", "run")
FOUND = ("read", "--reader", "mine.py:Told", "--documents", "found", "--k", "2")


@pytest.fixture(autouse=True)
def _in_a_small_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_reading_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")


def row(out: str, *words: str) -> str:
    """The first line that has these words."""
    lines = (" ".join(line.split()) for line in out.splitlines())
    return next(line for line in lines if all(word in line for word in words))


def test_the_table_has_the_figures_that_were_worked_out_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capsys, *LITTLE, "--reader", "mine.py:Told")
    assert code == 0
    # All, head and tail: 3.2667 / 6, 2.4667 / 3 and 0.8 / 3; head minus tail 55.6.
    assert row(out, "question answering").startswith("question answering 54.4 (")
    assert " 82.2 (" in row(out, "question answering")
    assert " 26.7 (" in row(out, "question answering")
    assert " +55.6 (" in row(out, "question answering")
    assert row(out, "fact checking").startswith("fact checking 50.0 (")
    assert "note: 1 queries have no document to read; they are not asked and count as wrong" in " ".join(out.split())
    assert err.endswith("Written to run/\n")


def test_runs_are_named_by_their_documents(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *FOUND)
    outcome(capsys, "read", "--reader", "mine.py:Told", "--collection", "little")
    assert sorted(path.name for path in Path("runs").iterdir()) == ["told-little-oracle", "told-little-told"]
    _, out, _ = outcome(capsys, "runs")
    assert "2 runs of readers" in out


def test_the_table_of_two_runs_says_who_loses_and_what_the_paper_has(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *FOUND, "--out", "given")
    outcome(capsys, "read", "--reader", "mine.py:Told", "--collection", "little", "--out", "right")
    code, out, _ = outcome(capsys, "table", "readers", "right", "given", "--published")
    assert code == 0
    # Table 7, people, questions: BERT with the documents of BLINK.
    assert "27.5 33.8 22.3" in row(out, "question answering", "BERT + BLINK")
    lost = row(out, "people, question answering", "all")
    # With the right documents 54.4, with those of the retriever 27.8; lost 26.7, of it 30.0 and -3.3.
    assert " 54.4 27.8 26.7 +30.0 (" in lost
    assert " -3.3 (" in lost
    _, compared, _ = outcome(capsys, "compare", "right", "given")
    assert "people, question answering, head" in compared
    assert "who loses what is lost end to end?" in compared
    _, summary, _ = outcome(capsys, "table", "summary", "right", "given")
    assert "Summary of 2 runs of readers" in summary
    assert "F1 is a mean, to which the test does not apply" in " ".join(summary.split())


def test_the_table_stands_without_the_queries_and_says_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *FOUND, "--out", "given")
    outcome(capsys, "read", "--reader", "mine.py:Told", "--collection", "little", "--out", "right")
    shutil.rmtree("little")
    code, out, _ = outcome(capsys, "table", "readers", "right", "given")
    assert (code, "are queries answered?" in out, "who loses" in out) == (0, True, False)
    assert "Not split between retriever and reader: unknown collection" in " ".join(out.split())


def test_a_run_is_scored_again_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *FOUND, "--out", "run")
    before = Path("run/results.json").read_bytes()
    Path("run/results.json").unlink()
    assert outcome(capsys, "read", "--predictions", "run")[0] == 0
    assert Path("run/results.json").read_bytes() == before


def test_a_report_has_the_tables_and_names_the_file_of_answers(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *FOUND, "--out", "run")
    assert outcome(capsys, "report", "run", "--published")[0] == 0
    page = Path("run/report.html").read_text()
    assert "AmbER, people: are queries answered?" in page
    assert "answers.jsonl of each run has them" in page


def test_readers_are_listed_with_what_each_needs(capsys: pytest.CaptureFixture[str]) -> None:
    _, listed, _ = outcome(capsys, "readers", "--json")
    assert sorted(one["name"] for one in json.loads(listed)) == [
        "chat",
        "first-sentence",
        "lm",
        "oracle-answer",
        "span",
    ]
    assert all(one["about"] and one["needs"] for one in json.loads(listed))


REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("--reader", "lms"), "unknown reader `lms` (did you mean `lm`?): `shadowprobe readers` lists them"),
    (("--reader", "mine.py"), "mine.py: name the class too, as in mine.py:MyReader"),
    (("--reader", "mine.py:SAID"), "`mine.py:SAID`: `SAID` does not derive from shadowprobe.retrieval.Reader"),
    (("--reader", "chat"), "reader `chat` needs the option `model`: add -o model=VALUE"),
    (("--reader", "span"), "reader `span` needs the option `model`: add -o model=VALUE"),
    (("--reader", "lm", "-o", "context=-1"), "context is -1, and must be at least 0"),
    (
        ("--reader", "mine.py:Told", "-o", "pace=1"),
        "reader `mine.py:Told` has no option `pace` (did you mean `pause`?)",
    ),
    (("--documents", "gone"), "--documents gone: is neither `oracle` nor a run;"),
    (("--documents", "little"), "little: has no rankings.jsonl: --documents is `oracle` or a run of a retriever"),
    (("--documents", "found", "--k", "101"), "--k 101: found has only 100 documents for each query"),
    (
        ("--documents", "found", "--collection", "other"),
        "other/documents.jsonl: is not what the run of `told` searched;",
    ),
    (("--probe", "amber"), "--probe amber: asks no reader; those that do are amber_reading, entity_questions_reading"),
    (("--probe", "entity_questions_reading"), "--documents oracle: the queries of `entity_questions_reading` name no"),
    (("--collection", "no"), "unknown collection `no`"),
    (("--collection", "none"), "the collection `none` has no queries: give --probe, and --queries"),
    (("--name", "x"), "--name: goes with --predictions; a reader that is asked has its own"),
    (("--predictions", "x.jsonl", "-o", "a=b"), "-o: with --predictions no reader is asked"),
    (("--predictions", "found/rankings.jsonl"), "found/rankings.jsonl:1: "),
    (("--queries", "unlabelled", "--probe", "amber_reading"), "unlabelled: the query 'f1' has the answer 'true'; that"),
    (("--queries", "blank", "--probe", "amber_reading"), "blank: the query 'a1' has no right answer, and a reader"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=ids(REFUSED))
def test_what_cannot_be_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    write_documents(Path("none/documents.jsonl"))
    write_documents(Path("other/documents.jsonl"), [Document("elbe", "Elbe", "A river.")])
    write_sets(Path("other/amber/human/qa/amber_sets.jsonl"), QUESTIONS)
    text = json.dumps(CLAIMS).replace("SUPPORTS", "true").replace("REFUTES", "false")
    write_sets(Path("unlabelled/human/fc/amber_sets.jsonl"), json.loads(text))
    write_sets(
        Path("blank/human/qa/amber_sets.jsonl"),
        json.loads(json.dumps(QUESTIONS).replace('["near Naseby", "Naseby"]', "[]")),
    )
    assert complaint(capsys, *LITTLE, *arguments).startswith(words)


def test_another_run_is_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, *FOUND, "--out", "run")
    said = complaint(capsys, *FOUND[:-1], "1", "--out", "run")
    assert said.startswith("run holds a run whose documents k is 2, not 1; give another --out")
    assert complaint(capsys, *LITTLE, "--reader", "mine.py:Told").startswith("run holds a run whose")
