"""The wrapper of NIF annotators, against one that reads and writes its Turtle with a library of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import answers_of, marked
from contract import TURTLE_RUBBISH, ServiceContract
from rdflib import RDF, Graph, Literal, Namespace, URIRef
from service import Asked, Behaviour, Reply, Service, serving
from world import NAMES, snippet

from shadowprobe import Candidate, Dataset, Entity, Failure, Knowledge, Linker, Prediction, Snippet
from shadowprobe.plugins import make_linker

FIXTURES = Path(__file__).parent.parent / "fixtures" / "nif"
NIF = Namespace("http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#")
ITS = Namespace("http://www.w3.org/2005/11/its/rdf#")
DBPEDIA = "http://dbpedia.org/resource/"


def meaning(name: str, before: str) -> str | None:
    """The entity of a name: a ship where a crew is named before it; NIL for Nobody, and nothing for a stranger."""
    if name in {*NAMES, "Ourika"}:
        kind = "_(ship)" if before.endswith("crew of ") else "_(river)"
        return f"{DBPEDIA}{name}{kind if name in NAMES else ''}"
    return f"http://aksw.org/notInWiki/{name}" if name == "Nobody" else None


def annotator(_: int, asked: Asked) -> Reply:
    """Says of every phrase what it means, in the document that came."""
    graph = Graph().parse(data=asked.body, format="turtle")
    text = str(next(graph.objects(predicate=NIF.isString)))
    for phrase in list(graph.subjects(RDF.type, NIF.Phrase)):
        start, end = (int(str(graph.value(phrase, NIF[name]))) for name in ("beginIndex", "endIndex"))
        assert text[start:end] == str(graph.value(phrase, NIF.anchorOf))
        if uri := meaning(text[start:end], text[:start]):
            graph.add((phrase, ITS.taIdentRef, URIRef(uri)))
            graph.add((phrase, ITS.taConfidence, Literal(0.75)))
    return 200, {"Content-Type": "application/x-turtle"}, graph.serialize(format="turtle").encode()


def saying(*phrases: str, text: str = "Why not Avon?") -> Behaviour:
    """A service that says the same to everyone: of the text, and of phrases on the name at 8."""
    head = f"@prefix nif: <{NIF}> . @prefix itsrdf: <{ITS}> .\n"
    context = f'<http://x.example/1#c> nif:isString "{text}" .\n'
    said = "".join(
        f"<http://x.example/1#{number}> nif:referenceContext <http://x.example/1#c> ;"
        f" nif:beginIndex 8 ; nif:endIndex 12 {phrase} .\n"
        for number, phrase in enumerate(phrases)
    )
    return lambda *_: (200, {}, (head + context + said).encode())


class TestContract(ServiceContract):
    wrapper = "shadowprobe.linkers.nif:NifLinker"
    rubbish = TURTLE_RUBBISH

    def stand_in(self) -> Behaviour:
        return annotator


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(annotator) as running:
        yield running


def wrapper(url: str, **options: str) -> Linker:
    return make_linker(TestContract.wrapper, {"url": url, **options})


def ask(url: str, dataset: Dataset, asked: Snippet, **options: str) -> Prediction | Failure:
    return answers_of(wrapper(url, **options), dataset.knowledge, asked)[0]


RIVER = Prediction("marked", answer=f"{DBPEDIA}Avon_(river)", score=0.75)
SHIP = Prediction("marked", answer=f"{DBPEDIA}Avon_(ship)", score=0.75)
WHY_NOT = marked("Why not [Avon]?")


def test_an_answer_is_the_annotators_uri_and_its_confidence(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, marked("Anglers say that [Avon] runs clear.")) == RIVER
    assert ask(service.url, world, marked("The crew of [Avon] cut down both masts.")) == SHIP


def test_what_goes_out_is_what_gerbil_sends(service: Service, world: Dataset) -> None:
    ask(service.url, world, marked('He said "\N{CLAPPER BOARD} [Avon]\\"\r\n'))
    (asked,) = service.requests
    assert (asked.method, asked.path, asked.query) == ("POST", "/api", {})
    assert asked.headers["content-type"] == "application/x-turtle;charset=UTF-8"
    assert (asked.headers["accept"], asked.headers["accept-charset"]) == ("application/x-turtle", "UTF-8")
    graph = Graph().parse(data=asked.body, format="turtle")
    context = next(graph.subjects(NIF.isString))
    phrase = next(graph.subjects(NIF.referenceContext, context))
    # Nineteen code points, of which the mention is the twelfth to the fifteenth; the emoji is one.
    assert str(context).endswith("#char=0,19")
    assert str(phrase) == str(context).replace("#char=0,19", "#char=11,15")
    assert {(str(p).rpartition("#")[2], str(o).rpartition("#")[2]) for p, o in graph.predicate_objects(phrase)} == {
        ("type", "Phrase"),
        ("type", "String"),
        ("type", "RFC5147String"),
        ("anchorOf", "Avon"),
        ("beginIndex", "11"),
        ("endIndex", "15"),
        ("referenceContext", "char=0,19"),
    }
    assert str(graph.value(context, NIF.isString)) == 'He said "\N{CLAPPER BOARD} Avon\\"\r\n'


def test_a_request_tells_neither_the_id_nor_the_order_and_is_the_same_for_the_same_question() -> None:
    linker = wrapper("http://127.0.0.1:9/")
    first = linker.outgoing(snippet("top-1", "top", "Why not Avon?", "Avon", gold="Avon (river)"))
    assert linker.outgoing(snippet("shadow-2", "shadow", "Why not Avon?", "Avon", gold="Avon (ship)")) == first
    assert linker.outgoing(marked("Why not Avon, [Avon]?")) != linker.outgoing(marked("Why not [Avon], Avon?"))


def test_a_fixed_answer_is_read_mention_by_mention(service: Service, world: Dataset) -> None:
    text = 'Jordan beat Utah near "Zürich", Bob.'
    titles = {"Michael Jordan": None, "Utah Jazz": "Q161345"}
    knowledge = Knowledge({title: Entity(title, qid=qid) for title, qid in titles.items()})
    asked = [snippet(name, "all", text, name) for name in ("Jordan", "Utah", "Zürich", "Bob")]
    wanted = [
        Prediction("Jordan", answer=f"{DBPEDIA}Michael_Jordan", score=0.83),
        Prediction("Utah", answer=f"{DBPEDIA}Utah_Jazz", qid="Q161345"),
        Prediction("Zürich", status="nil"),
        Prediction("Bob", status="skipped"),
    ]
    for name in ("answer.ttl", "answer_by_another_writer.ttl"):
        body = (FIXTURES / name).read_bytes()
        service.behaviour = lambda *_, body=body: (200, {"Content-Type": "text/turtle;charset=ISO-8859-1"}, body)
        assert answers_of(wrapper(service.url), knowledge, *asked) == wanted


def test_a_uri_outside_every_knowledge_base_is_an_explicit_nil(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, marked("It was [Nobody] again.")) == Prediction("marked", status="nil", score=0.75)
    for uri in ("http://aksw.org/unknown_entity/1", "http://aksw.org/notinwiki/Avon"):
        service.behaviour = saying(f"; itsrdf:taIdentRef <{uri}>")
        assert ask(service.url, world, WHY_NOT) == Prediction("marked", status="nil")


def test_a_mention_without_an_entity_is_skipped(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, marked("Nobody knows [Zzyzx].")) == Prediction("marked", status="skipped")
    service.behaviour = saying()
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", status="skipped")


def test_entities_of_other_spans_are_not_used_for_the_mention(service: Service, world: Dataset) -> None:
    service.behaviour = saying(f"; itsrdf:taIdentRef <{DBPEDIA}Avon_Inc>", text="Why not Avon Inc?")
    assert ask(service.url, world, marked("Why not [Avon Inc]?")) == Prediction("marked", status="skipped")
    assert ask(service.url, world, marked("[Why] not Avon Inc?")) == Prediction("marked", status="skipped")


def test_each_of_two_mentions_with_the_same_name_can_be_linked(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, marked("The crew of [Avon] rowed up Avon at dawn.")) == SHIP
    assert ask(service.url, world, marked("The crew of Avon rowed up [Avon] at dawn.")) == RIVER


def test_an_answer_in_utf16_units_is_understood(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (200, {}, (FIXTURES / "answer_in_utf16.ttl").read_bytes())
    asked = marked("Grüße: Avon \N{CLAPPER BOARD} met [Dale].")
    assert ask(service.url, world, asked) == Prediction("marked", answer=f"{DBPEDIA}Dale_(ship)")


KNOWN, ELSEWHERE = f"<{DBPEDIA}Avon_(ship)>", "<http://aaa.example/Avon>"


def test_of_several_names_for_one_entity_one_that_the_dataset_knows_is_taken(service: Service, world: Dataset) -> None:
    service.behaviour = saying(f"; itsrdf:taIdentRef {ELSEWHERE}, {KNOWN}, <http://aksw.org/notInWiki/Avon>")
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", answer=f"{DBPEDIA}Avon_(ship)")


def test_an_entity_that_the_answer_declares_to_be_the_same_is_taken_if_the_dataset_knows_it(
    service: Service, world: Dataset
) -> None:
    same = f"<http://own.example/7> <http://www.w3.org/2002/07/owl#sameAs> <{DBPEDIA}Avon_(river)>"
    service.behaviour = saying(f"; itsrdf:taIdentRef <http://own.example/7> . {same}")
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", answer=f"{DBPEDIA}Avon_(river)")


def test_of_the_same_title_in_two_languages_that_of_the_dataset_is_taken(service: Service, world: Dataset) -> None:
    german = "http://de.dbpedia.org/resource/Avon_(ship)"
    service.behaviour = saying(f"; itsrdf:taIdentRef {KNOWN}, <{german}>")
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", answer=f"{DBPEDIA}Avon_(ship)")
    world.card.language = "de"
    del world.knowledge
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", answer=german)


def test_a_qid_goes_along_with_a_title(service: Service, world: Dataset) -> None:
    service.behaviour = saying(f"; itsrdf:taIdentRef <http://www.wikidata.org/entity/Q7>, {KNOWN}")
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", answer=f"{DBPEDIA}Avon_(ship)", qid="Q7")


def test_an_entity_of_another_knowledge_base_is_an_answer_and_not_nil(service: Service, world: Dataset) -> None:
    service.behaviour = saying(f"; itsrdf:taIdentRef {ELSEWHERE}")
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", answer="http://aaa.example/Avon")


def test_of_several_phrases_on_the_mention_the_most_confident_is_the_answer_and_all_are_candidates(
    service: Service, world: Dataset
) -> None:
    said = [
        f"; itsrdf:taIdentRef {ELSEWHERE}",
        f"; itsrdf:taIdentRef <{DBPEDIA}Avon_(river)> ; itsrdf:taConfidence 0.25",
        f"; itsrdf:taIdentRef {KNOWN} ; itsrdf:taConfidence 0.5",
        "; itsrdf:taIdentRef <http://aksw.org/notInWiki/Avon> ; itsrdf:taConfidence 0.125",
        "; itsrdf:taConfidence 0.875",
    ]
    service.behaviour = saying(*said)
    assert ask(service.url, world, WHY_NOT) == Prediction(
        "marked",
        answer=f"{DBPEDIA}Avon_(ship)",
        score=0.5,
        candidates=(
            Candidate(answer=f"{DBPEDIA}Avon_(ship)", score=0.5),
            Candidate(answer=f"{DBPEDIA}Avon_(river)", score=0.25),
            Candidate(answer="http://aaa.example/Avon"),
        ),
    )
    service.behaviour = saying(said[1], said[3].replace("0.125", "0.875"))
    assert ask(service.url, world, WHY_NOT) == Prediction("marked", status="nil", score=0.875)


def test_a_service_may_change_what_follows_the_mention_but_nothing_before_its_end(
    service: Service, world: Dataset
) -> None:
    service.behaviour = saying(f"; itsrdf:taIdentRef {KNOWN}", text="Why not Avon?")
    ship = Prediction("marked", answer=f"{DBPEDIA}Avon_(ship)")
    assert ask(service.url, world, marked("Why not [Avon]?\n ")) == ship
    answer = ask(service.url, world, marked("Who not [Avon]?"))
    assert isinstance(answer, Failure)
    assert answer.error == "the answer is not about the text that was sent, but about 'Why not Avon?'"
    # Of a long text 80 characters are shown.
    service.behaviour = saying(f"; itsrdf:taIdentRef {KNOWN}", text="Why not Avon" + "?" * 69)
    answer = ask(service.url, world, marked("Who not [Avon]?"))
    assert isinstance(answer, Failure)
    assert answer.error.endswith(f", but about 'Why not Avon{'?' * 68}'")


@pytest.mark.parametrize(
    ("body", "about"),
    [
        pytest.param(b"", "none at all", id="nothing"),
        pytest.param((FIXTURES / "gerbil_test_call.ttl").read_bytes(), "'Jordan beat Utah.'", id="another text"),
    ],
)
def test_an_answer_that_is_not_about_the_text_is_a_failure_and_not_a_skipped_mention(
    service: Service, world: Dataset, body: bytes, about: str
) -> None:
    service.behaviour = lambda *_: (200, {}, body)
    answer = ask(service.url, world, WHY_NOT)
    assert answer == Failure("marked", f"the answer is not about the text that was sent, but about {about}")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        pytest.param((FIXTURES / "answer.ttl").read_bytes()[:-20], "not Turtle: ", id="a truncated body"),
        pytest.param(b"\xff\xfe\x00", "not UTF-8: ", id="bytes"),
    ],
)
def test_a_reply_that_is_not_nif_is_reported(service: Service, world: Dataset, body: bytes, problem: str) -> None:
    service.behaviour = lambda *_: (200, {}, body)
    answer = ask(service.url, world, WHY_NOT)
    assert isinstance(answer, Failure)
    assert answer.error.startswith(f"the answer cannot be read (NifError: {problem}")


def test_a_confidence_that_is_no_number_is_a_failure(service: Service, world: Dataset) -> None:
    service.behaviour = saying(f'; itsrdf:taIdentRef {KNOWN} ; itsrdf:taConfidence "high"')
    answer = ask(service.url, world, WHY_NOT)
    assert isinstance(answer, Failure)
    assert "itsrdf:taConfidence: could not convert string to float: 'high'" in answer.error


def test_parsing_counts_against_the_time_limit(world: Dataset) -> None:
    prefixes = "".join(f"@prefix p{number}: <http://x.example/{number}#> .\n" for number in range(30_000)).encode()
    reply: Reply = 200, {}, prefixes

    def behaviour(number: int, asked: Asked) -> Reply:
        return reply if b"Berg" in asked.body else annotator(number, asked)

    with serving(behaviour) as service:
        linker = make_linker("nif", {"url": service.url, "timeout": "2", "retries": "0"})
        slow, quick = answers_of(linker, world.knowledge, marked("Why [Berg]?", "slow"), marked("Why [Avon]?", "quick"))
    assert isinstance(slow, Failure)
    assert "bytes cannot be read in" in slow.error
    assert isinstance(quick, Prediction)
