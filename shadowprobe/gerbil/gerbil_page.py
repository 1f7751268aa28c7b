"""The page on which GERBIL shows an experiment: its tasks, their status and their scores.

The numbers are taken from the JSON-LD in the page; its table has four digits, and a decimal comma in some places.
"""

from __future__ import annotations

import html
import json
import logging
import math
import re
import warnings
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

VOCABULARY = "http://w3id.org/gerbil/vocab#"
NIF_SERVICE, UPLOADED = " (NIF WS)", " (uploaded)"
DONE, RUNNING = 0, -1
STATUS = {
    DONE: "done",
    RUNNING: "running",
    -2: "unknown to GERBIL",
    -101: "GERBIL says that the dataset does not fit D2KB",
    -102: "GERBIL says that the annotator cannot do D2KB",
    -103: "GERBIL says that the matching does not fit D2KB",
    -104: "GERBIL could not load the dataset",
    -105: "GERBIL could not load the annotator",
    -106: "GERBIL met an error of its own",
    -107: "GERBIL was stopped meanwhile",
    -108: "the annotator failed on too many documents",
    -109: "the annotator took too long",
    -110: "GERBIL found no document in the dataset",
}
_BLOCK = re.compile(r"<script[^>]*application/ld\+json[^>]*>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_CUT = re.compile("[-_]t(?:es|rain).*", re.IGNORECASE)
_NO_SCORES = {"annotator", "dataset", "statusCode", "timestamp", "subExperimentOf"}


class PageError(ValueError):
    """Why a page cannot be read, in a few words."""


class Task(Struct, frozen=True):
    """One annotator on one dataset, by the names that the page gives them."""

    annotator: str
    dataset: str
    status: int
    scores: dict[str, float]


def status_words(code: int | None) -> str:
    """A status code in words; none is a task that GERBIL does not list."""
    return "not started by GERBIL" if code is None else STATUS.get(code, f"failed with status {code}")


def shown_name(name: str) -> str:
    """A name as the page shows it: no blanks or slashes, and nothing from `-test` or `_train` on."""
    return _CUT.sub("", re.sub("[/ ]", "_", name))


def read_tasks(page: str, annotators: Collection[str] = ()) -> list[Task]:
    """The tasks of an experiment's page; none where GERBIL knows no such experiment.

    The names of annotators that the experiment may have help to distinguish them from datasets.
    """
    match = _BLOCK.search(page)
    if match is None:
        raise PageError("it has no results in JSON-LD")
    block = match[1].strip()
    if not block:
        return []
    known = {shown_name(name) for name in annotators}
    return sorted(_tasks(_graph(_decoded(block)), known), key=lambda task: (task.annotator, task.dataset))


def _decoded(block: str) -> Any:
    for text in (block, html.unescape(block)):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            continue
    raise PageError("its JSON-LD is no JSON")


def _graph(document: Any) -> Graph:
    from rdflib import Graph

    if not isinstance(document, (dict, list)) or _names_a_context(document):
        raise PageError("its JSON-LD is not that of GERBIL")
    # Java writes 1.0E-4 for a decimal, and rdflib warns, with a traceback, that this is none.
    logging.getLogger("rdflib.term").setLevel(logging.ERROR)
    graph = Graph()
    with warnings.catch_warnings():
        # Of its own use of a class that it calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            graph.parse(data=json.dumps(document), format="json-ld")
        except Exception as error:
            # The parser lets through what its own depths raise.
            raise PageError(f"its JSON-LD cannot be read ({type(error).__name__})") from None
    return graph


def _names_a_context(document: Any) -> bool:
    """True where a context, wherever it stands, is an address, which the parser would go and fetch."""
    if isinstance(document, list):
        return any(_names_a_context(item) for item in document)
    if not isinstance(document, dict):
        return False
    contexts = [document[key] for key in ("@context", "@import") if key in document]
    listed = [item for context in contexts for item in (context if isinstance(context, list) else [context])]
    return any(isinstance(item, str) for item in listed) or any(map(_names_a_context, document.values()))


def _tasks(graph: Graph, annotators: Collection[str]) -> Iterator[Task]:
    for node in set(graph.subjects()):
        properties = _read_properties(graph, node)
        # A part of a task, as A2KB has them, is no task.
        if "statusCode" not in properties or "subExperimentOf" in properties:
            continue
        status = _number(properties["statusCode"])
        if status is None:
            raise PageError(f"a status is {properties['statusCode']!r}")
        numbers = {name: _number(value) for name, value in properties.items() if name not in _NO_SCORES}
        scores = {name: number for name, number in sorted(numbers.items()) if number is not None}
        # GERBIL up to 1.2.9 gives the dataset as the annotator, and the annotator as the dataset.
        second, first = (_last(properties.get(name, "")) for name in ("annotator", "dataset"))
        if _is_annotator(second, annotators) or first.endswith(shown_name(UPLOADED)):
            first, second = second, first
        yield Task(_plain(first, NIF_SERVICE), _plain(second, UPLOADED), int(status), scores)


def _read_properties(graph: Graph, node: Node) -> dict[str, str]:
    """The properties of a node in GERBIL's vocabulary."""
    properties = {}
    for predicate, value in graph.predicate_objects(node):
        for prefix in (VOCABULARY, "gerbil:"):
            if str(predicate).startswith(prefix):
                properties[str(predicate).removeprefix(prefix)] = str(value)
    return properties


def _is_annotator(name: str, annotators: Collection[str]) -> bool:
    return name in annotators or name.endswith(shown_name(NIF_SERVICE))


def _last(address: str) -> str:
    return address.rpartition("/")[2]


def _plain(name: str, suffix: str) -> str:
    return name.removesuffix(suffix).removesuffix(shown_name(suffix))


def _number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
