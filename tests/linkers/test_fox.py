"""The wrapper of FOX, against a stand-in that cleans its text, finds its names and counts UTF-16 units as FOX does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from asking import answers_of, marked
from contract import TURTLE_RUBBISH, ServiceContract
from service import Asked, Behaviour, Reply, Service, serving
from wire import units
from world import NAMES

from shadowprobe import Dataset, Failure, Linker, Prediction, Resolver, Snippet, UsageError
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job

FIXTURES = Path(__file__).parent.parent / "fixtures" / "nif"
REDUCED = (
    "FOX cannot be given a mention: it annotated the whole text, and only answers exactly on the mention count,"
    " as in GERBIL; a mention that it did not find with exactly this span, or that is neither person nor place"
    " nor organisation, is skipped"
)
# A sentence as OpenNLP cuts it: no white space around it.
SENTENCE = re.compile(r"\S.*?(?:[.?!](?=\s|$)|(?=\s*$))", re.DOTALL)
HEAD = (
    "@prefix its: <http://www.w3.org/2005/11/its/rdf#> .\n"
    "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)
AVON_GORGE = "Avon Gorge"


def linked(name: str, sentence: str) -> str:
    """What AGDISTIS makes of a name, with the last part of its URI encoded as a form is."""
    kind = "_(ship)" if "crew" in sentence else "_(river)"
    titles = {"Ourika": "Ourika", AVON_GORGE: "Avon_Gorge", **{known: f"{known}{kind}" for known in NAMES}}
    if name not in titles:
        return f"http://aksw.org/notinwiki/{name}"
    return f"http://dbpedia.org/resource/{quote(titles[name], safe='')}"


def literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'


def fox(_: int, asked: Asked) -> Reply:
    """Annotates every name that it finds, and only then asks what it means."""
    if not asked.headers["content-type"].startswith("application/json"):
        return 415, {}, b"Use a supported Content-Type please."
    given = asked.json
    if (given.get("type"), given.get("task"), given.get("output")) != ("text", "ner", "turtle"):
        return 400, {}, b"The request could not be understood by the server due to malformed parameter syntax"
    sentences = SENTENCE.findall(given["input"])
    text = " ".join(sentences).strip()
    context = f"<http://ns.aksw.org/fox/demo/document-1#char0,{units(text)}>"
    body = [
        f"{HEAD}{context} a nif:CString, nif:Context ; nif:isString {literal(text)} ;"
        f' nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "{units(text)}"^^xsd:nonNegativeInteger .'
    ]
    for found in re.finditer(rf"{AVON_GORGE}|Zzyzx|Ourika|{'|'.join(NAMES)}", text):
        start = units(text[: found.start()])
        # One entity for all places of a name.
        sentence = next(s for s in sentences if found[0] in s)
        body.append(
            f"<http://ns.aksw.org/fox/demo/document-1#char{start},{start + units(found[0])}> a nif:Phrase ;"
            f' nif:anchorOf "{found[0]}"^^xsd:string ; nif:referenceContext {context} ;'
            f' nif:beginIndex "{start}"^^xsd:nonNegativeInteger ;'
            f' nif:endIndex "{start + units(found[0])}"^^xsd:nonNegativeInteger ;'
            f" its:taClassRef <http://schema.org/Place> ; its:taIdentRef <{linked(found[0], sentence)}> ."
        )
    return 200, {"Content-Type": "application/x-turtle;charset=utf-8"}, "\n".join(body).encode()


class TestContract(ServiceContract):
    wrapper = "shadowprobe.linkers.fox:FoxLinker"
    public = "https://fox.demos.dice-research.org/fox"
    rubbish = TURTLE_RUBBISH
    one_sense = True

    def stand_in(self) -> Behaviour:
        return fox


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(fox) as running:
        yield running


def wrapper(url: str, **options: str) -> Linker:
    return make_linker(TestContract.wrapper, {"url": url, **options})


def ask(url: str, dataset: Dataset, asked: Snippet, **options: str) -> Prediction | Failure:
    return answers_of(wrapper(url, **options), dataset.knowledge, asked)[0]


RIVER = Prediction("marked", answer="http://dbpedia.org/resource/Avon_%28river%29")
SHIP = Prediction("marked", answer="http://dbpedia.org/resource/Avon_%28ship%29")
SKIPPED = Prediction("marked", status="skipped")
NIL = Prediction("marked", status="nil")


def test_an_answer_is_a_dbpedia_uri_without_a_score(service: Service, world: Dataset) -> None:
    answer = ask(service.url, world, marked("The crew of [Avon] cut down both masts."))
    assert answer == SHIP
    resolved = Resolver(world.entities.values()).resolve(SHIP.answer)
    assert (resolved.entity, resolved.rule) == ("Avon (ship)", "title")


def test_the_text_goes_out_as_json_without_the_mention(service: Service, world: Dataset) -> None:
    ask(service.url, world, marked('Ünder "100%" of \N{CLAPPER BOARD}, [Avon] runs.'))
    ask(service.url, world, marked("[Avon]"), lang="de")
    first, second = service.requests
    assert (first.method, first.path, first.query) == ("POST", "/api", {})
    assert first.headers["content-type"] == "application/json;charset=utf-8"
    assert first.json == {
        "input": 'Ünder "100%" of \N{CLAPPER BOARD}, Avon runs.',
        "type": "text",
        "task": "ner",
        "output": "turtle",
        "lang": "en",
    }
    assert second.json["lang"] == "de"


def test_a_language_that_fox_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match="option `lang`: 'pl' is not one of en, de, es, fr, it, nl"):
        make_linker(TestContract.wrapper, {"lang": "pl"})


def test_the_results_say_that_answers_were_reduced_to_the_mention(
    service: Service, world: Dataset, tmp_path: Path
) -> None:
    assert make_linking_job(wrapper(service.url), world, out=tmp_path / "run").run().results["notes"] == [REDUCED]


def test_a_name_without_an_entity_is_an_explicit_nil(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, marked("We met [Zzyzx] there.")) == NIL


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[Anglers] say that Avon runs.", id="not found"),
        pytest.param("We climbed [Avon] Gorge.", id="found longer"),
        pytest.param("We climbed [the Avon Gorge].", id="found shorter"),
        pytest.param("They climb[ Avon Gorge] again.", id="a blank too many"),
        pytest.param("They saw Avon.[ ]", id="blank"),
        pytest.param("They said [no.   Avon] runs.", id="over the end of a sentence"),
    ],
)
def test_an_answer_with_another_span_is_ignored(service: Service, world: Dataset, text: str) -> None:
    assert ask(service.url, world, marked(text)) == SKIPPED


def test_each_of_two_mentions_with_the_same_name_can_be_linked(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, marked("We like [Avon] Gorge, and Avon.")) == SKIPPED
    assert ask(service.url, world, marked("We like Avon Gorge, and [Avon].")) == RIVER


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("\n  \t", id="blanks that are cut off"),
        pytest.param("It  rained  twice.   \r\n\r\n Then it stopped!\t", id="blanks between sentences"),
        pytest.param("\N{CLAPPER BOARD}.\n\n\u00a0\u2003 \N{CLAPPER BOARD} ", id="emoji and blanks of other kinds"),
        pytest.param('A "quote" and a \\. ', id="what Turtle escapes"),
    ],
)
def test_neither_what_stands_before_nor_what_fox_cuts_off_moves_the_mention(
    service: Service, world: Dataset, before: str
) -> None:
    assert ask(service.url, world, marked(f"{before}[Avon] runs clear.  \n")) == RIVER


def test_the_fixed_answer_is_read_by_its_own_text(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (200, {}, (FIXTURES / "fox_answer.ttl").read_bytes())
    text = "\nThe crew \N{CLAPPER BOARD} of {}Avon{} left.  \nThen {}Berg{} met {}Zed{} in {}Köln{}."
    wanted = {0: SHIP, 1: NIL, 2: NIL, 3: SKIPPED}
    for number, answer in wanted.items():
        brackets = [bracket if number == place else "" for place in range(4) for bracket in "[]"]
        assert ask(service.url, world, marked(text.format(*brackets))) == answer


def test_an_answer_about_another_text_is_a_failure(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (200, {}, (FIXTURES / "fox_answer.ttl").read_bytes())
    answer = ask(service.url, world, marked("The crew of [Avon] left. Then Berg met Zed in Köln."))
    assert isinstance(answer, Failure)
    assert answer.error.startswith(
        "the answer is not about the text that was sent, but about 'The crew \N{CLAPPER BOARD}"
    )


def test_an_empty_answer_is_a_failure_as_when_fox_could_not_read_the_request(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (200, {}, b"")
    answer = ask(service.url, world, marked("Why not [Avon]?"))
    assert answer == Failure("marked", "the answer is not about the text that was sent, but about none at all")
