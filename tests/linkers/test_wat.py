"""WAT, against a stand-in that reads the document in the query and annotates the spans in it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import answers_of, marked
from d4science import TOKEN, Counted, Unit, as_json, meaning
from service import Asked, Reply, Service, serving

from shadowprobe import Dataset, Failure, Linker, LinkerError, Prediction, Resolver
from shadowprobe.check import check
from shadowprobe.plugins import make_linker, option_values
from shadowprobe.session import Job

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


def changed(change: Callable[[Annotations], Annotations]) -> Callable[[int, Asked], Reply]:
    """The service with its annotations changed on their way back."""

    def behaviour(number: int, asked: Asked) -> Reply:
        status, _, body = wat(number, asked)
        assert status == 200
        return as_json({"annotations": change(json.loads(body)["annotations"])})

    return behaviour


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(wat) as running:
        yield running


@pytest.fixture(autouse=True)
def with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_WAT_TOKEN", TOKEN)
    monkeypatch.delenv("SHADOWPROBE_TAGME_TOKEN", raising=False)


@pytest.fixture
def linker(service: Service) -> Linker:
    return make_linker("shadowprobe.linkers.wat:WatLinker", {"url": service.url})


def answer_to(text: str, linker: Linker, dataset: Dataset) -> Prediction:
    (answer,) = answers_of(linker, dataset.knowledge, marked(text))
    assert isinstance(answer, Prediction), answer.error
    return answer


def failure_of(text: str, linker: Linker, dataset: Dataset) -> str:
    (answer,) = answers_of(linker, dataset.knowledge, marked(text))
    assert isinstance(answer, Failure)
    return answer.error


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


@pytest.mark.parametrize("title", [{}, {"title": None}, {"title": ""}])
def test_an_annotation_without_a_title_is_no_answer(
    service: Service, linker: Linker, world: Dataset, title: dict[str, Any]
) -> None:
    service.behaviour = changed(
        lambda found: [{key: value for key, value in one.items() if key != "title"} | title for one in found]
    )
    assert answer_to("Why not [Avon]?", linker, world).status == "skipped"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("[Avon] runs clear. The crew of Avon rested.", "Avon_(river)"),
        ("Avon runs clear. The crew of [Avon] rested.", "Avon_(ship)"),
    ],
)
def test_of_a_name_that_stands_twice_the_marked_one_is_asked_for(
    linker: Linker, world: Dataset, text: str, title: str
) -> None:
    assert answer_to(text, linker, world).answer == title


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


def test_of_two_answers_on_the_mention_the_surer_one_counts(service: Service, linker: Linker, world: Dataset) -> None:
    service.behaviour = changed(
        lambda found: [{**found[0], "title": "Como (lake)", "id": 9, "rho": 0.1}, *found, {**found[0], "rho": 0.2}]
    )
    assert answer_to("Why not [Como]?", linker, world) == Prediction(
        "marked", answer="Como_(river)", page_id=102, score=0.73
    )


@pytest.mark.parametrize("rho", [0.0, 0.01, 1])
def test_no_answer_is_cut_off_for_its_rho(service: Service, linker: Linker, world: Dataset, rho: float) -> None:
    service.behaviour = changed(lambda found: [{**one, "rho": rho} for one in found])
    answer = answer_to("Why not [Avon]?", linker, world)
    assert (answer.status, answer.score) == ("linked", rho)


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


def test_an_umlaut_before_the_mention_moves_nothing(linker: Linker, world: Dataset) -> None:
    assert answer_to("Für die crew of [Dale] über Bord.", linker, world).answer == "Dale_(ship)"


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


def test_a_mention_with_an_emoji_in_it_is_refused(service: Service, linker: Linker, world: Dataset) -> None:
    error = failure_of("We saw [Avon \N{WATER WAVE}] today.", linker, world)
    assert error.startswith("the mention 'Avon \N{WATER WAVE}' has characters beyond the BMP, and it is not known")
    assert service.requests == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>Bad gateway</html>", id="HTML instead of JSON"),
        pytest.param(b'{"annotations": [{"start": 0, ', id="a truncated body"),
        pytest.param(b'{"error": "no"}', id="another shape"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"annotations": null}', id="null"),
        pytest.param(b'{"annotations": [{"end": 7, "title": "Avon"}]}', id="no start"),
        pytest.param(b'{"annotations": [{"start": 0, "end": 4, "id": "x", "title": "Avon"}]}', id="no number"),
        pytest.param(b'{"annotations": [{"start": 0, "end": 4, "rho": NaN, "title": "Avon"}]}', id="NaN"),
        pytest.param(b"\xff\xfe\x00", id="another charset"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_rubbish_is_the_failure_of_its_snippet(service: Service, linker: Linker, world: Dataset, body: bytes) -> None:
    service.behaviour = lambda *_: (200, {}, body)
    error = failure_of("[Avon] again.", linker, world)
    assert error.startswith("the answer cannot be read (")
    assert "\n" not in error


def shows_no_query(message: str) -> bool:
    return not any(part in message for part in ("?", "gcube", "document", "%22", "spans", TOKEN))


def test_a_dead_server_stops_the_run_without_showing_the_query(world: Dataset, tmp_path: Path) -> None:
    dead = make_linker("shadowprobe.linkers.wat:WatLinker", {"url": "http://127.0.0.1:9/wat/tag/json"})
    with pytest.raises(LinkerError, match=r"^http://127\.0\.0\.1:9/wat/tag/json: no connection ") as raised:
        Job(dead, world, out=tmp_path / "run").run()
    # The hint at the end asks whether the service is running.
    assert shows_no_query(str(raised.value).replace("running?", ""))


@pytest.mark.parametrize("status", [400, 404, 414, 500, 503])
def test_an_error_of_the_server_is_told_without_the_query(
    service: Service, linker: Linker, world: Dataset, status: int
) -> None:
    service.behaviour = lambda *_: (status, {}, b"")
    error = failure_of("The crew of [Avon] left.", linker, world)
    assert error.startswith(f"{service.url}: {status} ")
    assert shows_no_query(error)


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
    assert answers[1].error == f"{service.url}: 414 Request-URI Too Long: ''"
    # The last one is too long for any URL, and is not even sent.
    assert isinstance(answers[2], Failure)
    assert answers[2].error == f"{service.url}: URL component 'query' too long"
    assert len(service.requests) == 2


def test_the_token_of_tagme_is_not_the_token_of_wat(
    service: Service, linker: Linker, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHADOWPROBE_WAT_TOKEN")
    monkeypatch.setenv("SHADOWPROBE_TAGME_TOKEN", TOKEN)
    with pytest.raises(LinkerError, match=r"`wat` needs a token: set the environment variable SHADOWPROBE_WAT_TOKEN$"):
        answer_to("Why not [Avon]?", linker, world)
    assert service.requests == []


def test_a_wrong_token_stops_the_run(linker: Linker, world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_WAT_TOKEN", "wrong-one")
    with pytest.raises(LinkerError, match="401 Unauthorized: is the token in SHADOWPROBE_WAT_TOKEN right") as raised:
        answer_to("Why not [Avon]?", linker, world)
    assert "wrong-one" not in str(raised.value)


def echo(status: int, before: int) -> Callable[[int, Asked], Reply]:
    """A server whose error page repeats the query that it was sent, after so many other characters."""
    return lambda _, asked: (status, {}, b"x" * before + f"?gcube-token={asked.query['gcube-token']}&".encode())


@pytest.mark.parametrize(("status", "before"), [(200, 0), (200, 100), (400, 0), (400, 100), (403, 0), (500, 0)])
def test_the_token_reaches_no_message_no_file_no_note_and_no_log(
    service: Service,
    world: Dataset,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    status: int,
    before: int,
) -> None:
    caplog.set_level(logging.DEBUG)
    refuses = echo(status, before)
    service.behaviour = lambda number, asked: wat(number, asked) if number <= 2 else refuses(number, asked)
    options = {"url": service.url, "concurrency": "1", "retries": "1"}
    linker = make_linker("shadowprobe.linkers.wat:WatLinker", options)
    told = ""
    try:
        Job(linker, world, out=tmp_path / "run", batch_size=4).run()
    except LinkerError as error:
        told = str(error)
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir()).decode()
    assert "tAvon" in written
    assert "HTTP Request: GET" in caplog.text
    for text in (told, written, caplog.text, str(linker.notes), str(option_values(linker))):
        # Not even the beginning of it, as a message cut short would show.
        assert TOKEN[:4] not in text


def test_the_battery_finds_nothing_broken(linker: Linker, world: Dataset) -> None:
    findings = {finding.what: finding for finding in check(linker, world)}
    assert [finding for finding in findings.values() if not finding.holds] == []
    assert findings["characters beyond the BMP before the mention"].detail == "Avon_(river)"
    assert findings["an unknown name: NIL or skipped, or an answer, but no crash"].detail == "skipped"


def test_a_whole_run(service: Service, linker: Linker, world: Dataset, tmp_path: Path) -> None:
    results = Job(linker, world, out=tmp_path / "run").run().results
    assert results["subsets"]["top"]["recall"] == 1.0
    assert results["subsets"]["shadow"]["recall"] == 1.0
    # The stand-in knows no novels.
    assert (results["subsets"]["tail"]["skipped"], results["subsets"]["tail"]["nil"]) == (1, 0)
    assert results["linker"]["name"] == "wat"
    assert results["linker"]["options"]["url"] == service.url


def test_the_public_service_is_asked_unless_another_is_named() -> None:
    linker = make_linker("shadowprobe.linkers.wat:WatLinker")
    assert option_values(linker)["url"] == "https://wat.d4science.org/wat/tag/json"
