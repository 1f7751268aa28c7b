"""TagMe, against a stand-in that finds the names in a text itself and links all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annotator_contract import AnnotatorContract
from asking import marked, prediction_for
from contract import JSON_RUBBISH
from d4science import TOKEN, Counted, Unit, as_json, meaning
from service import Asked, Behaviour, Reply, Service, serving
from world import NAMES

from shadowprobe import Dataset, Linker, Prediction, Resolver, UsageError
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job

Annotations = list[dict[str, Any]]
REDUCED = (
    "TagMe cannot be given a mention: it annotated the whole text, and only answers exactly on the mention count,"
    " as in GERBIL; a mention that it did not find with exactly this span is skipped"
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


class TestContract(AnnotatorContract):
    wrapper = "shadowprobe.linkers.tagme:TagmeLinker"
    public = "https://tagme.d4science.org/tagme/tag"
    token = TOKEN
    # The stand-in knows no novels.
    tail = "skipped"
    rubbish = JSON_RUBBISH | {
        "a list": b"[]",
        "no annotations": b'{"time": 3, "lang": "en"}',
        "another shape": b'{"annotations": {}}',
        "no number": b'{"annotations": [{"start": "0", "end": 4, "title": "Avon"}]}',
    }

    def stand_in(self) -> Behaviour:
        return tagme


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(tagme) as running:
        yield running


@pytest.fixture(autouse=True)
def with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_TAGME_TOKEN", TOKEN)


@pytest.fixture
def linker(service: Service) -> Linker:
    return make_linker(TestContract.wrapper, {"url": service.url})


def answer_to(text: str, linker: Linker, dataset: Dataset) -> Prediction:
    return prediction_for(linker, dataset.knowledge, marked(text))


def test_the_answer_has_the_title_the_page_id_and_rho(linker: Linker, world: Dataset) -> None:
    answer = answer_to("The crew of [Berg] cut down both masts.", linker, world)
    # The link probability of 0.11 is about the name and not about the entity.
    assert answer == Prediction("marked", answer="Berg (ship)", page_id=201, score=0.41)
    resolved = Resolver(world.entities.values()).resolve(answer.answer, answer.page_id)
    assert (resolved.entity, resolved.rule) == ("Berg (ship)", "page_id")


def test_a_confidence_may_be_written_as_text(service: Service, linker: Linker, world: Dataset) -> None:
    found = [
        {"start": 0, "end": 4, "id": 7, "title": title, "rho": rho}
        for title, rho in (("Avon (ship)", "0.0975"), ("Avon (river)", "0.5"), ("Avon", 0.25))
    ]
    service.behaviour = lambda *_: (200, {}, json.dumps({"annotations": found}).encode())
    assert answer_to("[Avon] runs.", linker, world) == Prediction("marked", answer="Avon (river)", page_id=7, score=0.5)


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
    answer_to("[Avon] runs.", make_linker(TestContract.wrapper, options), world)
    assert service.requests[0].form == {
        "text": "Avon runs.",
        "lang": "de",
        "gcube-token": TOKEN,
        "epsilon": "0.3",
        "long_text": "3",
    }


def test_a_setting_of_zero_is_sent_too(service: Service, world: Dataset) -> None:
    options = {"url": service.url, "epsilon": "0"}
    answer_to("[Avon] runs.", make_linker(TestContract.wrapper, options), world)
    assert service.requests[0].form["epsilon"] == "0.0"


def test_a_language_that_the_service_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match="option `lang`: 'fr' is not one of en, de, it"):
        make_linker(TestContract.wrapper, {"lang": "fr"})


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


def test_the_results_say_that_answers_were_reduced_to_the_mention(
    linker: Linker, world: Dataset, tmp_path: Path
) -> None:
    results = make_linking_job(linker, world, out=tmp_path / "run").run().results
    assert results["linker"]["options"]["lang"] == "en"
    for file in ("run.json", "results.json"):
        assert json.loads((tmp_path / "run" / file).read_text())["notes"] == [REDUCED]


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
