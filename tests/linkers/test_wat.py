"""WAT, against a stand-in that reads the document in the query and annotates the spans in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import wire
from annotator_contract import AnnotatorContract
from asking import answers_of, marked, prediction_for
from contract import JSON_RUBBISH
from d4science import TOKEN, Counted, Unit, as_json, meaning
from service import Asked, Behaviour, Reply, Service, serving

from shadowprobe import Dataset, Failure, Linker, Prediction, Resolver
from shadowprobe.plugins import make_linker

Annotations = list[dict[str, Any]]


def wat(_: int, asked: Asked, unit: Unit = "UTF-16") -> Reply:
    """Links each span of the document, with underscores in the title, and leaves out what it does not know."""
    if asked.query.get("gcube-token") != TOKEN:
        return 401, {}, b"Unauthorized"
    assert (asked.method, asked.query["lang"]) == ("GET", "en")
    document = json.loads(asked.query["document"])
    text = Counted(document["text"], unit)
    annotations = []
    for span in document["spans"]:
        page = meaning(text.cut(span["start"], span["end"]), text.sentence(span["start"]))
        if page is not None:
            annotations.append({**span, **page, "title": page["title"].replace(" ", "_")})
    return as_json({"annotations": annotations})


def changed(change: Callable[[Annotations], Annotations]) -> Behaviour:
    """The service with its annotations changed on their way back."""
    return wire.changed(wat, "annotations", change)


class TestContract(AnnotatorContract):
    wrapper = "shadowprobe.linkers.wat:WatLinker"
    public = "https://wat.d4science.org/wat/tag/json"
    token = TOKEN
    # The stand-in knows no novels.
    tail = "skipped"
    rubbish = JSON_RUBBISH | {
        "a list": b"[]",
        "no start": b'{"annotations": [{"end": 7, "title": "Avon"}]}',
        "null for annotations": b'{"annotations": null}',
        "no number": b'{"annotations": [{"start": 0, "end": 4, "id": "x", "title": "Avon"}]}',
        "NaN": b'{"annotations": [{"start": 0, "end": 4, "rho": NaN, "title": "Avon"}]}',
    }

    def stand_in(self) -> Behaviour:
        return wat


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(wat) as running:
        yield running


@pytest.fixture(autouse=True)
def with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_WAT_TOKEN", TOKEN)


@pytest.fixture
def linker(service: Service) -> Linker:
    return make_linker(TestContract.wrapper, {"url": service.url})


def answer_to(text: str, linker: Linker, dataset: Dataset) -> Prediction:
    return prediction_for(linker, dataset.knowledge, marked(text))


def test_the_answer_has_the_title_the_page_id_and_rho(linker: Linker, world: Dataset) -> None:
    answer = answer_to("The crew of [Berg] cut down both masts.", linker, world)
    assert answer == Prediction("marked", answer="Berg_(ship)", page_id=201, score=0.41)
    resolved = Resolver(world.entities.values()).resolve(answer.answer, answer.page_id)
    assert (resolved.entity, resolved.rule) == ("Berg (ship)", "page_id")


def test_text_and_span_go_out_as_a_document_in_the_query(service: Service, linker: Linker, world: Dataset) -> None:
    answer_to('Ünder "100%" of sun & rain, [Avon] runs + shines = wins.', linker, world)
    (asked,) = service.requests
    assert (asked.method, asked.path, asked.body) == ("GET", "/api", b"")
    assert sorted(asked.query) == ["document", "gcube-token", "lang"]
    assert (asked.query["gcube-token"], asked.query["lang"]) == (TOKEN, "en")
    assert json.loads(asked.query["document"]) == {
        "text": 'Ünder "100%" of sun & rain, Avon runs + shines = wins.',
        "spans": [{"start": 28, "end": 32}],
    }


def test_no_charset_of_the_query_can_spoil_the_text(service: Service, linker: Linker, world: Dataset) -> None:
    answer_to("Über Köln hinweg: [Avon].", linker, world)
    assert service.requests[0].query["document"].isascii()


def test_what_the_service_leaves_out_is_skipped_and_not_nil(linker: Linker, world: Dataset) -> None:
    assert answer_to("Nobody knows [Zzyzx] here.", linker, world) == Prediction("marked", status="skipped")


def test_annotations_on_other_spans_are_left_alone(service: Service, linker: Linker, world: Dataset) -> None:
    # Longer, shorter, elsewhere; none of the service's answers has to repeat the span it was given.
    service.behaviour = changed(
        lambda found: [
            {**one, "start": one["start"] + start, "end": one["end"] + end}
            for one in found
            for start, end in ((0, 5), (0, -1), (-3, 0), (-8, -8))
        ]
    )
    assert answer_to("The crew of [Avon] left.", linker, world).status == "skipped"
    service.behaviour = changed(
        lambda found: [
            {**found[0], "start": 0, "end": 3, "title": "The", "rho": 0.9},
            *found,
            {**found[0], "end": found[0]["end"] + 5, "title": "Avon_left", "rho": 0.9},
        ]
    )
    assert answer_to("The crew of [Avon] left.", linker, world).answer == "Avon_(ship)"


@pytest.mark.parametrize("title", ["Avon (river)", "Avon_(river)", "avon_(river)"])
def test_a_title_is_the_same_entity_with_spaces_and_with_underscores(
    service: Service, linker: Linker, world: Dataset, title: str
) -> None:
    service.behaviour = changed(
        lambda found: [{key: value for key, value in {**one, "title": title}.items() if key != "id"} for one in found]
    )
    answer = answer_to("Why not [Avon]?", linker, world)
    assert answer.page_id is None
    assert Resolver(world.entities.values()).resolve(answer.answer).entity == "Avon (river)"


@pytest.mark.parametrize("unit", ["code points", "UTF-16"])
def test_an_emoji_before_the_mention_moves_nothing_however_the_service_counts(
    service: Service, linker: Linker, world: Dataset, unit: Unit
) -> None:
    service.behaviour = lambda number, asked: wat(number, asked, unit)
    text = "\N{CLAPPER BOARD}\N{MATHEMATICAL BOLD CAPITAL A} The crew of [Dale] \N{WATER WAVE}"
    assert answer_to(text, linker, world).answer == "Dale_(ship)"
    sent = json.loads(service.requests[0].query["document"])
    assert sent == {"text": "\ufffd\ufffd The crew of Dale \ufffd", "spans": [{"start": 15, "end": 19}]}
    assert linker.notes == [
        "characters beyond the BMP, such as emoji, were sent as U+FFFD: it is not known how `wat` counts them"
    ]


def test_a_text_within_the_bmp_needs_no_note(linker: Linker, world: Dataset) -> None:
    answer_to("Für \u4e2d\u6587 and \u2603: [Dale].", linker, world)
    assert linker.notes == []


def test_a_text_too_long_for_the_server_costs_its_own_answer_only(
    service: Service, linker: Linker, world: Dataset
) -> None:
    def strict(number: int, asked: Asked) -> Reply:
        return (414, {}, b"") if len(asked.query["document"]) > 8000 else wat(number, asked)

    service.behaviour = strict
    short, long, endless = (marked("[Avon] runs." + " And on." * count, str(count)) for count in (1, 1200, 12000))
    answers = answers_of(linker, world.knowledge, short, long, endless)
    assert isinstance(answers[0], Prediction)
    assert isinstance(answers[1], Failure)
    assert answers[1].error == f"{service.url}: 414 Request-URI Too Long"
    # The last one is too long for any URL, and is not even sent.
    assert isinstance(answers[2], Failure)
    assert answers[2].error == f"{service.url}: the request cannot be made (InvalidURL: URL component 'query' too long)"
    assert len(service.requests) == 2
