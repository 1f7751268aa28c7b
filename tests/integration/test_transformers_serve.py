"""`decisions`, `llm` and `answer` against `transformers serve` with the real weights of SmolLM2-135M.

The model is too small for these tasks: what is tested are the protocols and not the answers.
"""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from asking import answers_of, marked
from refusals import outcome
from weights import causal_model, require_weights

from shadowprobe import (
    Dataset,
    Entity,
    EntitySpace,
    Failure,
    Knowledge,
    LinkerError,
    Prediction,
    Snippet,
    WebLinker,
    open_dataset,
)
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job

pytestmark = pytest.mark.slow

# One thread: on a busy machine several threads wait for each other, and take ten times as long.
QUIET = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONWARNINGS": "ignore"}
STARTING, STOPPING = 120.0, 20.0
# Exactly as the linker asks.
INSTRUCTIONS = "What does the marked mention refer to in this text? It stands between <mention> and </mention>."


class Server(NamedTuple):
    """A running server, and the name of its model."""

    url: str
    model: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of transformers; its whole process group is gone at the end."""
    files = causal_model.find_weights("lm", require_weights("smollm2"))
    for package in ("fastapi", "uvicorn", "openai"):
        pytest.importorskip(package, reason="the extra [test-serving] is not installed", exc_type=ImportError)
    pytest.importorskip("transformers.cli.serving.systemone", reason="this transformers has no /v1/systemone")
    model = str(causal_model.convert_once("lm", "smollm2", files))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [str(Path(sys.executable).with_name("transformers")), "serve", model]
    with log.open("wb") as written:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", port, "--device", "cpu"],
            env={**os.environ, **QUIET},
            stdout=written,
            stderr=written,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(process, url, log)
        yield Server(f"{url}/v1", model)
    finally:
        end_group(process)


def wait_for(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Returns once the server has loaded the model."""
    last = time.monotonic() + STARTING
    while time.monotonic() < last and process.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"{url}/health").status_code == 200:
                return
        time.sleep(0.2)
    pytest.fail(f"transformers serve did not start: {log.read_text()[-2000:]}")


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the server and every process that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


def linker(name: str, server: Server, **options: str) -> WebLinker:
    given = {"url": server.url, "model": server.model, "concurrency": "1", "retries": "0", **options}
    made = make_linker(name, given)
    assert isinstance(made, WebLinker)
    return made


def some(dataset: Dataset, count: int) -> list[Snippet]:
    """The first snippets of Top."""
    return list(dataset.snippets("top"))[:count]


BAT = marked("The [Bat] hung upside down in the cave.")
BATS = Knowledge(
    {"Bat (animal)": Entity("Bat (animal)", description="A mammal that flies."), "Bat (film)": Entity("Bat (film)")},
    [EntitySpace("Bat", ("Bat (animal)", "Bat (film)"))],
)


def test_decisions_averages_what_the_server_says_of_two_orders(server: Server) -> None:
    made = linker("decisions", server)
    (found,) = answers_of(made, BATS, BAT)
    sent = json.loads(made.outgoing(BAT).partition("\n")[2])
    orders = [list(question["criteria"]) for question in sent["questions"].values()]
    # The same two questions, each in a request of its own that is written here.
    answers = []
    for order in orders:
        known = {"Bat (animal)": "A mammal that flies.", "Bat (film)": None, "None of these": None}
        question = {"type": "choice", "instructions": INSTRUCTIONS, "criteria": {name: known[name] for name in order}}
        state = "The <mention>Bat</mention> hung upside down in the cave."
        body = {"model": server.model, "state": state, "questions": {"q": question}}
        reply = httpx.post(f"{server.url}/systemone", json=body, timeout=60).json()
        answers.append(reply["answers"]["q"]["probabilities"])
    assert orders[1] == orders[0][::-1]
    mean = {name: (answers[0][name] + answers[1][name]) / 2 for name in orders[0]}
    assert math.fsum(mean.values()) == pytest.approx(1, abs=1e-5)
    assert isinstance(found, Prediction)
    scores = {candidate.answer: candidate.score for candidate in found.candidates}
    assert scores == {title: pytest.approx(math.log(mean[title]), abs=1e-4) for title in ("Bat (animal)", "Bat (film)")}
    best = max(mean, key=lambda name: mean[name])
    assert (found.answer or "None of these") == best


def test_a_run_of_decisions_has_scores_and_reports_the_position_effect(
    server: Server, mini: Dataset, tmp_path: Path
) -> None:
    results = make_linking_job(linker("decisions", server), mini, out=tmp_path / "run", limit=1).run().results
    lines = [json.loads(line) for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()]
    assert results["missing"] == 0
    for line in lines:
        scores = [candidate["score"] for candidate in line["candidates"]]
        assert scores == sorted(scores, reverse=True)
        # What is left is the probability of NIL.
        assert 0 < math.fsum(map(math.exp, scores)) < 1
    (effect,) = [note for note in results["notes"] if note.startswith("position effect")]
    assert f"of {2 * len(lines)} questions" in effect
    assert effect.endswith(f"of {len(lines)} texts")


def test_more_options_than_the_server_takes_stop_the_run_with_advice(server: Server) -> None:
    titles = tuple(f"Bat {number}" for number in range(26))
    many = Knowledge({title: Entity(title) for title in titles}, [EntitySpace("Bat", titles)])
    with pytest.raises(LinkerError, match=r"at most 26 options .*, got 27.*: add -o choices=N with a smaller N"):
        answers_of(linker("decisions", server, choices="26"), many, BAT)
    (found,) = answers_of(linker("decisions", server, choices="25", orders="1"), many, BAT)
    assert isinstance(found, Prediction)
    assert len(found.candidates) == 25


def test_the_other_protocol_is_not_there(server: Server) -> None:
    with pytest.raises(LinkerError, match=r"/v1/decisions: 404 Not Found \(Not Found\)"):
        answers_of(linker("decisions", server, protocol="openai"), BATS, BAT)


def replies_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(json.loads(line)["text"]) for line in path.read_text().splitlines()]


def test_llm_gets_short_replies_and_reads_or_quotes_them(server: Server, mini: Dataset, tmp_path: Path) -> None:
    made = linker("llm", server, json="schema")
    made.keep_replies = tmp_path / "replies.jsonl"
    found = answers_of(made, mini.knowledge, *some(mini, 3))
    replies = replies_in(made.keep_replies)
    assert len(replies) == 3
    for reply in replies:
        content = reply["choices"][0]["message"]["content"]
        assert reply["usage"]["completion_tokens"] <= 32
        # The server ends a reply with the first JSON object.
        assert content.rstrip("}").count("}") == 0
    for answer in found:
        assert isinstance(answer, Prediction) or answer.error.startswith("the reply ")
    # It ignores `response_format`, and so refuses no schema.
    assert not [note for note in made.notes if "schema" in note]


def test_llm_in_open_mode_reads_a_title_or_quotes_the_reply(server: Server, mini: Dataset) -> None:
    (found,) = answers_of(linker("llm", server, mode="open", max_tokens="24"), mini.knowledge, *some(mini, 1))
    if isinstance(found, Failure):
        assert found.error.startswith("the reply ")
    else:
        assert (found.status, found.score) in {("linked", None), ("nil", None)}


def test_answer_asks_the_model_and_scores_its_prose(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--limit", "1", "--max-tokens", "60", "--retries", "0", "--out", "run", "--json"]
    code, out, _ = outcome(capsys, "answer", "--url", server.url, "--model", server.model, *options)
    results = json.loads(out)
    assert results["model"]["name"] == server.model
    # A reply of more than 60 tokens is cut off, and is the failure of its set.
    assert results["missing"] == code
    if not code:
        (line,) = (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
        assert json.loads(line)["answer"].strip()


def test_answer_shows_examples_about_another_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--shots", "1", "--limit", "1", "--documents", "2", "--max-tokens", "60", "--retries", "0", "--json"]
    code, out, err = outcome(capsys, "answer", "--url", server.url, "--model", server.model, *options, "--out", "run")
    results = json.loads(out)
    assert results["model"]["options"]["shots"] == 1, err
    assert (results["queries"]["held_out"], results["queries"]["sets"]) == ({"names": 10, "seed": 0}, 1)
    assert results["missing"] == code
    if not code:
        assert results["probes"]["ambigdocs"]["positions"]["first_minus_last"]["sets"] == 1


def test_the_model_writes_questions_and_answers_and_goes_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["sets", "ambigdocs", "--url", server.url, "--model", server.model, "--limit", "2", "--documents", "2"]
    command = [*asked, "-o", "max_tokens=48", "-o", "retries=0", "-o", "concurrency=1", "--out", "made", "--json"]
    code, out, err = outcome(capsys, *command)
    found = json.loads(out)
    assert bool(found["missing"]) == bool(code), err
    for funnel in found["funnels"]:
        assert funnel["seen"] == funnel["kept"] + sum(funnel["dropped"].values())
    assert [funnel["seen"] for funnel in found["funnels"][:2]] == [2, 2]
    assert (
        found["sets"] == found["funnels"][3]["kept"] == len(json.loads((tmp_path / "made/ambigdocs.json").read_text()))
    )
    # A kill after the first reply.
    replies = tmp_path / "made" / "replies.jsonl"
    lines = replies.read_text().splitlines(keepends=True)
    assert lines
    replies.write_text(lines[0] + lines[0][:5])
    _, _, err = outcome(capsys, *command)
    assert "taken from an earlier run; " in err
    # The model is asked without chance, so that the same is written again.
    assert sorted(replies.read_text().splitlines(keepends=True)) == sorted(lines)
