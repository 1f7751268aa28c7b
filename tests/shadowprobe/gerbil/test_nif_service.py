"""A linker as a NIF service: what GERBIL sends, and what comes back."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from nif_app import AVON, BERG, DBPEDIA, Says, answer_of, app_of, document, fixture, parse_one
from rdflib import Graph
from world import NAMES, snippet, top

from shadowprobe import Card, Dataset, Entity, EntitySpace, Linker, Prediction, Snippet, write_dataset
from shadowprobe.base.jsonl import read_lines
from shadowprobe.formats.nif_documents import NifDocument, Phrase, to_turtle
from shadowprobe.gerbil.nif_service import Annotator, build_app
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job


def uri_of(said: Callable[[Linker, Snippet], Any], dataset: Dataset) -> tuple[str, ...]:
    """How an answer is named on the wire."""
    (found,) = answer_of(Says(said), dataset, document("So Avon it is.", "Avon")).phrases
    return found.uris


@pytest.fixture
def jordan(tmp_path: Path) -> Dataset:
    """The names of the fixed request, each with two entities."""
    spaces = {
        "Jordan": ("Michael Jordan", "Jordan"),
        "Utah": ('"Utah" (song)', "Utah Jazz"),
        "Zürich": ("Zürich", "Zürich (band)"),
    }
    return write_dataset(
        tmp_path / "jordan",
        Card(name="jordan"),
        [Entity(title) for titles in spaces.values() for title in titles],
        [EntitySpace(name, titles) for name, titles in spaces.items()],
        {"all": [snippet("1", "all", "Utah", "Utah", gold="Utah Jazz")]},
    )


@pytest.mark.parametrize("path", ["/", "/nif"])
def test_the_fixed_request_gets_the_fixed_answer_triple_for_triple(jordan: Dataset, path: str) -> None:
    with app_of(make_linker("prior"), jordan) as ask:
        answer = ask("POST", path, fixture("gerbil_request.ttl"))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/x-turtle;charset=UTF-8"
    assert set(Graph().parse(data=answer.content)) == set(Graph().parse(data=fixture("served_answer.ttl")))


def test_the_test_call_without_mentions_gets_its_text_back_without_a_call_of_the_linker(world: Dataset) -> None:
    linker = Says(lambda *_: pytest.fail("there is nothing to link"))
    with app_of(linker, world) as ask:
        answer = ask("POST", "/nif", fixture("gerbil_test_call.ttl"))
    assert answer.status_code == 200
    assert set(Graph().parse(data=answer.content)) == set(Graph().parse(data=fixture("gerbil_test_call.ttl")))


@pytest.mark.parametrize("name", ["prior", "random", "nil", "tfidf", "bm25", "blend"])
def test_every_built_in_linker_answers_as_it_does_in_a_run(name: str, world: Dataset, tmp_path: Path) -> None:
    finished = make_linking_job(name, world, out=tmp_path / "run").run()
    stored = {one.id: one for _, one in read_lines(finished.out / "predictions.jsonl", Prediction)}
    asked = next(iter(world.snippets("shadow")))
    (found,) = answer_of(
        make_linker(name), world, NifDocument("http://x.example/d", asked.text, (Phrase(asked.start, asked.end),))
    ).phrases
    entity = stored[asked.id].entity
    wanted = f"{DBPEDIA}{entity.replace(' ', '_')}" if entity else "http://aksw.org/notInWiki/Avon"
    assert found == Phrase(asked.start, asked.end, (wanted,))


def test_all_mentions_of_a_document_reach_the_linker_in_one_call_and_without_what_the_sender_says_of_them(
    world: Dataset,
) -> None:
    linker = Says(lambda it, one: it.skip(one))
    text = "\N{CLAPPER BOARD} Avon, Berg and Avon."
    given = document(text, "Avon", "Berg")
    gold = given._replace(
        phrases=(*(p._replace(uris=("http://x.example/gold",)) for p in given.phrases), Phrase(16, 20))
    )
    found = answer_of(linker, world, gold)
    assert [
        [(one.subset, one.text, one.start, one.end, one.space, one.gold) for one in call] for call in linker.asked
    ] == [[("all", text, start, start + 4, None, None) for start in (2, 8, 16)]]
    assert found.phrases == (Phrase(2, 6), Phrase(8, 12), Phrase(16, 20))


def test_a_linker_gets_no_more_at_once_than_its_batch_size(world: Dataset) -> None:
    linker = Says(lambda it, one: it.skip(one))
    vars(linker)["batch_size"] = 2
    answer_of(linker, world, document("Avon, Berg, Como", "Avon", "Berg", "Como"))
    assert [len(call) for call in linker.asked] == [2, 1]


def test_nil_has_a_uri_outside_every_knowledge_base_and_a_skipped_mention_has_none(world: Dataset) -> None:
    def said(linker: Linker, one: Snippet) -> Prediction:
        return linker.nil(one, 0.9) if one.mention != "Berg" else linker.skip(one)

    found = answer_of(Says(said), world, document('An "Ü/ & 50%" or Berg', '"Ü/ & 50%"', "Berg"))
    assert [phrase.uris for phrase in found.phrases] == [
        ("http://aksw.org/notInWiki/%22%C3%9C%2F%20%26%2050%25%22",),
        (),
    ]
    assert uri_of(lambda it, one: it.answer(one, "NIL"), world) == ("http://aksw.org/notInWiki/Avon",)


@pytest.mark.parametrize(
    ("said", "uri"),
    [
        pytest.param(lambda it, one: it.answer(one, "avon_(river)"), AVON, id="a title, resolved"),
        pytest.param(lambda it, one: it.answer(one, "", page_id=100), None, id="an empty answer"),
        pytest.param(lambda it, one: Prediction(one.id, page_id=100), AVON, id="a page id of the dataset"),
        pytest.param(lambda it, one: it.answer(one, "Who? (film)"), f"{DBPEDIA}Who%3F_(film)", id="an unknown title"),
        pytest.param(lambda it, one: it.answer(one, "Q42"), "http://www.wikidata.org/entity/Q42", id="a QID as answer"),
        pytest.param(lambda it, one: Prediction(one.id, qid="Q42"), "http://www.wikidata.org/entity/Q42", id="a QID"),
        pytest.param(
            lambda it, one: it.answer(one, "Else", qid="Q42"), f"{DBPEDIA}Else", id="an unknown title with a QID"
        ),
        pytest.param(
            lambda it, one: Prediction(one.id, page_id=7), "https://en.wikipedia.org/?curid=7", id="an unknown page id"
        ),
        pytest.param(
            lambda it, one: it.answer(one, "https://kb.example/Z\u00fcrich#1"),
            "https://kb.example/Z\u00fcrich#1",
            id="a URI",
        ),
        pytest.param(
            lambda it, one: it.answer(one, f'{DBPEDIA}"A b"'),
            f"{DBPEDIA}%22A%20b%22",
            id="a URI that Turtle cannot hold",
        ),
    ],
)
def test_an_answer_goes_out_under_the_name_that_gerbil_knows_best(
    said: Callable[[Linker, Snippet], Any], uri: str | None, world: Dataset
) -> None:
    if uri is None:
        with app_of(Says(said), world) as ask:
            answer = ask("POST", "/nif", to_turtle([document("Avon", "Avon")]))
        assert answer.status_code == 500
        assert "prediction for '0-4': `answer` is empty" in answer.text
    else:
        assert uri_of(said, world) == (uri,)


def test_titles_of_another_language_are_entities_of_its_dbpedia(tmp_path: Path) -> None:
    in_koeln = snippet("1", "all", "In Köln.", "Köln", gold="Köln")
    german = write_dataset(tmp_path / "de", Card(name="de", language="de"), [Entity("Köln")], [], {"all": [in_koeln]})
    (found,) = answer_of(make_linker("prior"), german, document("In Köln.", "Köln")).phrases
    assert found.uris == ("http://de.dbpedia.org/resource/K%C3%B6ln",)


def test_scores_are_sent_only_with_confidence(world: Dataset) -> None:
    scores = {"Avon": 0.25, "Berg": -1.5, "Como": float("nan"), "Dale": 0.0}
    linker = Says(lambda it, one: it.answer(one, top(one.mention), scores[one.mention]))
    asked = document(" ".join(NAMES), *NAMES)
    assert {phrase.confidence for phrase in answer_of(linker, world, asked).phrases} == {None}
    scored = answer_of(linker, world, asked, confidence=True).phrases
    assert [phrase.confidence for phrase in scored] == [0.25, -1.5, None, 0.0]


def test_a_mention_sent_twice_is_answered_once(world: Dataset) -> None:
    head = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
    twice = " ".join(
        f"<http://x.example/d#{n}> nif:referenceContext <http://x.example/d#c> ; nif:beginIndex 0 ; nif:endIndex 4 ."
        for n in "ab"
    )
    with app_of(make_linker("prior"), world) as ask:
        answer = ask("POST", "/nif", f'{head}<http://x.example/d#c> nif:isString "Avon" . {twice}'.encode())
    assert parse_one(answer.content).phrases == (Phrase(0, 4, (AVON,)),)


def test_several_documents_are_all_answered(world: Dataset) -> None:
    both = [document(name, name, uri=f"http://x.example/{name}") for name in ("Avon", "Berg")]
    with app_of(make_linker("prior"), world) as ask:
        answer = ask("POST", "/nif", to_turtle(both).encode())
        health = ask("GET", "/health").json()
    assert {uri for uri in (AVON, BERG) if f"<{uri}>" in answer.text} == {AVON, BERG}
    assert health["answered"] == 2


def test_the_health_names_the_linker_and_its_number_of_answers(world: Dataset) -> None:
    with app_of(Says(lambda it, one: it.skip(one)), world) as ask:
        assert ask("GET", "/health").json() == {
            "status": "ok",
            "linker": "says",
            "version": "1",
            "dataset": "world",
            "answered": 0,
        }
        ask("POST", "/nif", to_turtle([document("Avon", "Avon")]))
        ask("POST", "/nif", b"rubbish")
        assert ask("GET", "/health").json()["answered"] == 1


def test_the_front_page_says_what_to_give_gerbil(world: Dataset) -> None:
    with app_of(make_linker("prior"), world) as ask:
        page = ask("GET", "/")
    assert page.headers["Content-Type"].startswith("text/plain")
    assert "GERBIL: NIFWS_prior(http://127.0.0.1:8099/nif)" in page.text.splitlines()


class Tied(Linker):
    """A linker with a connection that SQLite lets only the thread use that made it."""

    name = "tied"

    def setup(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.threads = {threading.get_ident()}

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        self.threads.add(threading.get_ident())
        (title,) = self.connection.execute("SELECT 'Avon (river)'").fetchone()
        return [self.answer(snippet, title) for snippet in snippets]

    def close(self) -> None:
        self.connection.close()


def test_a_linker_is_opened_used_and_closed_in_one_thread(world: Dataset) -> None:
    linker = Tied()
    with app_of(linker, world) as ask:
        for _ in range(3):
            assert ask("POST", "/nif", to_turtle([document("Avon", "Avon")])).status_code == 200
    assert len(linker.threads) == 1
    assert threading.get_ident() not in linker.threads


def test_the_health_answers_while_a_linker_works(world: Dataset) -> None:
    started, go_on = threading.Event(), threading.Event()

    def said(linker: Linker, one: Snippet) -> Prediction:
        started.set()
        go_on.wait(60)
        return linker.answer(one, "Avon (river)")

    async def both(transport: httpx.ASGITransport) -> tuple[httpx.Response, httpx.Response]:
        async with httpx.AsyncClient(transport=transport, base_url="http://x.example") as client:
            linking = asyncio.create_task(client.post("/nif", content=to_turtle([document("Avon", "Avon")])))
            await asyncio.to_thread(started.wait, 60)
            health = await client.get("/health")
            assert not linking.done()
            go_on.set()
            return health, await linking

    annotator = Annotator(Says(said), world)
    annotator.open()
    with ThreadPoolExecutor(1) as worker:
        health, answer = asyncio.run(both(httpx.ASGITransport(build_app(annotator, worker))))
    assert (health.status_code, answer.status_code) == (200, 200)


def doubt(linker: Linker, asked: Snippet) -> Prediction:
    """An answer that comes with a suspicion, but for Berg."""
    return Prediction(
        asked.id, answer=top(asked.mention), score=-2.5, suspicion=1.5 if asked.mention == "Avon" else None
    )


def test_the_suspicion_of_an_answer_is_returned(world: Dataset) -> None:
    avon, berg = answer_of(Says(doubt), world, document("Avon, then Berg.", "Avon", "Berg")).phrases
    assert (avon.uris, avon.suspicion, avon.confidence) == ((AVON,), 1.5, None)
    assert (berg.uris, berg.suspicion) == ((BERG,), None)


@pytest.mark.parametrize("confidence", [False, True])
def test_a_client_that_accepts_json_gets_json(confidence: bool, world: Dataset) -> None:
    def answer(linker: Linker, asked: Snippet) -> Any:
        return linker.nil(asked) if asked.mention == "Como" else doubt(linker, asked)

    texts = document("\U0001f3ac Avon, then Berg and Como.", "Avon", "Berg", "Como")
    with app_of(Says(answer), world, confidence=confidence) as ask:
        given = ask("POST", "/nif", to_turtle([texts]).encode(), {"Accept": "application/json"})
    assert given.headers["Content-Type"] == "application/json"
    score = {"score": -2.5} if confidence else {}
    assert given.json() == {
        "documents": [
            {
                "uri": "http://x.example/d",
                "mentions": [
                    {"start": 2, "end": 6, "mention": "Avon", "uri": AVON, **score, "suspicion": 1.5},
                    {"start": 13, "end": 17, "mention": "Berg", "uri": BERG, **score},
                    {"start": 22, "end": 26, "mention": "Como", "nil": True},
                ],
            }
        ]
    }


@pytest.mark.parametrize("accept", ["*/*", "application/x-turtle, application/json", "text/html"])
def test_every_other_client_gets_turtle(accept: str, world: Dataset) -> None:
    with app_of(make_linker("prior"), world) as ask:
        given = ask("POST", "/nif", to_turtle([document("By Avon.", "Avon")]).encode(), {"Accept": accept})
    assert parse_one(given.content).phrases == (Phrase(3, 7, (AVON,)),)


def test_a_corrected_linker_is_served_with_its_suspicion(
    world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "cache"))
    finished = make_linking_job("debiased", world, options={"of": "blend", "weight": "0.5"}, out=tmp_path / "run").run()
    stored = {one.id: one for _, one in read_lines(finished.out / "predictions.jsonl", Prediction)}
    asked = next(iter(world.snippets("shadow")))
    texts = NifDocument("http://x.example/d", asked.text, (Phrase(asked.start, asked.end),))
    (found,) = answer_of(make_linker("debiased", {"of": "blend", "weight": "0.5"}), world, texts).phrases
    assert found.suspicion is not None
    assert found.suspicion == pytest.approx(stored[asked.id].suspicion)
