"""A small world on a stand-in for GERBIL, with annotators whose scores are worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gerbil_server import Annotator, Answer, Document, Running, gerbil_running
from refusals import outcome, single_line
from world import shadow, snippet, top, write_world

from shadowprobe import Card, Dataset, Entity, write_dataset

NIL = "http://aksw.org/notInWiki/"


def dbpedia(title: str) -> str:
    """The URI of a title."""
    return f"http://dbpedia.org/resource/{title.replace(' ', '_')}"


def saying(**answers: tuple[str, float] | str) -> Annotator:
    """An annotator that knows answers by name, and by name with `_at_sea` where the text speaks of a crew."""

    def annotate(document: Document) -> list[Answer]:
        found = []
        for span in document.gold:
            answer = answers.get(document.surface(span) + ("_at_sea" if "crew" in document.text else ""))
            if answer is not None:
                found.append(Answer(span, answer) if isinstance(answer, str) else Answer(span, *answer))
        return found

    return annotate


# Top: two right, Como wrong, Dale skipped. Shadow: Berg and Dale right, Avon wrong, Como an explicit NIL. Tail: right.
AGDISTIS = saying(
    Avon=dbpedia(top("Avon")),
    Berg=dbpedia(top("Berg")),
    Como=dbpedia(shadow("Como")),
    Avon_at_sea=dbpedia(top("Avon")),
    Berg_at_sea=dbpedia(shadow("Berg")),
    Como_at_sea=f"{NIL}Como",
    Dale_at_sea=dbpedia(shadow("Dale")),
    Ourika=dbpedia("Ourika"),
)
# The same for Top and Tail with confidences; a cut at 0.3 loses the one wrong answer to Top.
AIDA = saying(
    Avon=(dbpedia(top("Avon")), 0.9),
    Berg=(dbpedia(top("Berg")), 0.8),
    Como=(dbpedia(shadow("Como")), 0.3),
    Ourika=(dbpedia("Ourika"), 1.0),
)


def breaks(_: Document) -> list[Answer]:
    """An annotator that is not there."""
    raise ConnectionError("the service is gone")


@contextmanager
def small_gerbil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A GERBIL with a few annotators, and a working directory with the small world."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    write_world(tmp_path / "world")
    with gerbil_running(**{"AGDISTIS/MAG": AGDISTIS, "AIDA": AIDA, "REL": AGDISTIS, "Broken": breaks}) as found:
        yield found


def document_world(path: Path, count: int = 2, language: str = "en", qid: str | None = None) -> Dataset:
    """Texts with two mentions each, Avon and Berg, as one subset; behind an umlaut and an emoji."""
    text = "Über \N{CLAPPER BOARD}: where Avon meets Berg, and no Nowhere."
    entities = [Entity(top("Avon"), qid=qid), Entity(top("Berg"))]
    snippets = []
    for number in range(count):
        for name in ("Avon", "Berg", "Nowhere"):
            gold = top(name) if name != "Nowhere" else None
            found = snippet(f"d{number}-{name}", "all", text, name, gold=gold, document=f"d {number}")
            snippets.append(found)
    return write_dataset(path, Card(name="docs-test (2)", language=language), entities, [], {"all": snippets})


def command(running: Running, name: str = "AGDISTIS/MAG", *more: str) -> list[str]:
    """`shadowprobe gerbil run` on the small world."""
    options = ["--annotator", name, "--dataset", "world", "--url", running.url, "--poll", "0.05", "--timeout", "60"]
    return ["gerbil", "run", *options, *more]


def rows(out: str) -> dict[str, dict[str, Any]]:
    """The rows of a printed card, by subset."""
    return {row["subset"]: row for row in json.loads(out)["rows"]}


def micro(row: dict[str, Any]) -> tuple[float, float, float]:
    """Precision, recall and F1 of a row."""
    found = (row["scores"][f"Micro_{name}"] for name in ("Precision", "Recall", "F1_score"))
    precision, recall, f1 = found
    return precision, recall, f1


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which a command refuses."""
    return single_line(*outcome(capsys, *arguments))
