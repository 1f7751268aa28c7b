"""A model behind a URL: its address, and what a user is told when it refuses."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from shadowprobe import ItemError, LinkerError
from shadowprobe.systems.chat_linker import ChatLinker


def make_linker(url: str = "http://127.0.0.1:9/v1") -> ChatLinker:
    return ChatLinker("small", url=url)


def respond(status: int, body: Any) -> httpx.Response:
    return httpx.Response(status, content=json.dumps(body, separators=(",", ":")))


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("http://host:1", "http://host:1/v1/chat/completions"),
        ("http://host:1/", "http://host:1/v1/chat/completions"),
        ("http://host:1/v1/", "http://host:1/v1/chat/completions"),
        ("http://host:1/api/chat/completions", "http://host:1/api/chat/completions"),
        ("http://host:1/v1?key=1", "http://host:1/v1/chat/completions?key=1"),
    ],
)
def test_the_address_is_completed_with_what_is_missing(given: str, asked: str) -> None:
    assert make_linker(given).post({}).url == asked


def test_a_token_is_sent_only_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHADOWPROBE_LLM_TOKEN", raising=False)
    assert make_linker().post({"n": 1}).headers is None
    assert make_linker().post({"n": 1}).json == {"model": "small", "n": 1}
    monkeypatch.setenv("SHADOWPROBE_LLM_TOKEN", "t0ken")
    assert make_linker().post({}).headers == {"Authorization": "Bearer t0ken"}


@pytest.mark.parametrize(
    ("status", "complaint", "kind", "message"),
    [
        (
            404,
            "no model",
            LinkerError,
            "P (no model): does the server have the model `small`? `-o url=` ends in /v1 as a rule",
        ),
        (400, "temperature is fixed", LinkerError, "P (temperature is fixed): add -o temperature=none"),
        (422, "unknown field seed", LinkerError, "P (unknown field seed): add -o seed=none"),
        (400, "max_tokens is unknown", LinkerError, "P (max_tokens is unknown): add -o max_tokens=none"),
        # A word that only begins so.
        (400, "seedling", ItemError, "P (seedling)"),
        (400, "max_tokens and Context are too long", ItemError, "P (max_tokens and Context are too long)"),
        (401, "", LinkerError, "P: is the token in SHADOWPROBE_LLM_TOKEN right?"),
        (405, "no", ItemError, 'P: \'{"error":"no"}\''),
    ],
)
def test_a_refusal_stops_the_run_only_if_every_request_would_be_refused(
    status: int, complaint: str, kind: type[LinkerError], message: str
) -> None:
    with pytest.raises(LinkerError) as refused:
        make_linker().refuse(respond(status, {"error": complaint}), "P")
    assert (type(refused.value), str(refused.value)) == (kind, message)


def test_a_service_that_is_busy_is_not_refused() -> None:
    make_linker().refuse(httpx.Response(503, json={"error": "busy"}), "P")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"error": {"message": "too\n long"}}, "too long"),
        ({"error": "too long"}, "too long"),
        ({"message": "too long"}, "too long"),
        ({"detail": "too long"}, "too long"),
        ({"message": "too long", "detail": "other"}, "too long"),
        ({"detail": [{"msg": "is missing"}, {"msg": "other"}]}, "is missing"),
        # What has another form is quoted.
        ({"detail": []}, '{"detail":[]}'),
        ({"detail": ["x"]}, '{"detail":["x"]}'),
        ([1], "[1]"),
        ({"error": "x" * 201}, "x" * 200),
    ],
)
def test_the_complaint_of_a_server_is_found_in_each_of_its_forms(body: Any, complaint: str) -> None:
    assert make_linker().read_complaint(respond(400, body)) == complaint


def test_a_complaint_that_is_no_json_is_quoted_without_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_LLM_TOKEN", "t0ken")
    for response in (httpx.Response(400, text="bad t0ken"), httpx.Response(400, json={"error": "bad t0ken"})):
        complaint = make_linker().read_complaint(response)
        assert complaint.startswith("bad ")
        assert "t0ken" not in complaint
