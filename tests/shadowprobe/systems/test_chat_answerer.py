"""What a chat model is asked about documents on namesakes, and what is taken for its answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from chat_models import saying, v1
from msgspec.structs import replace
from namesake_sets import AVON, AVON_SAID, SETS, reader
from service import Asked, Behaviour, Reply, Service, serving
from wire import as_json

from shadowprobe import Failure, LinkerError
from shadowprobe.queries.ambigdocs_sets import AmbigSet
from shadowprobe.queries.document_order import DocumentOrder
from shadowprobe.systems.chat_answerer import Answer, Asker, make_prompt

TOKEN = "sk-5ecret-t0ken"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(reader) as running:
        yield running


def ask(service: Service, *sets: AmbigSet, **options: Any) -> list[Answer | Failure]:
    asker = Asker("small", url=v1(service), **options)
    with asker.connect():
        # Replies arrive in any order.
        return sorted((answer for part in asker.ask(sets or SETS) for answer in part), key=lambda answer: answer.id)


def failure(service: Service, behaviour: Behaviour, **options: Any) -> str:
    """The failure on one set."""
    service.behaviour = behaviour
    (found,) = ask(service, AVON, **options)
    assert isinstance(found, Failure), found
    return found.error


def stop(service: Service, behaviour: Behaviour) -> str:
    """The one line that stops a run."""
    service.behaviour = behaviour
    with pytest.raises(LinkerError) as caught:
        ask(service, AVON)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_prompt_has_the_question_and_every_document_and_no_hint() -> None:
    river = "Avon (river)\nAll that is known of Avon (river)."
    ship = "Avon (ship)\nAll that is known of Avon (ship)."
    assert make_prompt(AVON) in {
        "Answer the question from the documents below and from nothing else.\n\n"
        f"Document 1: {first}\n\nDocument 2: {second}\n\nQuestion: What of Avon?\nAnswer:"
        for first, second in ((river, ship), (ship, river))
    }


def test_the_order_of_the_documents_is_drawn_for_each_set_and_stays() -> None:
    sets = [replace(AVON, qid=number) for number in range(40)]
    first = [make_prompt(one).index("Avon (river)") < make_prompt(one).index("Avon (ship)") for one in sets]
    # Neither of the two always leads: both orders come up in forty draws.
    assert set(first) == {True, False}
    assert [make_prompt(one) for one in sets] == [make_prompt(one) for one in sets]
    assert [make_prompt(one, DocumentOrder(seed=1)) for one in sets] != [make_prompt(one) for one in sets]


def test_braces_in_a_document_are_text() -> None:
    one = replace(AVON, question="What of {documents}?")
    assert "Question: What of {documents}?" in make_prompt(one)


def test_each_set_is_answered_in_the_words_of_the_model(service: Service) -> None:
    found = ask(service)
    assert [answer.id for answer in found] == ["avon", "berg", "como"]
    assert found[0] == Answer("avon", AVON_SAID)


def test_what_goes_out_is_one_user_message(service: Service) -> None:
    ask(service, AVON, order=DocumentOrder(seed=3))
    (asked,) = service.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.json == {
        "model": "small",
        "messages": [{"role": "user", "content": make_prompt(AVON, DocumentOrder(seed=3))}],
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 1024,
    }


def test_what_is_set_to_none_is_not_sent(service: Service) -> None:
    ask(service, AVON, temperature=None, seed=None, max_tokens=None)
    assert set(service.requests[0].json) == {"model", "messages"}


@pytest.mark.parametrize("thought", ["<think>Two of them?</think>\n\n", "Two of them?</think>"])
def test_what_the_model_thinks_aloud_is_no_answer(service: Service, thought: str) -> None:
    service.behaviour = saying(f"{thought}It is a river.")
    assert ask(service, AVON) == [Answer("avon", "It is a river.")]


@pytest.mark.parametrize("reply", ["<think>Which of them is", "<think>A river.</think> \n"])
def test_a_thought_without_an_answer_is_a_failure(service: Service, reply: str) -> None:
    said = "the reply is a thought without an answer: --max-tokens N allows a longer one"
    assert failure(service, saying(reply)) == said


@pytest.mark.parametrize("reply", ["", "  \n", None])
def test_an_empty_reply_is_a_failure(service: Service, reply: str | None) -> None:
    assert failure(service, saying(reply)) == "the reply is empty (finish_reason 'stop')"


def test_a_reply_that_was_cut_off_is_a_failure_and_the_option_is_named_as_it_is_typed(service: Service) -> None:
    said = failure(service, saying("The river Avon", "length"), max_tokens=5)
    assert said == "the reply was cut off (max_tokens is 5): raise it with --max-tokens N"


def test_html_is_a_failure_and_is_shown(service: Service) -> None:
    said = failure(service, lambda *_: (200, {"Content-Type": "text/html"}, b"<html>\n<h1>Hello</h1></html>"))
    assert said.startswith("the answer cannot be read (")
    assert said.endswith("'<html> <h1>Hello</h1></html>'")


def test_a_busy_model_is_asked_again_after_the_pause_that_it_wants(service: Service) -> None:
    def busy_at_first(number: int, asked: Asked) -> Reply:
        return (429, {"Retry-After": "1"}, b"") if number == 1 else reader(number, asked)

    service.behaviour = busy_at_first
    assert ask(service, AVON) == [Answer("avon", AVON_SAID)]
    first, second = service.requests
    assert second.moment - first.moment >= 1


def test_a_field_that_the_server_refuses_stops_the_run_and_says_what_to_type(service: Service) -> None:
    said = stop(service, lambda *_: as_json(400, {"error": {"message": "no 'temperature' here"}}))
    assert said.endswith("400 Bad Request (no 'temperature' here): add --temperature none")


def test_an_unknown_model_stops_the_run(service: Service) -> None:
    said = stop(service, lambda *_: as_json(404, {"error": {"message": "no such model"}}))
    assert said.endswith("does the server have the model `small`? `--url` ends in /v1 as a rule")


def test_a_dead_server_stops_the_run_at_once() -> None:
    asker = Asker("small", url="http://127.0.0.1:9/v1")
    with (
        pytest.raises(LinkerError, match=r"is the service of `llm` running\? --url \.\.\. names another"),
        asker.connect(),
    ):
        list(asker.ask(SETS))


def test_the_token_goes_out_and_is_shown_nowhere(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_LLM_TOKEN", TOKEN)
    ask(service, AVON)
    assert service.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in failure(service, lambda *_: (400, {}, f"no {TOKEN}".encode()))


def test_a_run_records_what_decides_about_the_answers_and_no_secret() -> None:
    described = Asker(
        "small", url="http://me:pass@127.0.0.1:9/v1?key=abc", order=DocumentOrder(seed=5), max_tokens=64
    ).described
    assert described["name"] == "small"
    assert described["options"] == {
        "url": "http://***@127.0.0.1:9/v1?key=***",
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 64,
        "order_seed": 5,
        "concurrency": 8,
        "rate": 0.0,
        "retries": 4,
        "timeout": 120.0,
    }
