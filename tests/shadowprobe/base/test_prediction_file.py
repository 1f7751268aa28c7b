"""Predictions as CSV and TSV: the same figures and the same checks as JSON lines."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from refusals import complaint, outcome
from world import hand_predictions, write_world

from shadowprobe import Dataset, Prediction
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.base.model import Candidate
from shadowprobe.base.prediction_file import COLUMNS, read_predictions


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.chdir(tmp_path)
    return write_world(tmp_path / "world")


def write_table(path: Path, separator: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["id", "status", "answer", "score", "remark"])
        for one in hand_predictions():
            score = "" if one.score is None else one.score
            writer.writerow([one.id, one.status, one.answer or "", score, "not read"])


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t"), ("CSV", ",")])
def test_a_table_scores_as_the_same_predictions_in_json(
    suffix: str, separator: str, place: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(Path(f"mine.{suffix}"), separator)
    Path("mine.jsonl").write_bytes(encode_lines(hand_predictions()))
    found = []
    for file, out in ((f"mine.{suffix}", "a"), ("mine.jsonl", "b")):
        code, text, _ = outcome(capsys, "score", "-p", file, "-d", "world", "--out", out, "--json")
        assert code == 0
        found.append(json.loads(text))
    assert found[0] == found[1]
    # The run directory has them in our own form, for figures and comparisons.
    assert Path("a/predictions.jsonl").read_bytes() == Path("b/predictions.jsonl").read_bytes()
    assert outcome(capsys, "compare", "a", "b")[0] == 0


def test_a_table_can_be_exported_and_replayed(place: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(Path("mine.csv"), ",")
    assert outcome(capsys, "export", "kilt", "-p", "mine.csv", "-d", "world", "--out", "kilt")[0] == 0
    replay = ("run", "-l", "replay", "-o", "file=mine.csv", "-d", "world", "--out", "run")
    assert outcome(capsys, *replay)[0] == 0


def test_every_column_is_read_and_quoted_cells_may_contain_anything(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(
        b"\xef\xbb\xbfid,answer,page_id,qid,status,score,candidates,candidate_scores\r\n"
        b'a,"Ajax, Ontario",7,Q5,linked,0.25,"Ajax, Ontario | AFC Ajax",0.25|\r\n'
        b"\r\n"
        b'"b\nc",,,,nil,,,\r\n'
        b'd,"The ""Ajax""",,,,,,\r\n'
    )
    assert path.read_text(encoding="utf-8-sig").splitlines()[0].split(",") == list(COLUMNS)
    candidates = (Candidate("Ajax, Ontario", score=0.25), Candidate("AFC Ajax"))
    assert list(read_predictions(path)) == [
        (2, Prediction("a", "linked", "Ajax, Ontario", 7, "Q5", 0.25, candidates=candidates)),
        (4, Prediction("b\nc", "nil")),
        # The row before it has two lines.
        (6, Prediction("d", "linked", 'The "Ajax"')),
    ]


HEADER = "id,answer,score,status,page_id,candidates,candidate_scores\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ":1: is empty: expected a first line with the names of the columns"),
        (
            "ids,answer\n",
            ":1: expected a column `id` (did you mean `ids`?): the first line names the columns, separated by commas",
        ),
        ("id;answer\n", ":1: expected a column `id`: the first line names the columns, separated by commas"),
        ("id,answer,answer\n", ":1: field `answer`: stands twice in the first line"),
        (HEADER + "tAvon,X\n", ":2: has 2 cells, and the first line names 7 columns"),
        (HEADER + ",X,,,,,\n", ":2: field `id`: is empty"),
        (HEADER + "tAvon,X,much,,,,\n", ":2: field `score`: expected a number, got 'much'"),
        (HEADER + "tAvon,X,nan,,,,\n", ":2: field `score`: expected a number, got 'nan'"),
        (HEADER + "tAvon,X,,,7.0,,\n", ":2: field `page_id`: expected a whole number, got '7.0'"),
        (
            HEADER + f"tAvon,X,,,{'9' * 30},,\n",
            f":2: field `page_id`: expected a whole number, got '{'9' * 30}'",
        ),
        (HEADER + "tAvon,X,,,0,,\n", ":2: field `page_id`: 0 is not a page id"),
        (HEADER + "tAvon,X,,maybe,,,\n", ":2: field `status`: 'maybe' is not one of linked, nil, skipped"),
        (HEADER + "tAvon,X,,,,X|Y,1\n", ":2: field `candidate_scores`: has 1 numbers for 2 candidates"),
        # The checks of JSON lines.
        (HEADER + "tAvon,,,,,,\n", ":2: field `answer`: is missing: give an entity, or a status of nil or skipped"),
        (HEADER + "tAvon,X,,,,,\ntAvon,X,,,,,\n", ":3: field `id`: 'tAvon' is answered twice"),
        (HEADER + "tAvon,X,,,,,\nnobody,X,,,,,\n", ":3: field `id`: 'nobody' is no snippet of the dataset `world`"),
        (HEADER + 'tAvon,"X,,,,,\n', ":2: is not a valid table (unexpected end of data)"),
    ],
)
def test_a_bad_table_is_refused_by_its_line_and_column(
    content: str, message: str, place: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.csv").write_text(content, encoding="utf-8")
    assert complaint(capsys, "score", "-p", "mine.csv", "-d", "world") == f"mine.csv{message}"


def test_a_table_that_is_not_utf_8_or_too_wide_is_refused(place: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.tsv").write_bytes(b"id\tanswer\ntAvon\t\xff\n")
    assert "mine.tsv:2: is not UTF-8" in complaint(capsys, "score", "-p", "mine.tsv", "-d", "world")
    Path("mine.tsv").write_text("id\tanswer\ntAvon\t" + "x" * 200_000 + "\n")
    message = complaint(capsys, "score", "-p", "mine.tsv", "-d", "world")
    assert message == "mine.tsv:2: is not a valid table (field larger than field limit (131072))"
