"""The wrapper of chat models: what goes out, what is noted, and what a server may refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from asking import answers_of, marked
from chat_models import AVON, LINE, LLM, SHIP, Chat, ask, dozen, error_of, stop_of, v1, wrapper, wrapper_open
from contract import JSON_RUBBISH, OptionalTokenContract
from service import Asked, Behaviour, Reply, Service, serving
from wire import as_json
from world import snippet

from shadowprobe import Dataset, Failure, Prediction, UsageError
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check
from shadowprobe.systems.linker import without_gold

TOKEN = "sk-5ecret-t0ken"


class TestContract(OptionalTokenContract):
    wrapper = LLM
    options: ClassVar = {"model": "small"}
    token = TOKEN
    rubbish = JSON_RUBBISH | {"a list": b"[]", "no message": b'{"choices": [{}]}', "no list": b'{"choices": "no"}'}
    # With 404 a server says that it lacks the model, and that stops the run.
    refusals: ClassVar = {400: "400 Bad Request (no)", 409: "409 Conflict: 'no'"}

    def stand_in(self) -> Behaviour:
        return Chat(root="/api", token=self.token)

    def asked_at(self, url: str) -> str:
        return f"{url}/chat/completions"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Chat()) as running:
        yield running


def test_a_run_has_all_candidates_and_says_how_many_are_shown_without_a_description(
    service: Service, world: Dataset, tmp_path: Path
) -> None:
    results = make_linking_job(wrapper(v1(service)), world, out=tmp_path / "run").run().results
    assert results["probes"]["candidates"]["shadow"]["recall"] == 1.0
    assert results["notes"] == ["1 of 9 entities have no description and are shown by their title"]


def test_a_whole_run_with_titles(service: Service, world: Dataset, tmp_path: Path) -> None:
    session = make_linking_job(wrapper(v1(service), mode="open"), world, out=tmp_path / "run").run()
    assert [session.results["subsets"][subset]["correct"] for subset in ("top", "shadow", "tail")] == [4, 4, 1]
    assert session.results["notes"] == []


def test_the_battery_finds_nothing_broken_with_titles(service: Service, world: Dataset) -> None:
    findings = check(wrapper(v1(service), mode="open"), world)
    assert [finding for finding in findings if not finding.holds] == []


def test_what_goes_out_is_one_user_message_and_what_is_wanted_of_the_reply(service: Service, world: Dataset) -> None:
    ask(service, world, marked("The novel [Ourika] sold out."))
    (asked,) = service.requests
    assert "authorization" not in asked.headers
    assert asked.json == {
        "model": "small",
        "messages": [
            {
                "role": "user",
                "content": "What does the marked mention refer to in this text?"
                " It stands between <mention> and </mention>.\n\n"
                "Text:\nThe novel <mention>Ourika</mention> sold out.\n\n"
                "Choices:\n1. Ourika\n0. None of these\n\n"
                'Answer with a JSON object and nothing else: {"answer": N}, where N is the number of the choice.',
            }
        ],
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 32,
        "stop": ["}"],
        "response_format": {"type": "json_object"},
        "logprobs": True,
        "top_logprobs": 5,
    }


def test_in_open_mode_the_prompt_asks_for_the_title_of_an_article(service: Service, world: Dataset) -> None:
    ask(service, world, marked("The novel [Ourika] sold out."), mode="open", language="German")
    (asked,) = service.requests
    assert asked.json["messages"][0]["content"] == (
        "Which article of the German Wikipedia is about what the marked mention refers to in this text?"
        " It stands between <mention> and </mention>.\n\n"
        "Text:\nThe novel <mention>Ourika</mention> sold out.\n\n"
        'Answer with a JSON object and nothing else: {"title": "..."} with the exact title of the article,'
        ' or {"title": null} if there is none.'
    )
    assert asked.json["top_logprobs"] == 1


def test_what_is_set_to_none_is_not_sent(service: Service, world: Dataset) -> None:
    options = {"json": "none", "logprobs": "false", "temperature": "none", "seed": "none", "max_tokens": "none"}
    options["reasoning"] = "true"
    ask(service, world, AVON, **options)
    assert set(service.requests[0].json) == {"model", "messages"}


@pytest.mark.parametrize(
    ("mode", "key", "value"),
    [("closed", "answer", {"type": "integer", "enum": [0, 1, 2]}), ("open", "title", {"type": ["string", "null"]})],
)
def test_a_schema_allows_only_what_can_be_read(
    service: Service, world: Dataset, mode: str, key: str, value: dict[str, Any]
) -> None:
    ask(service, world, AVON, mode=mode, json="schema")
    schema = {"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": False}
    assert service.requests[0].json["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }


@pytest.mark.parametrize(
    ("options", "tokens", "stop"),
    [
        ({}, 32, ["}"]),
        ({"max_tokens": "auto"}, 32, ["}"]),
        ({"max_tokens": "7"}, 7, ["}"]),
        ({"reasoning": "true"}, 4096, None),
        ({"reasoning": "true", "max_tokens": "900"}, 900, None),
        ({"mode": "open"}, 512, None),
        ({"mode": "open", "reasoning": "true"}, 4096, None),
    ],
)
def test_as_few_tokens_are_asked_for_as_an_answer_needs(
    service: Service, world: Dataset, options: dict[str, str], tokens: int, stop: list[str] | None
) -> None:
    ask(service, world, AVON, **options)
    assert (service.requests[0].json["max_tokens"], service.requests[0].json.get("stop")) == (tokens, stop)


class WithoutSchemas(Chat):
    """A server that fails on every JSON schema, as llama-cpp-python's does with 500."""

    status = 500

    def __call__(self, number: int, asked: Asked) -> Reply:
        if asked.json["response_format"]["type"] == "json_schema":
            return as_json(self.status, {"error": {"message": "no such type"}})
        return super().__call__(number, asked)


@pytest.mark.parametrize("status", [400, 415, 422, 500, 501])
def test_a_server_without_schemas_is_asked_with_json_object_and_a_note_says_so(
    service: Service, world: Dataset, status: int
) -> None:
    service.behaviour = chat = WithoutSchemas()
    chat.status = status
    linker = wrapper(v1(service), json="schema", concurrency="1", retries="0")
    texts = [marked(f"{'So ' * number}the crew of [Avon] left.", str(number)) for number in range(5)]
    found = answers_of(linker, world.knowledge, *texts)
    assert {answer.answer for answer in found if isinstance(answer, Prediction)} == {"Avon (ship)"}
    # Only the first of five texts was asked twice.
    kinds = [asked.json["response_format"]["type"] for asked in service.requests]
    assert kinds == ["json_schema", *["json_object"] * 5]
    (note,) = [note for note in linker.notes if "schema" in note]
    assert re.fullmatch(rf"the server refused json=schema \({status} [\w ]+\): json=object was sent instead", note)


def test_requests_that_were_under_way_with_a_schema_are_repeated_without(service: Service, world: Dataset) -> None:
    service.behaviour = WithoutSchemas()
    texts = [marked(f"{'So ' * number}the crew of [Avon] left.", str(number)) for number in range(8)]
    linker = wrapper(v1(service), json="schema", concurrency="8", retries="0")
    found = answers_of(linker, world.knowledge, *texts)
    assert [answer.answer for answer in found if isinstance(answer, Prediction)] == ["Avon (ship)"] * 8
    assert len([note for note in linker.notes if "schema" in note]) == 1


def test_a_server_that_has_answered_a_schema_keeps_it(service: Service, world: Dataset) -> None:
    chat, failing = Chat(), "Why not"

    def answer(number: int, asked: Asked) -> Reply:
        if failing in asked.json["messages"][0]["content"]:
            return as_json(400, {"error": {"message": "no"}})
        return chat(number, asked)

    service.behaviour = answer
    linker = wrapper(v1(service), json="schema", concurrency="1", retries="0")
    good, bad = marked("The crew of [Avon] left."), marked("Why not [Avon]?", "bad")
    first, second = answers_of(linker, world.knowledge, good, bad)
    assert (first, second) == (SHIP, Failure("bad", f"{v1(service)}/chat/completions: 400 Bad Request (no)"))
    assert {asked.json["response_format"]["type"] for asked in service.requests} == {"json_schema"}


def test_a_server_that_refuses_both_kinds_of_json_is_asked_without(service: Service, world: Dataset) -> None:
    message = "response_format is unknown"
    service.behaviour = lambda *_: as_json(400, {"error": {"message": message}})
    said = stop_of(service, world, json="schema")
    assert said == f"{v1(service)}/chat/completions: 400 Bad Request ({message}): add -o json=none"


def test_stored_replies_of_a_server_without_schemas_can_be_read_again(
    service: Service, world: Dataset, tmp_path: Path
) -> None:
    service.behaviour = WithoutSchemas()
    linker: Any = wrapper(v1(service), json="schema", concurrency="1")
    linker.keep_replies = tmp_path / "replies.jsonl"
    texts = [marked("The crew of [Avon] left."), marked("So the crew of [Avon] left.", "second")]
    found = answers_of(linker, world.knowledge, *texts)
    again: Any = wrapper("http://127.0.0.1:9/v1", json="schema")
    again.from_replies = tmp_path / "replies.jsonl"
    assert answers_of(again, world.knowledge, *texts) == found


def test_choices_come_with_descriptions_unless_they_are_not_wanted(world: Dataset) -> None:
    prompt = wrapper_open("http://127.0.0.1:9/v1", world).outgoing(AVON)
    assert re.search(r"^[12]\. Avon \(ship\): Vessel with a crew and masts\.$", prompt, re.MULTILINE)
    bare = wrapper_open("http://127.0.0.1:9/v1", world, descriptions="false").outgoing(AVON)
    assert re.search(r"^[12]\. Avon \(ship\)$", bare, re.MULTILINE)


def test_the_order_of_the_choices_is_drawn_for_each_text_and_does_not_follow_commonness(world: Dataset) -> None:
    linker = wrapper_open("http://127.0.0.1:9/v1", world)
    texts = [marked(f"{'So ' * number}[Avon].", str(number)) for number in range(20)]
    first = [LINE.findall(linker.outgoing(text))[0][1] for text in texts]
    assert set(first) == {"Avon (river)", "Avon (ship)"}
    assert [LINE.findall(linker.outgoing(text))[0][1] for text in texts] == first


def test_the_prompt_gives_neither_the_answer_nor_the_subset_away(world: Dataset) -> None:
    linker = wrapper_open("http://127.0.0.1:9/v1", world)
    told = snippet("sAvon", "shadow", "The crew of Avon left.", "Avon", space="Avon", gold="Avon (ship)")
    assert linker.outgoing(told) == linker.outgoing(without_gold(told))
    other = snippet("tAvon", "top", "The crew of Avon left.", "Avon", space="Berg", gold="Avon (river)", template=3)
    assert linker.outgoing(told) == linker.outgoing(other)


def test_a_text_that_holds_the_tag_gets_another(service: Service, world: Dataset) -> None:
    found = ask(service, world, marked("No </mention> and no <mention2>: the crew of [Avon] left."))
    assert found == [SHIP]
    prompt = service.requests[0].json["messages"][0]["content"]
    assert "No </mention> and no <mention2>: the crew of <mention3>Avon</mention3> left." in prompt


@pytest.mark.parametrize("before", ["Über Zürich: the crew of ", "🎬𝐀 👩‍👩‍👧 the crew of "])
def test_every_character_goes_out_as_it_is(service: Service, world: Dataset, before: str) -> None:
    assert ask(service, world, marked(f"{before}[Avon] left.")) == [SHIP]
    assert f"{before}<mention>Avon</mention> left." in service.requests[0].json["messages"][0]["content"]


def test_a_mention_without_candidates_is_skipped_without_a_request(service: Service, world: Dataset) -> None:
    linker = wrapper(v1(service))
    unknown, known = marked("Nobody knows [Zorn].", "unknown"), marked("The crew of [Avon] left.")
    assert answers_of(linker, world.knowledge, unknown, known) == [Prediction("unknown", status="skipped"), SHIP]
    assert len(service.requests) == 1
    assert "a mention without candidates in the dataset is skipped without a request" in linker.notes
    assert linker.outgoing(unknown) == ""


def test_of_many_candidates_the_most_common_are_shown_with_a_note(service: Service) -> None:
    linker = wrapper(v1(service), choices="3")
    answers_of(linker, dozen(), AVON)
    prompt = service.requests[0].json["messages"][0]["content"]
    assert {title for _, title in LINE.findall(prompt)} == {"Avon A", "Avon B", "Avon C", "None of these"}
    assert linker.notes == ["of more than 3 candidates only the most common are shown: -o choices=N shows more"]


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_endpoint_is_found_from_any_form_of_its_url(service: Service, world: Dataset, path: str) -> None:
    url = service.url.replace("/api", path)
    assert answers_of(wrapper(url), world.knowledge, marked("The crew of [Avon] left.")) == [SHIP]


def test_a_query_stays_where_it_is(service: Service, world: Dataset) -> None:
    url = service.url.replace("/api", "/v1?api-version=3")
    assert answers_of(wrapper(url), world.knowledge, marked("The crew of [Avon] left.")) == [SHIP]
    assert service.requests[0].query == {"api-version": "3"}


def test_an_unknown_model_stops_the_run_with_what_the_server_says(service: Service, world: Dataset) -> None:
    assert stop_of(service, world, model="large") == (
        f"{v1(service)}/chat/completions: 404 Not Found (The model `large` does not exist.):"
        " does the server have the model `large`? `-o url=` ends in /v1 as a rule"
    )


CONTEXT = "'max_tokens' is too large: 512. This model's maximum context length is 600 tokens"


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("'response_format.type' must be 'json_schema' or 'text'", "add -o json=schema or -o json=none"),
        ("This model does not support logprobs", "add -o logprobs=false; the answers then have no scores"),
        ("Unsupported value: 'temperature' does not support 0 with this model.", "add -o temperature=none"),
        ("Unrecognized request argument supplied: seed", "add -o seed=none"),
        ("Unsupported parameter: 'stop' is not supported with this model.", "add -o reasoning=true"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", "add -o max_tokens=none"),
    ],
)
def test_a_field_that_the_server_refuses_stops_the_run_and_says_what_to_type(
    service: Service, world: Dataset, message: str, advice: str
) -> None:
    service.behaviour = lambda *_: as_json(400, {"error": {"message": message, "type": "invalid_request_error"}})
    assert stop_of(service, world) == f"{v1(service)}/chat/completions: 400 Bad Request ({message}): {advice}"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"error": {"message": CONTEXT, "code": 400}}, id="OpenAI, llama.cpp, vLLM, Ollama"),
        pytest.param({"error": CONTEXT}, id="LM Studio"),
        pytest.param({"object": "error", "message": CONTEXT, "code": 400}, id="older vLLM"),
        pytest.param({"detail": CONTEXT}, id="FastAPI"),
        pytest.param({"detail": [{"loc": ["body"], "msg": CONTEXT, "type": "value_error"}]}, id="FastAPI, a list"),
    ],
)
def test_a_text_that_is_too_long_is_the_failure_of_its_snippet(
    service: Service, world: Dataset, body: dict[str, Any]
) -> None:
    service.behaviour = lambda *_: as_json(400, body)
    assert error_of(service, world) == f"{v1(service)}/chat/completions: 400 Bad Request ({CONTEXT})"


@pytest.mark.parametrize(
    "body", [b"no JSON", b"[1]", b'{"detail": []}', b'{"detail": [1]}', b'{"error": {"message": 7}}']
)
def test_an_error_of_another_shape_is_shown_as_it_is(service: Service, world: Dataset, body: bytes) -> None:
    service.behaviour = lambda *_: (400, {}, body)
    assert error_of(service, world) == f"{v1(service)}/chat/completions: 400 Bad Request ({body.decode()})"


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_token_that_the_server_repeats_reaches_no_message(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("SHADOWPROBE_LLM_TOKEN", TOKEN)
    # Long enough for the cut to fall into the token.
    message = f"logprobs {'x' * 185} {TOKEN}"
    service.behaviour = lambda *_: as_json(status, {"error": {"message": message}})
    said = stop_of(service, world)
    assert TOKEN[:5] not in said
    if status == 401:
        assert said.endswith("401 Unauthorized: is the token in SHADOWPROBE_LLM_TOKEN right?")


def test_the_model_is_asked_for() -> None:
    with pytest.raises(UsageError, match="needs the option `model`: add -o model=VALUE"):
        make_linker(LLM, {"url": "http://127.0.0.1:9/v1"})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"choices": "0"}, "choices must be at least 1"),
        ({"max_tokens": "0"}, "max_tokens must be at least 1"),
        ({"max_tokens": "few"}, "option `max_tokens`: 'few' is not a whole number"),
        ({"temperature": "nan"}, "temperature must be a number not below 0, or none"),
        ({"temperature": "-1"}, "temperature must be a number not below 0, or none"),
    ],
)
def test_invalid_options_of_a_model_are_refused(options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=f"^linker `{LLM}`: ValueError: {words}$|{words}$"):
        wrapper("http://127.0.0.1:9/v1", **options)


def test_one_choice_is_allowed() -> None:
    linker: Any = wrapper("http://127.0.0.1:9/v1", choices="1")
    assert linker.choices == 1
