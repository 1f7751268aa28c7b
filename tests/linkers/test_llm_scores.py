"""What a chat model's log-probabilities make of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asking import answers_of, marked
from chat_models import AVON, RIVER, SHIP, Chat, Kind, Piece, ask, dozen, number_of, v1, wrapper
from service import Service, serving
from wire import as_json

from shadowprobe import Dataset, Prediction


@pytest.fixture
def chat() -> Chat:
    return Chat()


@pytest.fixture
def service(chat: Chat) -> Iterator[Service]:
    with serving(chat) as running:
        yield running


@pytest.mark.parametrize("kind", ["vllm", "llama.cpp", "ollama"])
@pytest.mark.parametrize("thinks", ["", 'Perhaps {"answer": 7}.'])
def test_the_choices_are_ranked_by_the_probability_of_their_numbers(
    service: Service, world: Dataset, kind: Kind, thinks: str
) -> None:
    service.behaviour = chat = Chat(kind)
    chat.thinks = thinks
    # 3/4 for the number and 1/16 for the same number after a space: 0.8125; 1/8 for the other.
    assert ask(service, world, marked("Anglers say that [Avon] runs clear.")) == [RIVER]
    assert ask(service, world, marked("The crew of [Avon] cut down both masts.")) == [SHIP]


def test_none_of_the_choices_is_an_explicit_nil_with_its_probability(
    service: Service, chat: Chat, world: Dataset
) -> None:
    pieces: list[Piece] = [('{"answer": ', 1.0, []), ("0", 0.5, [("0", 0.5), ("1", 0.25), ("2", 0.25)]), ("}", 1.0, [])]
    service.behaviour = lambda *_: chat.reply(pieces)
    assert ask(service, world, AVON) == [Prediction("marked", status="nil", score=0.5)]


def test_in_open_mode_every_mention_is_sent(service: Service, world: Dataset) -> None:
    # Two tokens of the title, with 1/2 and 1/8: the geometric mean is the root of 1/16.
    assert ask(service, world, marked("Nobody knows [Zorn]."), mode="open") == [
        Prediction("marked", answer="Zorn", score=0.25)
    ]


def test_tokens_that_are_half_a_character_are_counted_by_their_bytes(
    service: Service, chat: Chat, world: Dataset
) -> None:
    halves = "ü".encode()
    pieces: list[Piece] = [
        ('ü {"title": "Z', 0.25, []),
        (halves[:1], 0.25, []),
        (halves[1:], 0.5, []),
        ("rich", 0.5, []),
        ('"}', 0.1, []),
    ]
    service.behaviour = lambda *_: chat.reply(pieces)
    # Four tokens hold a part of the title: the fourth root of 1/4 * 1/4 * 1/2 * 1/2 = 1/64 is the root of 1/8.
    (found,) = ask(service, world, AVON, mode="open")
    assert found == Prediction("marked", answer="Zürich", score=0.353553)


NO_SCORES = "the server gave no log-probabilities that fit its replies: the answers have no scores"


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {"content": None},
        {"tokens": ['{"answer": 1}'], "token_logprobs": [-0.1]},
        {"content": [{"token": "{", "logprob": None}]},
        [1],
        {"content": [{"token": '{"answer": 1}', "logprob": 1e308}]},
        {"content": [{"token": '{"answer": 1}', "logprob": 0.5}]},
        {"content": [{"token": '{"answer": 1}', "logprob": -1e308}, {"token": "", "logprob": -1e308}]},
        {"content": [{"token": '{"answer": 1}', "logprob": 10**400}]},
        {"content": [{"token": '{"answer": 1}', "logprob": -0.5, "bytes": [999]}]},
        {"content": [{"token": '{"answer": 1}', "logprob": -0.5, "bytes": [-1]}]},
        {"content": [{"token": "something else", "logprob": -0.1, "bytes": None, "top_logprobs": []}]},
    ],
)
def test_log_probabilities_that_do_not_fit_leave_an_answer_without_a_score(
    service: Service, world: Dataset, logprobs: Any
) -> None:
    choice = {"message": {"content": '{"answer": 1}'}, "finish_reason": "stop", "logprobs": logprobs}
    service.behaviour = lambda *_: as_json(200, {"choices": [choice]})
    linker = wrapper(v1(service))
    (found,) = answers_of(linker, world.knowledge, AVON)
    assert isinstance(found, Prediction)
    assert (found.status, found.score) == ("linked", None)
    assert [candidate.score for candidate in found.candidates] == [None, None]
    assert NO_SCORES in linker.notes


def test_the_odd_log_probability_of_a_rival_leaves_an_answer_without_a_score(service: Service, world: Dataset) -> None:
    rival = {"token": "2", "logprob": 7e5}
    tokens = [
        {"token": '{"answer": ', "logprob": 0.0},
        {"token": "1", "logprob": -0.5, "top_logprobs": [rival]},
        {"token": "}", "logprob": 0.0},
    ]
    choice = {"message": {"content": '{"answer": 1}'}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    service.behaviour = lambda *_: as_json(200, {"choices": [choice]})
    (found,) = ask(service, world, AVON)
    assert isinstance(found, Prediction)
    assert (found.status, found.score) == ("linked", None)


def test_a_certainty_that_rounding_put_above_1_is_1(service: Service, world: Dataset) -> None:
    tokens = [{"token": '{"title": "Avon"}', "logprob": 1e-6}]
    choice = {"message": {"content": '{"title": "Avon"}'}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    service.behaviour = lambda *_: as_json(200, {"choices": [choice]})
    assert ask(service, world, AVON, mode="open") == [Prediction("marked", answer="Avon", score=1.0)]


def test_a_number_with_its_title_has_the_probability_of_the_number(
    service: Service, chat: Chat, world: Dataset
) -> None:
    ship = str(number_of(service, world, "Avon (ship)"))
    river = str(number_of(service, world, "Avon (river)"))
    pieces: list[Piece] = [
        ('{"answer": "', 1.0, []),
        (ship, 0.75, [(ship, 0.75), (river, 0.125)]),
        (". Avon (ship)", 0.5, []),
        ('"}', 1.0, []),
    ]
    service.behaviour = lambda *_: chat.reply(pieces)
    (found,) = ask(service, world, AVON)
    assert isinstance(found, Prediction)
    assert (found.answer, found.score) == ("Avon (ship)", 0.75)
    assert [candidate.score for candidate in found.candidates] == [0.75, 0.125]


def test_where_no_scores_are_wanted_none_are_missed(service: Service, chat: Chat, world: Dataset) -> None:
    chat.gives_logprobs = False
    linker = wrapper(v1(service), logprobs="false")
    answers_of(linker, world.knowledge, AVON)
    assert NO_SCORES not in linker.notes


CERTAIN = "every score of this run is exactly 0 or 1 and says nothing"


@pytest.mark.parametrize(("probability", "notes"), [(1.0, [CERTAIN]), (0.5, [])])
def test_scores_that_are_all_certain_are_noted(
    service: Service, chat: Chat, world: Dataset, probability: float, notes: list[str]
) -> None:
    service.behaviour = lambda *_: chat.reply([('{"title": "', 1.0, []), ("Avon", probability, []), ('"}', 1.0, [])])
    linker = wrapper(v1(service), mode="open")
    assert answers_of(linker, world.knowledge, AVON) == [Prediction("marked", answer="Avon", score=probability)]
    assert linker.notes == notes


def test_numbers_of_two_digits_are_not_distinguished_by_their_first_digit(service: Service, chat: Chat) -> None:
    pieces: list[Piece] = [
        ('{"answer": ', 1.0, []),
        ("1", 0.5, [("1", 0.5), ("2", 0.25)]),
        ("2", 0.25, [("2", 0.25), ("}", 0.25)]),
        ("}", 1.0, []),
    ]
    service.behaviour = lambda *_: chat.reply(pieces)
    (found,) = answers_of(wrapper(v1(service)), dozen(), AVON)
    assert isinstance(found, Prediction)
    # 1/2 for the first digit and 1/4 for the second.
    assert found.score == 0.125
    assert len(found.candidates) == 12
    assert {candidate.score for candidate in found.candidates} == {None}
    assert service.requests[0].json["top_logprobs"] == 13


def test_a_digit_that_may_begin_a_longer_number_ranks_no_choices(service: Service, chat: Chat) -> None:
    pieces: list[Piece] = [('{"answer": ', 1.0, []), ("1", 0.5, [("1", 0.5), ("2", 0.25)]), ("}", 1.0, [])]
    service.behaviour = lambda *_: chat.reply(pieces)
    (found,) = answers_of(wrapper(v1(service)), dozen(), AVON)
    assert isinstance(found, Prediction)
    assert found.score == 0.5
    # The half of a chance may have been for 10, 11 or 12.
    assert {candidate.score for candidate in found.candidates} == {None}


def test_the_tokens_of_a_thought_that_says_the_same_are_not_those_of_the_reply(
    service: Service, chat: Chat, world: Dataset
) -> None:
    # The thought is one token, of a probability of 1/2.
    chat.thinks = '{"title": "Avon"}'
    service.behaviour = lambda *_: chat.reply([('{"title": "', 1.0, []), ("Avon", 0.25, []), ('"}', 1.0, [])])
    assert ask(service, world, AVON, mode="open") == [Prediction("marked", answer="Avon", score=0.25)]
