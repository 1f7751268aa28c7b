"""The page on which GERBIL shows an experiment: its tasks, their status and their scores.

The numbers are taken from the JSON-LD in the page; its table has four digits, and a decimal comma in some places.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

from shadowprobe.errors import shorten
from shadowprobe.gerbil.json_ld import ForeignError, Node, read_nodes

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
# A tag ends before the next one begins, so that a page is searched once, whatever it holds.
_SCRIPT, _SCRIPT_END = re.compile(r"<script\b([^<>]*+)>", re.IGNORECASE), re.compile(r"</script\s*+>", re.IGNORECASE)
_JSON_LD = "application/ld+json"
_CUT = re.compile("[-_]t(?:es|rain).*", re.IGNORECASE)
# As GERBIL's own: a few words of ASCII.
_SCORE_NAME = re.compile(r"[\w ./()-]{1,80}", re.ASCII)
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
    block = _find_block(page)
    if not block:
        return []
    known = {shown_name(name) for name in annotators}
    try:
        tasks = list(_tasks(read_nodes(_decode(block)), known))
    except ForeignError:
        raise PageError("its JSON-LD is not that of GERBIL") from None
    return sorted(tasks, key=lambda task: (task.annotator, task.dataset))


def _find_block(page: str) -> str:
    """The JSON-LD of a page."""
    start = next((tag.end() for tag in _SCRIPT.finditer(page) if _JSON_LD in tag[1].lower()), None)
    end = _SCRIPT_END.search(page, start) if start is not None else None
    if start is None or end is None:
        raise PageError("it has no results in JSON-LD")
    return page[start : end.start()].strip()


def _decode(block: str) -> dict[str, Any] | list[Any]:
    for decode in (str, html.unescape):
        try:
            document = json.loads(decode(block))
        except (ValueError, RecursionError):
            continue
        if not isinstance(document, (dict, list)):
            raise ForeignError(type(document).__name__)
        return document
    raise PageError("its JSON-LD is no JSON")


def _tasks(nodes: Iterator[Node], annotators: Collection[str]) -> Iterator[Task]:
    for node in nodes:
        properties = _read_properties(node)
        # A part of a task, as A2KB has them, is no task.
        if "statusCode" not in properties or "subExperimentOf" in properties:
            continue
        status = _number(properties["statusCode"])
        if status is None:
            raise PageError(f"a status is {shorten(properties['statusCode'], 40)!r}")
        named = {name: value for name, value in properties.items() if _SCORE_NAME.fullmatch(name)}
        numbers = {name: _number(value) for name, value in named.items() if name not in _NO_SCORES}
        scores = {name: number for name, number in sorted(numbers.items()) if number is not None}
        # GERBIL up to 1.2.9 gives the dataset as the annotator, and the annotator as the dataset.
        second, first = (_last(properties.get(name, "")) for name in ("annotator", "dataset"))
        if _is_annotator(second, annotators) or first.endswith(shown_name(UPLOADED)):
            first, second = second, first
        yield Task(_plain(first, NIF_SERVICE), _plain(second, UPLOADED), int(status), scores)


def _read_properties(node: Node) -> dict[str, str]:
    """The properties of a node in GERBIL's vocabulary."""
    return {
        name.removeprefix(prefix): value
        for name, value in node.items()
        for prefix in (VOCABULARY, "gerbil:")
        if name.startswith(prefix)
    }


def _is_annotator(name: str, annotators: Collection[str]) -> bool:
    return name in annotators or name.endswith(shown_name(NIF_SERVICE))


def _last(address: str) -> str:
    # JSON can hold half a character, which no file and no terminal takes.
    return address.rpartition("/")[2].encode("utf-8", "replace").decode()


def _plain(name: str, suffix: str) -> str:
    return name.removesuffix(suffix).removesuffix(shown_name(suffix))


def _number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
