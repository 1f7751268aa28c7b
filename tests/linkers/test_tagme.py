"""TagMe, against a stand-in that finds the names in a text itself and links all of them."""

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
from world import NAMES

from shadowprobe import Dataset, Failure, Linker, LinkerError, Prediction, Resolver, UsageError
from shadowprobe.check import check
from shadowprobe.plugins import make_linker, option_values
from shadowprobe.session import Job

Annotations = list[dict[str, Any]]
REDUCED = (
    "TagMe cannot be given a mention: it annotated the whole text, and only answers exactly on the mention count,"
    " as in GERBIL; a mention that it did not spot with these borders is skipped"
)
# Longer names that the service knows besides those of the world.
PLACES = {"Avon Gorge": 401, "Lower Berg": 402}


def tagme(_: int, asked: Asked, unit: Unit = "UTF-16") -> Reply:
    """Spots the longest names it knows, wherever they stand, and adds one spot that it could not link."""
    form = asked.form
    if form.get("gcube-token") != TOKEN:
        return 401, {}, b"Unauthorized"
    assert asked.method == "POST"
    text = Counted(form["text"], unit)
    annotations: Annotations = []
    for name in (*PLACES, *NAMES):
        for start, end in text.find(name):
            if any(one["start"] < end and start < one["end"] for one in annotations):
                continue
            page = meaning(name, text.sentence(start)) or {"id": PLACES[name], "title": name, "rho": 0.5}
            annotations.append({"spot": name, "start": start, "end": end, "link_probability": 0.11, **page})
    annotations.append({"spot": "", "start": 0, "end": 0, "link_probability": 0.9})
    answer = {"time": 3, "lang": form["lang"], "timestamp": "2021-01-01T00:00:00", "annotations": annotations}
    return as_json(answer)


def changed(change: Callable[[Annotations], Annotations]) -> Callable[[int, Asked], Reply]:
    """The service with its annotations changed on their way back."""

    def behaviour(number: int, asked: Asked) -> Reply:
        status, _, body = tagme(number, asked)
        assert status == 200
        return as_json({**json.loads(body), "annotations": change(json.loads(body)["annotations"])})

    return behaviour


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(tagme) as running:
        yield running


@pytest.fixture(autouse=True)
def with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_TAGME_TOKEN", TOKEN)
    monkeypatch.delenv("SHADOWPROBE_WAT_TOKEN", raising=False)


@pytest.fixture
def linker(service: Service) -> Linker:
    return make_linker("shadowprobe.linkers.tagme:TagmeLinker", {"url": service.url})


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
    # The link probability of 0.11 is about the name and not about the entity.
    assert answer == Prediction("marked", answer="Berg (ship)", page_id=201, score=0.41)
    resolved = Resolver(world.entities.values()).resolve(answer.answer, answer.page_id)
    assert (resolved.entity, resolved.rule) == ("Berg (ship)", "page_id")


def test_the_text_goes_out_as_a_form_without_the_mention(service: Service, linker: Linker, world: Dataset) -> None:
    answer_to('Ünder "100%" of sun & rain, [Avon] runs + shines = wins.', linker, world)
    (asked,) = service.requests
    assert (asked.method, asked.path, asked.query) == ("POST", "/api", {})
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert asked.form == {
        "text": 'Ünder "100%" of sun & rain, Avon runs + shines = wins.',
        "lang": "en",
        "gcube-token": TOKEN,
    }


def test_settings_of_the_service_are_sent_where_they_are_given(service: Service, world: Dataset) -> None:
    options = {"url": service.url, "lang": "de", "epsilon": "0.3", "long_text": "3"}
    answer_to("[Avon] runs.", make_linker("shadowprobe.linkers.tagme:TagmeLinker", options), world)
    assert service.requests[0].form == {
        "text": "Avon runs.",
        "lang": "de",
        "gcube-token": TOKEN,
        "epsilon": "0.3",
        "long_text": "3",
    }


def test_a_setting_of_zero_is_sent_too(service: Service, world: Dataset) -> None:
    options = {"url": service.url, "epsilon": "0"}
    answer_to("[Avon] runs.", make_linker("shadowprobe.linkers.tagme:TagmeLinker", options), world)
    assert service.requests[0].form["epsilon"] == "0.0"


def test_a_language_that_the_service_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match="option `lang`: 'fr' is not one of en, de, it"):
        make_linker("shadowprobe.linkers.tagme:TagmeLinker", {"lang": "fr"})


def test_a_mention_that_was_not_spotted_is_skipped_and_not_nil(linker: Linker, world: Dataset) -> None:
    assert answer_to("Nobody knows [Zzyzx] near Avon.", linker, world) == Prediction("marked", status="skipped")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("We climbed [Avon] Gorge.", id="spotted longer"),
        pytest.param("We saw Lower [Berg] again.", id="spotted longer to the left"),
        pytest.param("We saw [Como North] again.", id="spotted shorter"),
        pytest.param("We saw [Upper Como] again.", id="spotted shorter to the left"),
    ],
)
def test_a_spot_with_other_borders_is_no_answer(linker: Linker, world: Dataset, text: str) -> None:
    assert answer_to(text, linker, world).status == "skipped"


def test_the_results_say_that_answers_were_reduced_to_the_mention(linker: Linker, world: Dataset) -> None:
    answer_to("Why not [Avon]?", linker, world)
    assert linker.notes == [REDUCED]


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
        ("[Avon] runs clear. The crew of Avon rested.", "Avon (river)"),
        ("Avon runs clear. The crew of [Avon] rested.", "Avon (ship)"),
    ],
)
def test_of_a_name_that_stands_twice_the_marked_one_counts(
    linker: Linker, world: Dataset, text: str, title: str
) -> None:
    assert answer_to(text, linker, world).answer == title


def test_of_two_answers_on_the_mention_the_surer_one_counts(service: Service, linker: Linker, world: Dataset) -> None:
    service.behaviour = changed(lambda found: [{**found[0], "title": "Como (lake)", "id": 9, "rho": 0.1}, *found])
    assert answer_to("Why not [Como]?", linker, world).answer == "Como (river)"


@pytest.mark.parametrize("rho", [0.0, 0.01, 1])
def test_no_answer_is_cut_off_for_its_rho(service: Service, linker: Linker, world: Dataset, rho: float) -> None:
    service.behaviour = changed(lambda found: [{**one, "rho": rho} for one in found])
    answer = answer_to("Why not [Avon]?", linker, world)
    assert (answer.status, answer.score) == ("linked", rho)


def test_an_umlaut_before_the_mention_moves_nothing(linker: Linker, world: Dataset) -> None:
    assert answer_to("Für die crew of [Dale] über Bord.", linker, world).answer == "Dale (ship)"


@pytest.mark.parametrize("unit", ["code points", "UTF-16"])
def test_an_emoji_before_the_mention_moves_nothing_however_the_service_counts(
    service: Service, linker: Linker, world: Dataset, unit: Unit
) -> None:
    service.behaviour = lambda number, asked: tagme(number, asked, unit)
    text = "\N{CLAPPER BOARD}\N{MATHEMATICAL BOLD CAPITAL A} The crew of [Dale] \N{WATER WAVE}"
    assert answer_to(text, linker, world).answer == "Dale (ship)"
    assert service.requests[0].form["text"] == "\ufffd\ufffd The crew of Dale \ufffd"
    assert linker.notes == [
        REDUCED,
        "characters beyond the BMP, such as emoji, were sent as U+FFFD: it is not known how `tagme` counts them",
    ]


def test_a_mention_with_an_emoji_in_it_is_refused(service: Service, linker: Linker, world: Dataset) -> None:
    error = failure_of("We saw [Avon \N{WATER WAVE}] today.", linker, world)
    assert error.startswith("the mention 'Avon \N{WATER WAVE}' has characters beyond the BMP, and it is not known")
    assert service.requests == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>Bad gateway</html>", id="HTML instead of JSON"),
        pytest.param(b'{"annotations": [{"start": 0, ', id="a truncated body"),
        pytest.param(b'{"time": 3, "lang": "en"}', id="no annotations"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"annotations": {}}', id="another shape"),
        pytest.param(b'{"annotations": [{"start": "0", "end": 4, "title": "Avon"}]}', id="no number"),
        pytest.param(b"\xff\xfe\x00", id="another charset"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_rubbish_is_the_failure_of_its_snippet(service: Service, linker: Linker, world: Dataset, body: bytes) -> None:
    service.behaviour = lambda *_: (200, {}, body)
    error = failure_of("[Avon] again.", linker, world)
    assert error.startswith("the answer cannot be read (")
    assert "\n" not in error


def test_a_dead_server_stops_the_run(world: Dataset, tmp_path: Path) -> None:
    dead = make_linker("shadowprobe.linkers.tagme:TagmeLinker", {"url": "http://127.0.0.1:9/tagme/tag"})
    with pytest.raises(LinkerError, match=r"^http://127\.0\.0\.1:9/tagme/tag: no connection .*`tagme` running"):
        Job(dead, world, out=tmp_path / "run").run()


@pytest.mark.parametrize("status", [400, 413, 500])
def test_an_error_of_the_server_is_the_failure_of_its_snippet(
    service: Service, linker: Linker, world: Dataset, status: int
) -> None:
    service.behaviour = lambda *_: (status, {}, b"")
    assert failure_of("The crew of [Avon] left.", linker, world).startswith(f"{service.url}: {status} ")


def test_the_token_of_wat_is_not_the_token_of_tagme(
    service: Service, linker: Linker, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHADOWPROBE_TAGME_TOKEN")
    monkeypatch.setenv("SHADOWPROBE_WAT_TOKEN", TOKEN)
    with pytest.raises(LinkerError, match=r"`tagme` needs a token: set the .* variable SHADOWPROBE_TAGME_TOKEN$"):
        answer_to("Why not [Avon]?", linker, world)
    assert service.requests == []


def test_a_wrong_token_stops_the_run(linker: Linker, world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_TAGME_TOKEN", "wrong-one")
    with pytest.raises(LinkerError, match="401 Unauthorized: is the token in SHADOWPROBE_TAGME_TOKEN right") as raised:
        answer_to("Why not [Avon]?", linker, world)
    assert "wrong-one" not in str(raised.value)


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

    def repeats_what_it_was_sent(number: int, asked: Asked) -> Reply:
        body = b"x" * before + f"gcube-token={asked.form['gcube-token']}".encode()
        return tagme(number, asked) if number <= 2 else (status, {}, body)

    service.behaviour = repeats_what_it_was_sent
    options = {"url": service.url, "concurrency": "1", "retries": "1"}
    linker = make_linker("shadowprobe.linkers.tagme:TagmeLinker", options)
    told = ""
    try:
        Job(linker, world, out=tmp_path / "run", batch_size=4).run()
    except LinkerError as error:
        told = str(error)
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir()).decode()
    assert "tAvon" in written
    assert "HTTP Request: POST" in caplog.text
    for text in (told, written, caplog.text, str(linker.notes), str(option_values(linker))):
        # Not even the beginning of it, as a message cut short would show.
        assert TOKEN[:4] not in text


def test_the_battery_finds_nothing_broken(linker: Linker, world: Dataset) -> None:
    findings = {finding.what: finding for finding in check(linker, world)}
    assert [finding for finding in findings.values() if not finding.holds] == []
    assert findings["characters beyond the BMP before the mention"].detail == "Avon (river)"
    assert findings["an unknown name: NIL or skipped, or an answer, but no crash"].detail == "skipped"


def test_a_whole_run(linker: Linker, world: Dataset, tmp_path: Path) -> None:
    results = Job(linker, world, out=tmp_path / "run").run().results
    assert results["subsets"]["top"]["recall"] == 1.0
    assert results["subsets"]["shadow"]["recall"] == 1.0
    # The stand-in knows no novels.
    assert (results["subsets"]["tail"]["skipped"], results["subsets"]["tail"]["nil"]) == (1, 0)
    assert results["linker"]["name"] == "tagme"
    assert results["linker"]["options"]["lang"] == "en"
    for file in ("run.json", "results.json"):
        assert REDUCED in json.loads((tmp_path / "run" / file).read_text())["notes"]


def test_the_public_service_is_asked_unless_another_is_named() -> None:
    linker = make_linker("shadowprobe.linkers.tagme:TagmeLinker")
    assert option_values(linker)["url"] == "https://tagme.d4science.org/tagme/tag"
