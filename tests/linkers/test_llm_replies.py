"""What is read out of a chat model's reply, and what is a failure."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from chat_models import AVON, Chat, ask, error_of, number_of, saying
from service import Service, serving
from wire import as_json

from shadowprobe import Dataset, Entity, Prediction

parse_choice: Any = import_module("shadowprobe.linkers._shared.prompts").parse_choice


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Chat()) as running:
        yield running


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ('{"title": "Avon (ship)"}', "Avon (ship)"),
        ('{"title":"https://en.wikipedia.org/wiki/Avon_(ship)"}', "https://en.wikipedia.org/wiki/Avon_(ship)"),
        ('```json\n{\n  "title": "Caf\\u00e9 \\"A\\""\n}\n```', 'Café "A"'),
        ('{"title": 1984}', "1984"),
    ],
)
def test_a_title_is_passed_on_as_the_model_writes_it(
    service: Service, world: Dataset, content: str, answer: str
) -> None:
    service.behaviour = saying(content)
    assert ask(service, world, AVON, mode="open") == [Prediction("marked", answer=answer)]


@pytest.mark.parametrize("content", ['{"title": null}', '{"title": "NIL"}'])
def test_no_title_is_an_explicit_nil(service: Service, world: Dataset, content: str) -> None:
    service.behaviour = saying(content)
    assert ask(service, world, AVON, mode="open") == [Prediction("marked", status="nil")]


@pytest.mark.parametrize("content", ['{"title": ""}', '{"title": " _ "}', '{"title": true}', '{"title": ["Avon"]}'])
def test_a_reply_without_a_title_is_a_failure(service: Service, world: Dataset, content: str) -> None:
    service.behaviour = saying(content)
    assert error_of(service, world, mode="open").startswith("the reply holds no title: '{")


@pytest.mark.parametrize(
    "content",
    [
        '{"answer": N}',
        '{"answer": "N"}',
        '{"answer":N}\n',
        '```json\n{"answer": N}\n```',
        'The text speaks of it. {"answer": N} I hope that this helps!',
        '<think>Is it {"answer": 0}?</think>\n\n{"answer": N}',
        'It is {"answer": 0}...</think>{"answer": N}',
        '{"answer": N} and not {"answer": 0}',
        '{"answer": N',
        '{"reason": "a ship has a crew", "answer": N}',
        '{"answer": "Avon (ship)"}',
        '{"answer": "avon_(ship)"}',
        '{"answer": "N. Avon (ship)"}',
        '{"answer": "N. Avon (ship): a ship of the line"}',
        '{"answer": " N) the ship, by its crew"}',
        '{"answer": "N."}',
        '{"answer": N.0}',
        '{"answer": "N.0"}',
        "N",
        " N.\n",
        "**N**",
        '"N"',
        "<think>Is it 0?</think>\n\nN",
        "N. Avon (ship)",
        "N. Avon (ship): Vessel with a crew",
        "`Avon (ship)`",
    ],
)
def test_a_choice_is_read_out_of_whatever_stands_around_it(service: Service, world: Dataset, content: str) -> None:
    service.behaviour = saying(content.replace("N", str(number_of(service, world, "Avon (ship)"))))
    (found,) = ask(service, world, AVON)
    assert isinstance(found, Prediction)
    assert (found.answer, found.score) == ("Avon (ship)", None)
    assert {candidate.answer for candidate in found.candidates} == {"Avon (river)", "Avon (ship)"}


@pytest.mark.parametrize(
    "content",
    [
        '{"answer": 3}',
        '{"answer": -1}',
        '{"answer": null}',
        '{"answer": true}',
        '{"answer": 1.5}',
        '{"answer": [1]}',
        '{"answer": "Avon"}',
        '{"answer": "1 or 2"}',
        '{"answer": "3. Avon (lake)"}',
        '{"answer": "1.5 Avon"}',
        '{"answer": -1.0}',
        '{"answer": 1e999}',
    ],
)
def test_a_reply_outside_the_choices_is_a_failure(service: Service, world: Dataset, content: str) -> None:
    service.behaviour = saying(content)
    assert error_of(service, world) == f"the reply names none of the choices 0 to 2: {content!r}"


def test_a_number_with_the_title_of_another_choice_is_a_failure(service: Service, world: Dataset) -> None:
    content = f'{{"answer": "{number_of(service, world, "Avon (river)")}. Avon (ship)"}}'
    service.behaviour = saying(content)
    assert error_of(service, world) == f"the reply names none of the choices 0 to 2: {content!r}"


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("1. FC Union", 2),
        ("2. 1. FC Union", 2),
        ("1. Avon FC", 1),
        ("3. Avon", 3),
        ("4. Avon: Rise: a film", 4),
        ("1. Avon, the club", 1),
        # Here the number may be part of the title, and there the title is another's.
        ("1. FC Union: a club", None),
        ("1. Avon: a river", None),
    ],
)
def test_a_title_may_begin_with_a_number_or_with_another_title(answer: str, number: int | None) -> None:
    choices = [Entity("Avon FC"), Entity("1. FC Union"), Entity("Avon"), Entity("Avon: Rise")]
    assert parse_choice(answer, choices) == number


@pytest.mark.parametrize(
    "content",
    [
        "It is the river.",
        "1 or 2",
        "1\n2",
        "<think>1",
        "1. Avon (river)\n2. Avon (ship)",
        '{"choice": 1}',
        '{"answer": river}',
        '<think>{"answer": 1}',
        '{"answer": 1}</think>',
    ],
)
def test_a_reply_without_an_answer_is_a_failure_that_shows_it(service: Service, world: Dataset, content: str) -> None:
    service.behaviour = saying(content)
    assert error_of(service, world) == f'the reply holds no {{"answer": ...}}: {" ".join(content.split())!r}'


@pytest.mark.parametrize(
    "content", ["None of these", "none of these.", '{"answer": "None of these"}', "0", "0. None of these"]
)
def test_none_of_these_is_nil_in_words_too(service: Service, world: Dataset, content: str) -> None:
    service.behaviour = saying(content)
    assert ask(service, world, AVON) == [Prediction("marked", status="nil")]


def test_of_a_model_that_reasons_the_last_answer_counts(service: Service, world: Dataset) -> None:
    ship = number_of(service, world, "Avon (ship)")
    service.behaviour = saying(f'First {{"answer": 0}}, or rather {{"answer": {ship}}}')
    (found,) = ask(service, world, AVON, reasoning="true")
    assert isinstance(found, Prediction)
    assert found.answer == "Avon (ship)"
    # A server that ends a reply with its first JSON object would have sent no more than NIL.
    assert ask(service, world, AVON) == [Prediction("marked", status="nil")]


@pytest.mark.parametrize("content", ['{"answer": 1', '{"answer": ', "1", "The text speaks of a", "", None])
def test_a_reply_that_was_cut_off_says_what_to_raise(service: Service, world: Dataset, content: str | None) -> None:
    service.behaviour = saying(content, "length")
    cut = "the reply was cut off (max_tokens is {}): raise it with -o max_tokens=N"
    thinks = ", or add -o reasoning=true if the model thinks before it answers"
    shown = f": {content.strip()!r}" if content else ""
    assert error_of(service, world) == cut.format(32) + thinks + shown
    assert error_of(service, world, reasoning="true") == cut.format(4096) + shown


def test_a_reply_that_more_tokens_would_not_help_is_not_called_cut_off(service: Service, world: Dataset) -> None:
    # This is what SmolLM2-135M writes.
    content = '{"answer": N, "description": "The marked'
    service.behaviour = saying(content, "length")
    assert error_of(service, world) == f'the reply holds no {{"answer": ...}}: {content!r}'


def test_in_open_mode_a_reply_that_was_cut_off_is_a_failure(service: Service, world: Dataset) -> None:
    service.behaviour = saying('{"title": "Avon"}, as', "length")
    assert error_of(service, world, mode="open").startswith("the reply was cut off (max_tokens is 512): raise it")


def test_an_answer_that_is_whole_counts_although_the_rest_was_cut_off(service: Service, world: Dataset) -> None:
    service.behaviour = saying(f'{{"answer": {number_of(service, world, "Avon (ship)")}}}, because the', "length")
    (found,) = ask(service, world, AVON)
    assert isinstance(found, Prediction)
    assert found.answer == "Avon (ship)"


def test_an_empty_reply_is_a_failure(service: Service, world: Dataset) -> None:
    service.behaviour = saying(None, "content_filter")
    assert error_of(service, world) == "the reply is empty (finish_reason 'content_filter')"
    service.behaviour = saying(" \n")
    assert error_of(service, world) == "the reply is empty (finish_reason 'stop')"
    service.behaviour = saying(None, refusal="I cannot help with that.")
    assert error_of(service, world) == "the reply is empty (the model refuses: 'I cannot help with that.')"


def test_no_reply_at_all_is_a_failure(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: as_json(200, {"choices": []})
    assert error_of(service, world) == "the endpoint sent no reply: `choices` is empty"
