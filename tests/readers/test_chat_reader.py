"""The reader `chat`: what goes out to an endpoint, and what is taken for the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from chat_models import v1
from service import Asked, Reply, Service, serving
from wire import as_json

from shadowprobe import Failure, LinkerError
from shadowprobe.plugins import make_reader
from shadowprobe.retrieval import Document, Query, ReaderQuery

RIVER = Document("river", "Avon (river)", "It rises near {Naseby}.")
SHIP = Document("ship", "Avon (ship)", "Built at Millwall.")
QUESTION = ReaderQuery("q", "Where does Avon rise?", task="qa", documents=(RIVER, SHIP))
SLOT = ReaderQuery("s", "Avon [SEP] place of building", task="sf", documents=(SHIP,))
CLAIM = ReaderQuery("c", "Avon rises.", task="fc", labels=("SUPPORTS", "REFUTES"), documents=(RIVER,))


def endpoint(_: int, asked: Asked) -> Reply:
    prompt = asked.json["messages"][0]["content"]
    said = "<think>SUPPORTS?</think> Refutes." if "Claim:" in prompt else "Naseby" if "rise" in prompt else "Millwall"
    message = {"role": "assistant", "content": said}
    return as_json(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(endpoint) as running:
        yield running


def read(service: Service, *queries: ReaderQuery, **options: str) -> list[Any]:
    reader = make_reader("chat", {"url": v1(service), "model": "small", **options})
    reader.setup()
    try:
        return list(reader.read(queries))
    finally:
        reader.close()


def test_answers_come_in_the_order_of_the_queries(service: Service) -> None:
    assert read(service, CLAIM, QUESTION, SLOT) == ["REFUTES", "Naseby", "Millwall"]


def test_a_prompt_goes_out_as_it_is_and_its_reply_comes_back_as_it_is(service: Service) -> None:
    reader = make_reader("chat", {"url": v1(service), "model": "small"})
    reader.setup()
    try:
        replies = reader.write([Query("a", "Claim: {it}"), Query("b", "Where did it rise?\n")])
    finally:
        reader.close()
    # Of a thought, only what follows it.
    assert replies == ["Refutes.", "Naseby"]
    sent = {asked.json["messages"][0]["content"] for asked in service.requests}
    assert sent == {"Claim: {it}", "Where did it rise?\n"}


def test_the_prompt_has_all_documents_in_their_order_and_the_question(service: Service) -> None:
    read(service, QUESTION)
    (asked,) = service.requests
    assert asked.json["messages"][0]["content"] == (
        "Answer the question from the documents below and from nothing else, in as few words as possible.\n\n"
        "Document 1: Avon (river)\nIt rises near {Naseby}.\n\nDocument 2: Avon (ship)\nBuilt at Millwall.\n\n"
        "Question: Where does Avon rise?\nAnswer:"
    )
    assert (asked.json["model"], asked.json["temperature"], asked.json["max_tokens"]) == ("small", 0.0, 256)


def test_a_slot_is_asked_as_a_question_and_a_claim_with_its_labels(service: Service) -> None:
    read(service, SLOT, CLAIM)
    prompts = sorted(asked.json["messages"][0]["content"] for asked in service.requests)
    assert prompts[0].endswith("Question: What is the place of building of Avon?\nAnswer:")
    assert "Answer with one word: SUPPORTS or REFUTES.\n" in prompts[1]


@pytest.mark.parametrize("said", ["SUPPORTS or REFUTES", "maybe"])
def test_a_reply_with_both_labels_or_none_is_kept_as_it_is(service: Service, said: str) -> None:
    message = {"role": "assistant", "content": said}
    service.behaviour = lambda *_: as_json(200, {"choices": [{"message": message}]})
    assert read(service, CLAIM) == [said]


def test_a_reply_that_was_cut_off_fails_alone_and_says_what_to_type(service: Service) -> None:
    choice = {"message": {"content": "Nas"}, "finish_reason": "length"}
    service.behaviour = lambda *_: as_json(200, {"choices": [choice]})
    (failed,) = read(service, QUESTION)
    assert isinstance(failed, Failure)
    assert failed.error == "the reply was cut off (max_tokens is 256): raise it with -o max_tokens=N"


def test_an_unknown_model_and_a_dead_server_stop_the_run(service: Service) -> None:
    service.behaviour = lambda *_: as_json(404, {"error": {"message": "no such model"}})
    with pytest.raises(LinkerError, match="does the server have the model `small`"):
        read(service, QUESTION)
    reader = make_reader("chat", {"url": "http://127.0.0.1:9/v1", "model": "small", "retries": "0"})
    reader.setup()
    with pytest.raises(LinkerError, match=r"127\.0\.0\.1:9"):
        reader.read([QUESTION])
    reader.close()
