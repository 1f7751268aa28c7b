"""Values that no program should send or store: each ends in one line, and nothing that was computed is lost."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_models import v1
from namesake_sets import reader, write_sets
from refusals import complaint, outcome
from service import Asked, Reply, Service, serving
from world import write_world

REL = ["run", "--linker", "rel", "--dataset", "world", "--out", "run"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset and sets in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    write_sets(tmp_path / "sets.json")
    return tmp_path


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(reader) as running:
        yield running


def edit(path: Path, change: Callable[[Any], None]) -> None:
    """Changes a JSON file in place."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize("linker", [True, False], ids=["llm", "answer"])
@pytest.mark.parametrize("status", [200, 400])
def test_half_a_surrogate_pair_in_a_response_is_no_traceback(
    service: Service, capsys: pytest.CaptureFixture[str], linker: bool, status: int
) -> None:
    def broken(_: int, __: Asked) -> Reply:
        message = b'"half \\ud800 of a pair"'
        body = b'{"choices": [{"message": {"content": %s}}]}' if status == 200 else b'{"error": {"message": %s}}'
        return status, {}, body % message

    service.behaviour = broken
    endpoint = ["run", "--linker", "llm", "-o", f"url={v1(service)}", "-o", "model=small", "--dataset", "world"]
    if not linker:
        endpoint = ["answer", "--url", v1(service), "--model", "small", "--queries", "sets.json"]
    code, _, err = outcome(capsys, *endpoint, "--out", "run")
    assert (code in {1, 2}, "Traceback" in err) == (True, False)


def test_an_ambigdocs_file_with_an_invalid_byte_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for content in (b'[{"question": "\xff"}]', b'{"question": "\xff"}\n'):
        Path("bad.json").write_bytes(content)
        said = complaint(capsys, "answer", "--queries", "bad.json", "--predictions", "x.jsonl")
        assert said.startswith("bad.json:1: is not UTF-8 (byte 1")


def test_a_number_of_five_thousand_digits_in_a_sheet_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    outcome(capsys, "annotate", "sample", "--dataset", "world", "--out", "study", "--n", "2")
    sample = json.loads(Path("study/sample.json").read_text())["sample"]
    for item in ("9" * 5000, "0" * 5000 + "9"):
        Path("sheet.csv").write_text(f"sample,item,text,1,2,3,answer\n{sample},{item},x,a,b,c,1\n")
        said = complaint(capsys, "annotate", "score", "sheet.csv", "--sample", "study")
        assert said.startswith("sheet.csv:2: field `item`: the sample has no item ")
        assert len(said) < 300


@pytest.mark.parametrize("command", ["report", "table answers", "plot answer-categories"])
def test_a_figure_that_is_missing_or_wrong_in_results_is_one_line(
    service: Service, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    arguments = ["answer", "--url", v1(service), "--model", "small", "--queries", "sets.json", "--out", "run"]
    assert outcome(capsys, *arguments)[0] == 0
    original = Path("run/results.json").read_bytes()
    edit(Path("run/results.json"), lambda results: results["probes"]["ambigdocs"]["categories"].pop("merged"))
    said = complaint(capsys, *command.split(), "run")
    assert said.startswith("run/results.json: ")
    assert "merged" in said
    Path("run/results.json").write_bytes(original)
    edit(Path("run/results.json"), lambda results: results["probes"]["ambigdocs"].update(categories=7))
    assert complaint(capsys, *command.split(), "run").startswith(
        "run/results.json: a value is missing or has a wrong type ("
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("rate=1e-300", "rate must be at least 0.001 requests a second"),
        ("rate=nan", "rate must be at least 0.001"),
        ("timeout=nan", "timeout must be a number above 0"),
        ("url=http://256.1.1.1/", "needs the URL of its service, and 'http://256.1.1.1/' is none"),
        ("url=http://1.2.3.4.5/", "is none"),
        ("url=http://1.2.3.999", "is none"),
    ],
)
def test_an_option_that_cannot_work_is_refused_before_the_first_snippet(
    capsys: pytest.CaptureFixture[str], option: str, message: str
) -> None:
    code, _, err = outcome(capsys, *REL, "-o", option)
    assert (code, message in err, list(Path().glob("run/*"))) == (2, True, []), err


@pytest.mark.parametrize("temperature", ["nan", "-1", "inf"])
def test_a_temperature_that_is_no_number_is_refused(capsys: pytest.CaptureFixture[str], temperature: str) -> None:
    arguments = ["run", "--linker", "llm", "-o", "model=small", "-o", f"temperature={temperature}"]
    assert "temperature must be a number not below 0" in complaint(capsys, *arguments, "--dataset", "world")


@pytest.mark.parametrize(
    ("file", "field", "value", "message"),
    [
        ("entities.jsonl", "page_id", -5, "-5 is not a page id"),
        ("entities.jsonl", "qid", "Q0", "'Q0' is not a QID such as Q42"),
    ],
)
def test_an_id_that_cannot_exist_is_refused(
    capsys: pytest.CaptureFixture[str], file: str, field: str, value: object, message: str
) -> None:
    path = Path("world") / file
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | {field: value}), *others]) + "\n")
    said = complaint(capsys, "run", "--linker", "prior", "--dataset", "world", "--out", "run")
    assert said.startswith(f"world/{file}:1: field `{field}`: ")
    assert message in said


@pytest.mark.parametrize(("field", "value"), [("page_id", -5), ("qid", "Q0")])
def test_a_prediction_with_a_value_that_cannot_be_is_refused(
    capsys: pytest.CaptureFixture[str], field: str, value: object
) -> None:
    Path("p.jsonl").write_text(json.dumps({"id": "tAvon", "answer": "Avon (river)", field: value}) + "\n")
    said = complaint(capsys, "score", "--predictions", "p.jsonl", "--dataset", "world", "--out", "scored")
    assert said.startswith(f"p.jsonl:1: field `{field}`: ")
    Path("p.jsonl").write_text(
        json.dumps({"id": "tAvon", "answer": "A", "candidates": [{"answer": "A", field: value}]})
    )
    said = complaint(capsys, "score", "--predictions", "p.jsonl", "--dataset", "world", "--out", "scored")
    assert said.startswith(f"p.jsonl:1: field `candidates[0].{field}`: ")


@pytest.mark.filterwarnings("error")
def test_scores_as_large_as_numbers_can_be_cause_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    scores = (1.7e308, -1.7e308)
    lines = [
        json.dumps({"id": f"{subset}{name}", "answer": f"{name} (river)", "score": scores[number % 2]})
        for number, (subset, name) in enumerate((s, n) for s in "ts" for n in ("Avon", "Berg", "Como", "Dale"))
    ]
    Path("p.jsonl").write_text("\n".join(lines) + "\n")
    code, out, _ = outcome(capsys, "score", "--predictions", "p.jsonl", "--dataset", "world", "--out", "o", "--json")
    assert code == 1
    assert json.loads(out)["probes"]["confidence"]["subsets"]["top"]["q95"] == pytest.approx(1e100)
    assert outcome(capsys, "plot", "confidence", "o", "--dataset", "world", "--out", "c.png")[0] in {0, None}


def test_a_key_that_stands_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("world/top.jsonl")
    whole = path.read_text()
    path.write_text(whole.replace('"gold":', '"gold":"x","gold":', 1))
    said = complaint(capsys, "run", "--linker", "prior", "--dataset", "world", "--out", "run")
    assert said == "world/top.jsonl:1: field `gold`: stands twice in one object"
    path.write_text(whole)
    Path("p.jsonl").write_text('{"id":"tAvon","answer":"a","answer":"b","candidates":[{"answer":"a"}]}\n')
    said = complaint(capsys, "score", "--predictions", "p.jsonl", "--dataset", "world", "--out", "scored")
    assert "field `answer`: stands twice in one object" in said


def test_the_candidates_of_a_prediction_may_have_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.jsonl").write_text('{"id":"tAvon","answer":"a","candidates":[{"answer":"a"},{"answer":"b"}]}\n')
    code, _, err = outcome(capsys, "score", "--predictions", "p.jsonl", "--dataset", "world", "--out", "scored")
    assert (code, "twice" in err) == (1, False)


def test_what_a_power_cut_left_behind_a_complete_run_is_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "--linker", "prior", "--dataset", "world", "--out", "run"]
    outcome(capsys, *arguments)
    whole = Path("run/predictions.jsonl").read_bytes()
    Path("run/predictions.jsonl").write_bytes(whole + b"\0" * 4096)
    code, _, err = outcome(capsys, *arguments)
    assert (code, "answered" in err) == (0, False)
    assert Path("run/predictions.jsonl").read_bytes() == whole


@pytest.mark.parametrize("keep", [False, True])
def test_a_full_disk_is_one_line_that_names_the_file(service: Service, folder: Path, keep: bool) -> None:
    # A reply that alone is longer than the largest file that may be written.
    service.behaviour = lambda *_: (200, {}, json.dumps([["x" * 9000]] if keep else []).encode())

    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192 if keep else 600, 8192 if keep else 600))

    ended = subprocess.run(
        [sys.executable, "-m", "shadowprobe", *REL, "-o", f"url={service.url}", *(["--keep-replies"] if keep else [])],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=limit_files,
        env={"PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    name = "replies.jsonl" if keep else "predictions.jsonl"
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines()[-1] == f"shadowprobe: run/{name}: cannot be written (File too large)"
    assert "Traceback" not in ended.stderr


def test_replies_to_other_requests_are_not_parsed(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    chat = ["run", "--linker", "llm", "-o", "model=small", "--dataset", "world"]
    service.behaviour = lambda *_: (200, {}, b'{"choices": [{"message": {"content": "{\\"answer\\": 1}"}}]}')
    assert outcome(capsys, *chat, "-o", f"url={v1(service)}", "--keep-replies", "--out", "run")[0] in {0, 1}
    # An option that cannot change a request may differ.
    again = [*chat, "--from-replies", "run", "--force", "--out"]
    assert outcome(capsys, *again, "again", "-o", "retries=2")[0] in {0, 1}
    code, _, err = outcome(capsys, *again, "open", "-o", "mode=open")
    assert code == 2
    assert "run has the reply to another request for 'tAvon': give the same options as the run that kept it" in err


def test_two_classes_of_one_file_that_share_a_name_do_not_continue_each_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "two.py").write_text(
        "from shadowprobe import Linker\n"
        "class One(Linker):\n"
        "    name = 'one'\n"
        "    def link(self, snippets): return [self.skip(s) for s in snippets]\n"
        "class Two(One):\n"
        "    def link(self, snippets): return [self.nil(s) for s in snippets]\n"
    )
    assert outcome(capsys, "run", "--linker", "two.py:One", "--dataset", "world", "--out", "run")[0] == 0
    said = complaint(capsys, "run", "--linker", "two.py:Two", "--dataset", "world", "--out", "run")
    assert "holds a run whose linker version is" in said


@pytest.mark.parametrize("command", [["table", "3", "run"], ["compare", "run", "other"]])
def test_a_value_that_cannot_be_written_as_a_number_is_one_line(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    for name in ("run", "other"):
        run = ["run", "--linker", "prior", "--dataset", "world", "--rounds", "100", "--out", name]
        assert outcome(capsys, *run)[0] == 0
    edit(Path("run/results.json"), lambda results: results["subsets"]["top"].update(precision="high", recall=[1]))
    code, _, err = outcome(capsys, *command)
    assert (code, len(err.splitlines())) == (2, 1)
    assert err.startswith("shadowprobe: run/results.json")
    assert ": a value is missing or has a wrong type (" in err


def test_results_that_are_nested_too_deeply_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "run", "--linker", "prior", "--dataset", "world", "--rounds", "100", "--out", "run")[0] == 0
    # Not deep enough for the decoder of JSON to refuse it.
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    edit(Path("run/results.json"), lambda results: results["subsets"]["top"].update(precision=deep))
    assert (
        complaint(capsys, "table", "3", "run") == "run/results.json: is nested too deeply: no run writes such results"
    )
