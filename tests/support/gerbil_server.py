"""A stand-in for GERBIL on loopback: it reads uploads as RDF, asks annotators, and scores D2KB as GERBIL does."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes
from typing import Any, NamedTuple

import httpx
from rdflib import Graph, Literal, URIRef
from rdflib.namespace import RDF
from service import Asked, Reply, Service, serving

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
IDENTITY = URIRef("http://www.w3.org/2005/11/its/rdf#taIdentRef")
CONFIDENCE = URIRef("http://www.w3.org/2005/11/its/rdf#taConfidence")
VOCABULARY, XSD = "http://w3id.org/gerbil/vocab#", "http://www.w3.org/2001/XMLSchema#"
CUBE = "http://purl.org/linked-data/cube#"
KNOWN = ("http://dbpedia.org/resource/", "http://www.wikidata.org/entity/")
Span = tuple[int, int]


class Document(NamedTuple):
    """A text with its gold: for each span the names of its entity."""

    uri: str
    text: str
    gold: dict[Span, set[str]]

    def surface(self, span: Span) -> str:
        """What stands in a span, counted as Java does: the reader's known fault."""
        return self.text.encode("utf-16-le")[2 * span[0] : 2 * span[1]].decode("utf-16-le", "replace")


class Answer(NamedTuple):
    """What an annotator says of a span."""

    span: Span
    uri: str
    confidence: float | None = None


class Counts(NamedTuple):
    """True positives, false positives, false negatives."""

    tp: int
    fp: int
    fn: int

    def scores(self) -> tuple[float, float, float]:
        """Precision, recall, F1."""
        if not self.tp:
            perfect = float(self.fp == self.fn == 0)
            return perfect, perfect, perfect
        precision, recall = self.tp / (self.tp + self.fp), self.tp / (self.tp + self.fn)
        return precision, recall, 2 * precision * recall / (precision + recall)


Annotator = Callable[[Document], list[Answer]]


def read_nif(turtle: str | bytes) -> list[Document]:
    """The documents of a Turtle text, in the order of their URIs."""
    graph = Graph().parse(data=turtle, format="turtle")
    documents = []
    for context in sorted(graph.subjects(RDF.type, URIRef(f"{NIF}Context")), key=str):
        gold: dict[Span, set[str]] = {}
        for phrase in graph.subjects(URIRef(f"{NIF}referenceContext"), context):
            start, end = (int(str(graph.value(phrase, URIRef(NIF + name)))) for name in ("beginIndex", "endIndex"))
            gold[start, end] = {str(uri) for uri in graph.objects(phrase, IDENTITY)}
        documents.append(Document(str(context), str(graph.value(context, URIRef(f"{NIF}isString"))), gold))
    return documents


def nif_service(url: str) -> Annotator:
    """An annotator that asks a NIF web service: the spans go out without their entities."""

    def ask(document: Document) -> list[Answer]:
        graph = Graph()
        address = "http://www.aksw.org/gerbil/NifWebService/request_0#char="
        context = URIRef(f"{address}0,{len(document.text)}")
        graph.add((context, RDF.type, URIRef(f"{NIF}Context")))
        graph.add((context, URIRef(f"{NIF}isString"), Literal(document.text)))
        for start, end in document.gold:
            phrase = URIRef(f"{address}{start},{end}")
            graph.add((phrase, URIRef(f"{NIF}referenceContext"), context))
            graph.add((phrase, URIRef(f"{NIF}beginIndex"), Literal(start)))
            graph.add((phrase, URIRef(f"{NIF}endIndex"), Literal(end)))
        headers = {"Content-Type": "application/x-turtle;charset=UTF-8", "Accept": "application/x-turtle"}
        response = httpx.post(url, content=graph.serialize(format="turtle").encode(), headers=headers, verify=False)
        response.raise_for_status()
        (answered,) = read_nif(response.content)
        return [Answer(span, uri) for span, uris in answered.gold.items() for uri in uris]

    return ask


def count(document: Document, answers: list[Answer], cut: float | None) -> Counts:
    """The counts of one document; answers that are on no gold span, or not above the cut, are not there."""
    there = [one for one in answers if one.span in document.gold]
    if cut is not None:
        there = [one for one in there if one.confidence is None or one.confidence > cut]
    right = 0
    for span, uris in document.gold.items():
        for one in there:
            known = _is_known({one.uri}), _is_known(uris)
            if one.span == span and (one.uri in uris if all(known) else not any(known)):
                there.remove(one)
                right += 1
                break
    return Counts(right, len(there), len(document.gold) - right)


def score(documents: list[Document], answers: list[list[Answer]]) -> dict[str, float]:
    """Micro and macro scores; with confidences, at the cut with the best micro F1."""

    def at(cut: float | None) -> dict[str, float]:
        counts = [count(*pair, cut) for pair in zip(documents, answers, strict=True)]
        known = [count(_in_kb(document), found, cut) for document, found in zip(documents, answers, strict=True)]
        single = [one.scores() for one in counts]
        averages = {
            "Micro": _sum(counts).scores(),
            "Macro": tuple(sum(column) / len(single) for column in zip(*single, strict=True)),
            "GSInKB Micro": _sum(known).scores(),
        }
        names = ("Precision", "Recall", "F1 score")
        found = {
            f"{average} {name}": value
            for average, values in averages.items()
            for name, value in zip(names, values, strict=True)
        }
        return found if cut is None else found | {"confidence threshold": cut}

    confidences = {one.confidence for found in answers for one in found if one.confidence is not None}
    cuts: list[float | None] = [*sorted(confidences | {0.0})] if confidences else [None]
    return max((at(cut) for cut in cuts), key=lambda row: row["Micro F1 score"])


def _sum(counts: list[Counts]) -> Counts:
    return Counts(*(sum(column) for column in zip(*counts, strict=True)))


def _in_kb(document: Document) -> Document:
    """The document with that part of its gold that is in a knowledge base."""
    return document._replace(gold={span: uris for span, uris in document.gold.items() if _is_known(uris)})


def _is_known(uris: set[str]) -> bool:
    return any(uri.startswith(KNOWN) for uri in uris)


class Task(NamedTuple):
    """One annotator on one dataset, as GERBIL shows them; its status and its scores."""

    number: int
    annotator: str
    dataset: str
    status: int
    scores: dict[str, float]


class Gerbil:
    """The instance: what it offers, what was uploaded and started, and the quirks that a test turns on."""

    def __init__(self, **annotators: Annotator) -> None:
        self.annotators = annotators
        self.uploads: dict[str, list[Document]] = {}
        self.experiments: dict[str, list[Task]] = {}
        self.looks = self.tasks = 0
        # Entities that its DBpedia does not have.
        self.unheard: set[str] = set()
        # How many looks at a page find its tasks running.
        self.slow = 0
        self.escaped = self.expanded = self.straight = False
        self.types = ["A2KB", "D2KB"]

    def __call__(self, number: int, asked: Asked) -> Reply:
        """Answers a request."""
        call = asked.path.removeprefix("/gerbil/").replace("/", "_")
        answer = getattr(self, f"_on_{call}", None) if asked.path.startswith("/gerbil/") else None
        return answer(asked) if answer is not None else _page(404, "<h1>HTTP Status 404</h1>")

    def _on_exptypes(self, _: Asked) -> Reply:
        return _json(200, {"ExperimentType": self.types})

    def _on_annotators(self, asked: Asked) -> Reply:
        known = asked.query.get("experimentType") in self.types
        return _json(200, sorted(self.annotators)) if known else _page(500, "<h1>HTTP Status 500</h1>")

    def _on_datasets(self, asked: Asked) -> Reply:
        known = asked.query.get("experimentType") in self.types
        return _json(200, [{"name": "KORE50", "group": "Others"}]) if known else _json(400, [])

    def _on_testNifWs(self, asked: Asked) -> Reply:  # noqa: N802
        try:
            nif_service(asked.query["url"])(Document("test", "This text is a test.", {}))
        except Exception as error:
            return _json(200, {"testOk": False, "errorMsg": str(error)})
        return _json(200, {"testOk": True})

    def _on_file_upload(self, asked: Asked) -> Reply:
        head = f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode()
        files, bad = [], False
        for part in message_from_bytes(head + asked.body).walk():
            name = part.get_filename()
            if name is None:
                continue
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            file: dict[str, Any] = {
                "name": name,
                "size": f"{len(content) // 1024}Kb",
                "description": None,
                "error": None,
            }
            try:
                self.uploads[name] = [self._checked(document) for document in read_nif(content)]
                file["description"] = f"Found {len(self.uploads[name])} Instances"
            except Exception as error:
                file["error"], bad = str(error), True
            files.append(file)
        return _json(400 if bad else 200, {"files": files})

    def _checked(self, document: Document) -> Document:
        """The document with other URIs for those that do not exist."""
        place = "http://aksw.org/unknown_entity/"
        gold = {
            span: {place + re.sub("[.:/]", "_", uri) if uri in self.unheard else uri for uri in uris}
            for span, uris in document.gold.items()
        }
        return document._replace(gold=gold)

    def _on_execute(self, asked: Asked) -> Reply:
        wanted = json.loads(asked.query["experimentData"])
        if wanted["type"] not in self.types:
            return 200, {}, b""
        assert wanted["matching"].partition("-")[2].strip() == "strong annotation match"
        tasks, faults = [], []
        for annotator in wanted["annotator"]:
            for dataset in wanted["dataset"]:
                task = self._task(annotator, dataset)
                tasks += [task] if task is not None else []
                faults += [f"{annotator} on {dataset}"] if task is None else []
        experiment = f"20211107{len(self.experiments):04}"
        if tasks:
            self.experiments[experiment] = tasks
        if faults:
            answer: dict[str, Any] = {"errorMessage": "Encountered errors while trying to start all needed tasks."}
            answer["experimentId"] = experiment if tasks else None
            return _json(400, answer | {"detailMessage": f"Faulty configurations encountered: {faults}"})
        return 200, {"Content-Type": "text/plain"}, experiment.encode()

    def _task(self, annotator: str, dataset: str) -> Task | None:
        """A task that has run, or None where its annotator or dataset is none."""
        name, ask = annotator, self.annotators.get(annotator)
        if annotator.startswith("NIFWS_"):
            name, _, url = annotator.removeprefix("NIFWS_").rpartition("(")
            name, ask = f"{name} (NIF WS)", nif_service(url[:-1])
        shown, _, file = dataset.removeprefix("NIFDS_").rpartition("(")
        if ask is None or not dataset.startswith("NIFDS_"):
            return None
        self.tasks += 1
        return Task(self.tasks, name, f"{shown} (uploaded)", *self._run(ask, self.uploads.get(file[:-1])))

    def _run(self, ask: Annotator, documents: list[Document] | None) -> tuple[int, dict[str, float]]:
        if documents is None:
            return -104, {}
        if not documents:
            return -110, {}
        answers, errors = [], 0
        for document in documents:
            try:
                answers.append(ask(document))
            except Exception:
                answers.append([])
                errors += 1
        if errors >= len(documents) / 4:
            return -108, {}
        return 0, score(documents, answers) | {"Error Count": float(errors), "avg millis/doc": 12.5}

    def _on_experiment(self, asked: Asked) -> Reply:
        self.looks += 1
        tasks = self.experiments.get(asked.query["id"], [])
        if self.looks <= self.slow:
            tasks = [task._replace(status=-1, scores={}) for task in tasks]
        data = json.dumps(self._json_ld(tasks)) if tasks else ""
        data = html.escape(data) if self.escaped else data
        rows = "".join(
            f"<tr><td>{task.annotator}</td><td>{task.dataset}</td>"
            + "".join(f"<td>{value:.4f}</td>".replace(".", ",") for value in task.scores.values())
            + "</tr>"
            for task in tasks
        )
        script = f'<script type="application/ld+json">\n\t{data}\n\t</script>'
        other = '<script src="/gerbil/jquery.min.js"></script>'
        return _page(200, f"<head></head><body>{other}{script}<table>{rows}</table></body>")

    def _json_ld(self, tasks: list[Task]) -> Any:
        """As Jena writes it: a key is the end of its property, and the second one called `dataset` gets a prefix."""
        context: dict[str, Any] = {"gerbil": VOCABULARY, "qb": CUBE, "dataset": {"@id": f"{CUBE}dataset"}}
        nodes: list[dict[str, Any]] = [{"@id": "http://gerbil/experiment?id=1", "@type": f"{CUBE}Dataset"}]
        for task in tasks:
            names = [_treated(task.dataset), _treated(task.annotator)]
            if self.straight:
                names.reverse()
            said = {
                "annotator": (f"http://gerbil/dataId/annotators/{names[0]}", "string"),
                "dataset": (f"http://gerbil/dataId/corpora/{names[1]}", "string"),
                "statusCode": (str(task.status), "int"),
            }
            said |= {name.replace(" ", "_"): (str(value), "decimal") for name, value in task.scores.items()}
            node: dict[str, Any] = {"@id": f"http://gerbil/experimentTask_{task.number}"}
            for name, (value, kind) in said.items():
                key = {"dataset": "gerbil:dataset", "avg_millis/doc": "doc"}.get(name, name)
                context.setdefault(key, {"@id": VOCABULARY + name, "@type": XSD + kind})
                node[key] = value
                if self.expanded:
                    del node[key]
                    node[VOCABULARY + name] = [{"@value": value, "@type": XSD + kind}]
            node[f"{CUBE}dataset" if self.expanded else "dataset"] = "http://gerbil/experiment?id=1"
            nodes.append(node)
        return nodes if self.expanded else {"@graph": nodes, "@context": context}


def _treated(name: str) -> str:
    """A name as the JSON-LD has it."""
    return re.sub(r"[-_][Tt](([Ee][Ss].*)|([Rr][Aa][Ii][Nn].*).*)", "", name.replace("/", "_").replace(" ", "_"))


def _json(status: int, value: Any) -> Reply:
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


def _page(status: int, body: str) -> Reply:
    return status, {"Content-Type": "text/html;charset=UTF-8"}, f"<!DOCTYPE html><html>{body}</html>".encode()


class Running(NamedTuple):
    """A GERBIL that runs."""

    gerbil: Gerbil
    service: Service

    @property
    def url(self) -> str:
        """The address before `/config`."""
        return self.service.url.removesuffix("/api") + "/gerbil"

    def asked(self, path: str) -> list[Asked]:
        """The requests for one of its pages."""
        return [one for one in self.service.requests if one.path == f"/gerbil/{path}"]


@contextmanager
def gerbil_running(**annotators: Annotator) -> Iterator[Running]:
    """A GERBIL with these annotators, which runs while the block does."""
    gerbil = Gerbil(**annotators)
    with serving(gerbil) as service:
        yield Running(gerbil, service)
