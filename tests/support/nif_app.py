"""The NIF service of a linker, asked without a port, and linkers that answer as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from shadowprobe import Dataset, Failure, Linker, Prediction, Snippet
from shadowprobe.formats.nif_documents import NifDocument, Phrase, parse, to_turtle
from shadowprobe.gerbil.nif_service import Annotator, build_app

FIXTURES = Path(__file__).parent.parent / "fixtures" / "nif"
HEADERS = {
    "Content-Type": "application/x-turtle;charset=UTF-8",
    "Accept": "application/x-turtle",
    "Accept-Charset": "UTF-8",
}
DBPEDIA = "http://dbpedia.org/resource/"
AVON, BERG = f"{DBPEDIA}Avon_(river)", f"{DBPEDIA}Berg_(river)"


def parse_one(turtle: str | bytes) -> NifDocument:
    """The only document of a request or an answer."""
    (document,) = parse(turtle)
    return document


class Says(Linker):
    """Answers as a function does, which gets the linker and a snippet."""

    name = "says"
    version = "1"

    def __init__(self, answer_snippet: Callable[[Linker, Snippet], Any]) -> None:
        self.answer_snippet = answer_snippet
        self.asked: list[list[Snippet]] = []

    def link(self, snippets: list[Snippet]) -> Sequence[Prediction | Failure]:
        self.asked.append(snippets)
        return [self.answer_snippet(self, snippet) for snippet in snippets]


def document(text: str, *names: str, uri: str = "http://x.example/d") -> NifDocument:
    """A text in which the first place of each name is a phrase."""
    return NifDocument(uri, text, tuple(Phrase(text.index(name), text.index(name) + len(name)) for name in names))


def fixture(name: str) -> bytes:
    """A document that is kept with the tests."""
    return (FIXTURES / name).read_bytes()


@contextmanager
def app_of(linker: Linker, dataset: Dataset, *, confidence: bool = False, max_body: int = 10_000) -> Iterator[Any]:
    """A function that puts requests to the service of an opened linker."""
    annotator = Annotator(linker, dataset, confidence=confidence)
    with ThreadPoolExecutor(1) as worker:
        worker.submit(annotator.open).result()
        transport = httpx.ASGITransport(build_app(annotator, worker, max_body=max_body))

        def ask(
            method: str, path: str, content: Any = None, headers: Mapping[str, str] | None = None
        ) -> httpx.Response:
            async def asked() -> httpx.Response:
                async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8099") as client:
                    return await client.request(method, path, content=content, headers={**HEADERS, **(headers or {})})

            return asyncio.run(asked())

        yield ask
        worker.submit(annotator.close).result()


def answer_of(linker: Linker, dataset: Dataset, asked: NifDocument, *, confidence: bool = False) -> NifDocument:
    """What the service of a linker answers to a document."""
    with app_of(linker, dataset, confidence=confidence) as ask:
        answer = ask("POST", "/nif", to_turtle([asked]).encode())
    assert answer.status_code == 200, answer.text
    return parse_one(answer.content)
