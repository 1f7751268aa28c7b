"""The wrapper of decision models: what goes out in both protocols, and what becomes of the probabilities."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from asking import answers_of, marked
from chat_models import dozen
from contract import JSON_RUBBISH, OptionalTokenContract
from decision_models import DECISIONS, NIL, Decider, Probabilities, ask, deciding, error_of, options_of, wrapper
from service import Behaviour, Service, serving
from wire import as_json

from shadowprobe import (
    Candidate,
    Dataset,
    Entity,
    EntitySpace,
    Knowledge,
    LinkerError,
    Prediction,
    UsageError,
    open_dataset,
)
from shadowprobe.plugins import make_linker
from shadowprobe.reporting.run_summary import summarize
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.correction import correct_run
from shadowprobe.running.finished import read_runs

TOKEN = "dm-5ecret-t0ken"
AVON = marked("Why not [Avon]?")
BOTH = pytest.mark.parametrize("protocol", ["systemone", "openai"])


class TestSystemOne(OptionalTokenContract):
    wrapper = DECISIONS
    options: ClassVar = {"model": "small"}
    token = TOKEN
    rubbish = JSON_RUBBISH | {"a list": b"[]", "no answers": b'{"answers": 7}'}
    # With 404 a server says that it lacks the model, and that stops the run.
    refusals: ClassVar = {400: "400 Bad Request (no)", 409: "409 Conflict: 'no'"}

    def stand_in(self) -> Behaviour:
        return Decider(root="/api", token=self.token)

    def asked_at(self, url: str) -> str:
        return f"{url}/systemone"


class TestOpenai(TestSystemOne):
    options: ClassVar = {"model": "small", "protocol": "openai"}

    def stand_in(self) -> Behaviour:
        return Decider("openai", root="/api", token=self.token)

    def asked_at(self, url: str) -> str:
        return f"{url}/decisions"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Decider()) as running:
        yield running


INSTRUCTIONS = "What does the marked mention refer to in this text? It stands between <mention> and </mention>."


def test_system_one_gets_questions_by_name_and_options_with_descriptions(service: Service, world: Dataset) -> None:
    ask(service, world, AVON)
    (asked,) = service.requests
    (one, other) = (asked.json["questions"][name] for name in ("order1", "order2"))
    assert set(asked.json) == {"model", "state", "questions"}
    assert (asked.json["model"], asked.json["state"]) == ("small", "Why not <mention>Avon</mention>?")
    assert (one["type"], one["instructions"]) == ("choice", INSTRUCTIONS)
    assert one["criteria"] == {
        "Avon (river)": "Fresh water that runs to the sea.",
        "Avon (ship)": "Vessel with a crew and masts.",
        NIL: None,
    }
    assert list(other["criteria"]) == list(one["criteria"])[::-1]


def test_openai_gets_lists_of_questions_and_choices(service: Service, world: Dataset) -> None:
    service.behaviour = Decider("openai")
    ask(service, world, AVON, protocol="openai", orders="1", descriptions="false")
    (asked,) = service.requests
    assert set(asked.json) == {"model", "input", "questions"}
    assert asked.json["input"] == "Why not <mention>Avon</mention>?"
    (question,) = asked.json["questions"]
    assert (question["type"], question["name"], question["instructions"]) == ("choice", "order1", INSTRUCTIONS)
    assert sorted(question["choices"], key=lambda choice: choice["value"]) == [
        {"value": "Avon (river)"},
        {"value": "Avon (ship)"},
        {"value": NIL},
    ]
    ask(service, world, AVON, protocol="openai")
    described = service.requests[1].json["questions"][1]["choices"]
    assert {"value": "Avon (ship)", "description": "Vessel with a crew and masts."} in described


@BOTH
def test_probabilities_become_logarithms_of_their_means_over_the_orders(
    service: Service, world: Dataset, protocol: str
) -> None:
    # The river gets 0.5 where it stands before the ship, and 0.2 where it stands behind it: 0.35 on average. The ship
    # gets 0.2 and 0.6, so 0.4; NIL gets the rest of 0.3 and 0.2, so 0.25.
    def prefer(options: list[str]) -> Probabilities:
        if options.index("Avon (river)") < options.index("Avon (ship)"):
            return {"Avon (river)": 0.5, "Avon (ship)": 0.2, NIL: 0.3}
        return {"Avon (river)": 0.2, "Avon (ship)": 0.6, NIL: 0.2}

    service.behaviour = deciding(protocol, prefer)
    (found,) = ask(service, world, AVON, protocol=protocol)
    ship, river = round(math.log(0.4), 6), round(math.log(0.35), 6)
    assert found == Prediction(
        "marked",
        answer="Avon (ship)",
        score=ship,
        candidates=(Candidate("Avon (ship)", score=ship), Candidate("Avon (river)", score=river)),
    )


@BOTH
def test_nil_is_the_answer_if_it_is_the_most_likely_option_and_the_candidates_keep_their_scores(
    service: Service, world: Dataset, protocol: str
) -> None:
    service.behaviour = deciding(protocol, lambda _: {"Avon (river)": 0.25, "Avon (ship)": 0.125, NIL: 0.625})
    (found,) = ask(service, world, AVON, protocol=protocol)
    assert found == Prediction(
        "marked",
        status="nil",
        score=round(math.log(0.625), 6),
        candidates=(
            Candidate("Avon (river)", score=round(math.log(0.25), 6)),
            Candidate("Avon (ship)", score=round(math.log(0.125), 6)),
        ),
    )


def test_a_probability_of_zero_has_a_score(service: Service, world: Dataset) -> None:
    service.behaviour = deciding("systemone", lambda _: {"Avon (river)": 1.0, "Avon (ship)": 0, NIL: 0.0})
    (found,) = ask(service, world, AVON)
    assert isinstance(found, Prediction)
    # The logarithm of 1e-9 is -9 times that of 10, 2.302585.
    assert [candidate.score for candidate in found.candidates] == [0.0, pytest.approx(-20.723266, abs=1e-6)]


def test_rounded_probabilities_are_made_to_add_up_to_one(service: Service, world: Dataset) -> None:
    service.behaviour = deciding("systemone", lambda _: {"Avon (river)": 0.5, "Avon (ship)": 0.25, NIL: 0.23})
    (found,) = ask(service, world, AVON)
    assert isinstance(found, Prediction)
    # 0.5 of 0.98.
    assert found.score == round(math.log(25 / 49), 6)


@pytest.mark.parametrize(
    ("probabilities", "error"),
    [
        ({"Avon (river)": 0.7, "Avon (ship)": 0.3}, f"the answer has no probability for the option '{NIL}'"),
        ({}, "the answer has no probability for the option 'Avon ("),
        (
            {"Avon (river)": 0.4, "Avon (ship)": 0.1, NIL: 0.1},
            "the probabilities of the options add up to 0.60 and not to 1",
        ),
        (
            {"Avon (river)": 0.5, "Avon (ship)": 0.5, NIL: 0.5},
            "the probabilities of the options add up to 1.50 and not to 1",
        ),
        (
            {"Avon (river)": 1.5, "Avon (ship)": -0.5, NIL: 0.0},
            "the probability of the option 'Avon (",
        ),
    ],
)
@BOTH
def test_probabilities_that_cannot_be_used_are_a_failure(
    service: Service, world: Dataset, protocol: str, probabilities: Probabilities, error: str
) -> None:
    service.behaviour = deciding(protocol, lambda _: probabilities)
    assert error_of(service, world, AVON, protocol=protocol).startswith(error)


def test_a_refusal_is_a_failure(service: Service, world: Dataset) -> None:
    answers = [{"type": "refusal", "name": "order1"}, {"type": "refusal", "name": "order2"}]
    service.behaviour = lambda *_: as_json(200, {"model": "small", "answers": answers})
    assert error_of(service, world, AVON, protocol="openai") == "the model refuses to answer"


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ({}, "the reply has no answer to the question `order1`"),
        ({"order1": {"type": "noul", "noul": 0.5}}, "the answer is of the type 'noul' and not `choice`"),
        ({"order1": {"type": "choice", "choice": "Avon (ship)"}}, "the answer has no probabilities"),
    ],
)
def test_an_answer_to_another_question_is_a_failure(
    service: Service, world: Dataset, answers: dict[str, Any], error: str
) -> None:
    service.behaviour = lambda *_: as_json(200, {"answers": answers})
    assert error_of(service, world, AVON) == error


def test_answers_without_names_are_known_by_their_place(service: Service, world: Dataset) -> None:
    named = Decider("openai")

    def without_names(number: int, asked: Any) -> Any:
        status, headers, body = named(number, asked)
        reply = json.loads(body)
        for answer in reply["answers"]:
            answer["name"] = None
        return status, headers, json.dumps(reply).encode()

    service.behaviour = without_names
    (found,) = ask(service, world, marked("The crew of [Avon] left."), protocol="openai")
    assert isinstance(found, Prediction)
    assert (found.answer, found.score) == ("Avon (ship)", round(math.log(0.75), 6))


def test_every_second_order_is_the_one_before_reversed(service: Service, world: Dataset) -> None:
    answers_of(wrapper(service, orders="4"), dozen(), AVON)
    orders = list(options_of("systemone", service.requests[0]).values())
    assert len(orders) == 4
    assert (orders[1], orders[3]) == (orders[0][::-1], orders[2][::-1])
    assert orders[0] != orders[2]
    assert {frozenset(order) for order in orders} == {frozenset(orders[0])}


def test_the_first_option_is_another_one_for_each_text(service: Service, world: Dataset) -> None:
    texts = [marked(f"{'So ' * number}[Avon].", str(number)) for number in range(20)]
    ask(service, world, *texts, orders="1")
    first = {options_of("systemone", asked)["order1"][0] for asked in service.requests}
    assert first == {"Avon (river)", "Avon (ship)", NIL}


def prefer_first(options: list[str]) -> Probabilities:
    """A model that does not read: the first option gets 3/5."""
    return {option: 0.6 if place == 0 else 0.4 / (len(options) - 1) for place, option in enumerate(options)}


def test_the_position_effect_is_reported(service: Service, world: Dataset) -> None:
    service.behaviour = deciding("systemone", prefer_first)
    linker = wrapper(service)
    answers_of(linker, world.knowledge, AVON, marked("The crew of [Avon] left.", "other"))
    # Three options: by chance, each is the choice in a third of the questions.
    assert linker.notes[-1] == (
        "position effect: the first option was chosen in 100% of 4 questions, and by chance it would be 33%;"
        " another order changed the choice for 2 of 2 texts"
    )


def test_a_model_that_only_looks_at_positions_does_not_read_and_is_not_worth_a_correction(
    service: Service, tmp_path: Path
) -> None:
    service.behaviour = deciding("systemone", prefer_first)
    run = make_linking_job(wrapper(service, concurrency="32"), open_dataset("mini"), out=tmp_path / "run").run()
    assert str(summarize(run.results).sentence).startswith("decisions does not read, no usable prior: of 154 names, ")
    (finished,) = read_runs([tmp_path / "run"])
    assert correct_run(finished).found["verdict"] == "not worth it"


def test_without_a_position_effect_the_numbers_say_so(service: Service, world: Dataset) -> None:
    linker = wrapper(service, orders="1")
    service.behaviour = deciding("systemone", lambda options: dict.fromkeys(options, 1 / 3))
    answers_of(linker, world.knowledge, AVON)
    # All three are equally likely, so that the first is the choice in a third of the cases.
    assert linker.notes[-1] == (
        "position effect: the first option was chosen in 33% of 1 questions, and by chance it would be 33%"
    )


def test_of_many_candidates_the_most_common_are_options(service: Service) -> None:
    linker = wrapper(service, choices="3", orders="1")
    answers_of(linker, dozen(), AVON)
    assert set(options_of("systemone", service.requests[0])["order1"]) == {"Avon A", "Avon B", "Avon C", NIL}
    assert linker.notes[0] == "of more than 3 candidates only the most common are shown: -o choices=N shows more"


def test_the_option_for_nil_is_never_the_title_of_an_entity(service: Service) -> None:
    titles = ("None of these", "none of these.")
    knowledge = Knowledge({title: Entity(title) for title in titles}, [EntitySpace("Avon", titles)])
    answers_of(wrapper(service, orders="1"), knowledge, AVON)
    assert set(options_of("systemone", service.requests[0])["order1"]) == {*titles, "None of these.."}


TOO_MANY = "Question 'order1': this model reads at most 26 options for a choice question, got 41"


@pytest.mark.parametrize(
    ("protocol", "status", "body", "said"),
    [
        (
            "systemone",
            422,
            {"detail": [{"loc": ["body", "questions"], "msg": TOO_MANY, "type": "value_error"}]},
            f"422 Unprocessable Entity ({TOO_MANY}): add -o choices=N with a smaller N",
        ),
        (
            "systemone",
            422,
            {"detail": [{"loc": ["body"], "msg": "Dictionary should have at most 64 items after validation"}]},
            "422 Unprocessable Entity (Dictionary should have at most 64 items after validation):"
            " add -o orders=N with a smaller N",
        ),
        (
            "openai",
            400,
            {"error": {"message": "questions[0]: unknown field 'choices'"}},
            "400 Bad Request (questions[0]: unknown field 'choices'): add -o protocol=systemone",
        ),
        (
            "systemone",
            422,
            {"detail": [{"loc": ["body", "input"], "msg": "Field required", "type": "missing"}]},
            "422 Unprocessable Entity (Field required): add -o protocol=openai",
        ),
    ],
)
def test_what_a_server_refuses_stops_the_run_and_says_what_to_type(
    service: Service, world: Dataset, protocol: str, status: int, body: dict[str, Any], said: str
) -> None:
    service.behaviour = lambda *_: as_json(status, body)
    with pytest.raises(LinkerError) as caught:
        ask(service, world, AVON, protocol=protocol)
    path = "systemone" if protocol == "systemone" else "decisions"
    assert str(caught.value) == f"{service.url.replace('/api', '/v1')}/{path}: {said}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"choices": "0"}, "choices must be from 1 to 254"),
        ({"choices": "255"}, "choices must be from 1 to 254"),
        ({"orders": "0"}, "orders must be from 1 to 64"),
        ({"orders": "65"}, "orders must be from 1 to 64"),
        ({"protocol": "chat"}, "'chat' is not one of systemone, openai"),
    ],
)
def test_invalid_options_are_refused(service: Service, options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        wrapper(service, **options)


def test_the_model_is_asked_for() -> None:
    with pytest.raises(UsageError, match="needs the option `model`: add -o model=VALUE"):
        make_linker(DECISIONS, {"url": "http://127.0.0.1:9/v1"})


def test_a_run_has_log_scores_for_all_candidates(service: Service, world: Dataset, tmp_path: Path) -> None:
    results = make_linking_job(wrapper(service), world, out=tmp_path / "run").run().results
    assert results["probes"]["candidates"]["shadow"]["recall"] == 1.0
    # Without a position effect, the first of three options is the choice as often as any other.
    assert any(note.startswith("position effect: ") for note in results["notes"])
    lines = map(json.loads, (tmp_path / "run" / "predictions.jsonl").read_text().splitlines())
    assert {candidate["score"] for line in lines for candidate in line.get("candidates", ())} <= {
        round(math.log(share), 6) for share in (0.75, 0.25, 0.125)
    }


def test_missing_descriptions_are_noted_only_if_descriptions_are_shown(service: Service) -> None:
    knowledge = Knowledge({"Avon": Entity("Avon")})
    for options, count in (({}, 1), ({"descriptions": "false"}, 0)):
        linker = wrapper(service, **options)
        linker.open(knowledge)
        linker.close()
        assert len(linker.notes) == count


@pytest.mark.parametrize(("option", "value"), [("choices", 1), ("choices", 254), ("orders", 1), ("orders", 64)])
def test_the_least_and_the_largest_value_of_an_option_are_allowed(service: Service, option: str, value: int) -> None:
    assert getattr(wrapper(service, **{option: str(value)}), option) == value


def test_of_a_candidate_and_nil_with_the_same_probability_the_candidate_is_the_answer(
    service: Service, world: Dataset
) -> None:
    service.behaviour = deciding("systemone", lambda _: {"Avon (river)": 0.5, "Avon (ship)": 0.0, NIL: 0.5})
    (found,) = ask(service, world, AVON)
    assert isinstance(found, Prediction)
    assert (found.status, found.answer, found.score) == ("linked", "Avon (river)", round(math.log(0.5), 6))
