"""A run of a reader: what it is given, what is measured, who loses what is lost, and how a run goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from reading_world import FOUND, write_reading_world

from shadowprobe import LinkerError, ShadowprobeError
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.running.finished import read_runs
from shadowprobe.running.job import FinishedJob
from shadowprobe.running.reading import ReadingSettings, make_reading_job, open_stored_answers
from shadowprobe.running.reading_losses import list_losses
from shadowprobe.running.records import list_records, make_summary
from shadowprobe.running.stored import score_stored

ORACLE, RETRIEVED = "oracle", "found"


@pytest.fixture(autouse=True)
def _in_a_small_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_reading_world(tmp_path)
    monkeypatch.chdir(tmp_path)


def run(
    reader: str = "mine.py:Told",
    documents: str = ORACLE,
    *,
    out: str = "run",
    k: int = 20,
    options: dict[str, str] | None = None,
    **more: Any,
) -> FinishedJob:
    more.setdefault("collection", "little" if documents == ORACLE else None)
    settings = ReadingSettings(**more)
    return make_reading_job(reader, documents, settings, k=k, options=options, out=Path(out)).run()


def rates(part: dict[str, Any], what: str) -> list[float]:
    return [round(part[what][group]["rate"], 4) for group in ("all", "head", "tail")]


def test_the_figures_with_the_right_documents_are_those_worked_out_by_hand() -> None:
    results = run().results
    found = results["probes"]["amber_reading"]["human"]["qa"]
    # a1 1, a2 0; b1 2*2/(3+2), b2 2*2/(3+2); d1 2*1/(1+2), d2 without a document 0.
    assert rates(found, "score") == [round((1 + 0.8 + 0.8 + 2 / 3) / 6, 4), round((1 + 0.8 + 2 / 3) / 3, 4), 0.2667]
    assert rates(found, "exact_match") == [round(1 / 6, 4), 0.3333, 0.0]
    assert found["gap"]["difference"] == pytest.approx((1 + 0.8 + 2 / 3) / 3 - 0.8 / 3)
    assert rates(found, "found") == [round(5 / 6, 4), 1.0, 0.6667]
    assert found["metric"] == "f1"
    claims = results["probes"]["amber_reading"]["human"]["fc"]
    assert (claims["metric"], rates(claims, "score")) == ("accuracy", [0.5, 1.0, 0.0])
    assert claims["score"]["head"]["n"] == 1


def test_a_query_without_a_document_is_not_asked_and_counts_as_wrong() -> None:
    finished = run()
    assert "d2" not in Path("asked.txt").read_text().split()
    assert finished.results["missing"] == 0
    assert finished.results["notes"] == [
        "1 documents are not in the collection `little`",
        "1 queries have no document to read; they are not asked and count as wrong",
    ]
    stored = [json.loads(line) for line in Path("run/answers.jsonl").read_text().splitlines()]
    assert {"id": "d2", "answer": "", "found": False} in stored


def test_entity_questions_need_a_run_and_say_who_lost_them() -> None:
    found = run(documents=RETRIEVED, k=2).results["probes"]["entity_questions_reading"]
    assert found["micro"]["exact_match"]["rate"] == 2 / 4
    assert found["macro"] == pytest.approx((1 / 3 + 1) / 2)
    # P19-2 has no ranking; P19-1 has `western cape` in its second document.
    assert [found["lost"][key]["rate"] for key in ("by_retriever", "by_reader")] == [1 / 4, 1 / 4]
    # `a song` against `western cape`: nothing shared.
    assert found["micro"]["f1"]["rate"] == 2 / 4


def test_the_first_k_documents_are_read_and_no_more() -> None:
    found = run(documents=RETRIEVED, k=1).results["probes"]
    # a2 and b1 have their right document in the second place.
    assert found["amber_reading"]["human"]["qa"]["found"]["all"]["rate"] == pytest.approx(1 / 6)
    assert found["entity_questions_reading"]["lost"]["by_retriever"]["rate"] == 2 / 4


def test_what_is_lost_is_split_between_the_retriever_and_the_reader() -> None:
    run(out="right")
    run(documents=RETRIEVED, k=2, out="given")
    losses = {(one.task, one.group): one for one in list_losses(read_runs([Path("right"), Path("given")]))}
    everything = losses["qa", "all"]
    # Lost: a1 1 and b2 0.8 by the retriever; a2 -1 and b1 0.8 by the reader.
    assert everything.gap["rate"] == pytest.approx((1 + 0.8 - 1 + 0.8) / 6)
    assert everything.by_retriever["rate"] == pytest.approx(1.8 / 6)
    assert everything.by_reader["rate"] == pytest.approx(-0.2 / 6)
    assert losses["qa", "head"].by_retriever["rate"] == pytest.approx(1 / 3)
    assert losses["qa", "head"].by_reader["rate"] == pytest.approx(0.8 / 3)
    assert losses["fc", "all"].gap["rate"] == 0
    for one in losses.values():
        assert one.oracle["rate"] - one.retrieved["rate"] == pytest.approx(one.gap["rate"])
        assert one.by_retriever["rate"] + one.by_reader["rate"] == pytest.approx(one.gap["rate"])


def test_every_query_is_a_record_and_the_summary_has_the_headlines() -> None:
    run(documents=RETRIEVED, k=2, out="given")
    (finished,) = read_runs([Path("given")])
    records = list(list_records(finished))
    assert len(records) == 8 + 4
    assert {record["probe"] for record in records} == {"amber_reading", "entity_questions_reading"}
    # a2 is exactly right.
    assert next(record["exact"] for record in records if record["id"] == "a2")
    summary = make_summary(finished)
    # Head: d1 alone has words of its answer; tail: a2 is right.
    assert summary["human_head"] == pytest.approx(2 / 3 / 3)
    assert summary["human_tail"] == pytest.approx(1 / 3)
    assert summary["questions"] == 2 / 4


def test_runs_of_other_readers_are_not_split() -> None:
    run("oracle-answer", out="right")
    run(documents=RETRIEVED, k=2, out="given")
    assert list_losses(read_runs([Path("right"), Path("given")])) == []


def test_the_references_are_a_lower_and_an_upper_bound() -> None:
    lower = run("first-sentence", out="lower").results["probes"]["amber_reading"]["human"]
    upper = run("oracle-answer", out="upper").results["probes"]["amber_reading"]["human"]
    assert rates(upper["fc"], "score") == [1.0, 1.0, 1.0]
    # d2 has no document, and nobody is asked about it.
    assert rates(upper["qa"], "score") == [round(5 / 6, 4), 1.0, 0.6667]
    # Every claim holds, as one of the two does.
    assert lower["fc"]["score"]["all"]["rate"] == 0.5
    # Exactly right is none. a1 `The Avon is a river that rises near Naseby.` has 7 words beside articles: 2*2/(7+2);
    # b1 `A river of the Western Cape.` river of western cape: 2*2/(4+2); d1 `A short river of Yorkshire.` 2*1/(4+2).
    assert lower["qa"]["exact_match"]["all"]["rate"] == 0.0
    assert lower["qa"]["score"]["head"]["rate"] == pytest.approx((2 * 2 / (7 + 2) + 4 / 6 + 2 / 6) / 3)


def test_a_perfect_reader_gets_out_of_a_retriever_what_it_found() -> None:
    found = run("oracle-answer", RETRIEVED, k=2, options={"only_found": "true"}).results["probes"]["amber_reading"]
    assert found["human"]["qa"]["score"]["all"]["rate"] == pytest.approx(3 / 6)
    assert found["human"]["qa"]["found"]["all"]["rate"] == pytest.approx(3 / 6)


def test_tasks_that_a_reader_cannot_do_are_left_out_also_when_it_is_scored_again() -> None:
    finished = run("mine.py:NoClaims")
    assert list(finished.results["probes"]["amber_reading"]["human"]) == ["qa"]
    before = Path("run/results.json").read_bytes()
    score_stored(open_stored_answers(Path("run")), Path("run"))
    assert Path("run/results.json").read_bytes() == before


def test_a_limit_takes_the_first_sets_of_each_task() -> None:
    results = run(limit=1).results
    assert results["probes"]["amber_reading"]["human"]["qa"]["queries"] == {"all": 2, "head": 1, "tail": 1}
    assert results["collection"]["limit"] == 1
    # A longer run continues it.
    assert run().outcome.resumed == 4


def test_a_run_goes_on_with_what_failed() -> None:
    first = run("mine.py:Failing")
    assert (first.results["missing"], first.outcome.failed) == (1, 1)
    assert json.loads(Path("run/failures.jsonl").read_text()) == {"id": "a2", "error": "too hard"}
    Path("mended").touch()
    second = run("mine.py:Failing")
    assert (second.results["missing"], second.outcome.answered) == (0, 1)
    assert Path("asked.txt").read_text().split().count("a1") == 1


def test_answers_of_a_file_are_scored_without_saying_who_found_what() -> None:
    Path("theirs.jsonl").write_bytes(encode_lines([{"id": "a1", "answer": "Naseby"}]))
    task = open_stored_answers(Path("theirs.jsonl"), ReadingSettings("little", ("amber_reading",)))
    results = score_stored(task, Path("theirs.jsonl"), out=Path("scored")).results
    assert results["documents"] == {"source": "unknown"}
    assert results["missing"] == 7
    found = results["probes"]["amber_reading"]["human"]["qa"]
    assert found["score"]["head"]["rate"] == pytest.approx(1 / 3)
    assert found["found"] == {"all": None, "head": None, "tail": None}


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        ("Raising", "reader `told` failed: RuntimeError: out of memory (--debug shows where)"),
        ("NotStarting", "reader `told` failed to start: OSError: no weights (--debug shows where)"),
        ("TooFew", "reader `told` gave 1 answers to 2 queries"),
        ("Numbers", "reader `told`, query 'f1': read() gave 7, which is no text"),
        ("NoRead", "reader `NoRead` failed: NotImplementedError: NoRead must define read() (--debug shows where)"),
    ],
)
def test_a_reader_that_goes_wrong_stops_the_run_with_one_line(reader: str, words: str) -> None:
    with pytest.raises(LinkerError) as caught:
        run(f"mine.py:{reader}")
    # The line in the user's file is a matter of that file.
    assert re.sub(r" at mine\.py:\d+", "", str(caught.value)) == words


def test_an_option_that_the_command_has_is_refused() -> None:
    with pytest.raises(ShadowprobeError, match="an option `documents` is that of the command; rename it"):
        run("mine.py:Clashing")


def test_rankings_of_a_file_are_read_too() -> None:
    lines = [{"id": one, "documents": documents} for one, documents in FOUND.items()]
    Path("theirs.jsonl").write_bytes(encode_lines(lines))
    results = run(documents="theirs.jsonl", k=2, collection="little", probes=("amber_reading",)).results
    assert results["reader"]["options"]["documents"] == "theirs@2"


def test_a_torn_last_line_of_stored_answers_is_refused() -> None:
    Path("theirs.jsonl").write_text('{"id": "a1", "answer": "Naseby"}\n{"id": "a2"')
    task = open_stored_answers(Path("theirs.jsonl"), ReadingSettings("little", ("amber_reading",)))
    with pytest.raises(ShadowprobeError, match="not valid JSON"):
        task.load(Path("theirs.jsonl"))
    task.load(Path("theirs.jsonl"), resumed=True)
    assert list(task.answers) == ["a1"]


def test_stored_answers_must_be_to_the_queries() -> None:
    settings = ReadingSettings("little", ("amber_reading",), limit=1)
    for answer_id, words in (("b1", "has no answer to any of the 4 queries"), ("x", "'x' is no query of this run")):
        Path("theirs.jsonl").write_bytes(encode_lines([{"id": answer_id, "answer": "a"}]))
        with pytest.raises(ShadowprobeError, match=words):
            open_stored_answers(Path("theirs.jsonl"), settings).load(Path("theirs.jsonl"))
