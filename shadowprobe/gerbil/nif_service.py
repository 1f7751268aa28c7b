"""Serves a linker as a NIF web service, which GERBIL can use as an annotator."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import quote

from shadowprobe.base.identity import Reference, Resolver, dbpedia_uri, is_nil, parse, wikidata_uri
from shadowprobe.base.model import Failure, Prediction, Snippet
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import (
    ItemError,
    LinkerError,
    ShadowprobeError,
    UsageError,
    format_error,
    missing_extra,
    shorten,
)
from shadowprobe.formats import nif_documents as nif
from shadowprobe.formats.nif import keep_finite
from shadowprobe.formats.nif_documents import NifDocument, NifError, Phrase
from shadowprobe.formats.nif_process import parse_in_time
from shadowprobe.gerbil.json_reply import encode_reply
from shadowprobe.net.service import bind_port, make_server, run_server
from shadowprobe.systems.calling import close_system, link_in_parts, open_linker
from shadowprobe.systems.linker import Given, Linker

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MAX_BODY = 16 * 1024 * 1024
# Seconds for a whole request to arrive, and to parse it.
BODY_TIMEOUT, PARSE_TIMEOUT = 30.0, 10.0
# Seconds between two attempts to reopen a broken linker: a model may take long to load and fail again.
REOPEN_PAUSE = 5.0
JSON = "application/json"
TURTLE = f"{nif.CONTENT_TYPE};charset=UTF-8"
_UNFIT = re.compile('[\x00-\x20<>"{}|^`\\\\]')
_log = logging.getLogger(__name__)


class Annotator:
    """A linker that annotates NIF documents; it is not thread-safe, and some linkers must stay in one thread."""

    def __init__(self, linker: Linker, dataset: Dataset, *, confidence: bool = False) -> None:
        if linker.sees_gold:
            raise UsageError(f"`{linker.name}` needs the gold entities of a dataset, and cannot be served")
        self.linker, self.dataset, self.confidence = linker, dataset, confidence
        self.resolver = Resolver(dataset.entities.values(), language=dataset.card.language)
        self.answered = 0
        # The reason why the linker cannot work; empty after its next answer.
        self.problem = ""
        self._broken, self._not_before = False, 0.0

    def open(self) -> None:
        """Opens the linker."""
        open_linker(self.linker, self.dataset.knowledge)

    def close(self) -> None:
        """Closes the linker."""
        close_system(self.linker)

    def annotate(self, documents: list[NifDocument]) -> list[NifDocument]:
        """Returns the documents of a request with the entities of their phrases."""
        if self._broken and any(document.phrases for document in documents):
            self._reopen()
        annotated = [self._annotate_document(document) for document in documents]
        self.answered += len(documents)
        return annotated

    def _reopen(self) -> None:
        """Opens a broken linker again: its service may be available by now."""
        if time.monotonic() < self._not_before:
            raise LinkerError(self.problem)
        notes = self.linker.notes
        self.close()
        try:
            self.open()
        except ShadowprobeError as error:
            self.problem = format_error(error)
            raise
        finally:
            # Opening a linker removes its earlier notes.
            self.linker.notes = list(dict.fromkeys([*notes, *self.linker.notes]))
            self._not_before = time.monotonic() + REOPEN_PAUSE
        self._broken = False

    def _annotate_document(self, document: NifDocument) -> NifDocument:
        """Adds entities to the phrases of a document; a phrase on which the linker failed is left without one."""
        snippets = [
            Snippet(f"{start}-{end}", "all", document.text, start, end)
            for start, end in sorted({phrase[:2] for phrase in document.phrases})
        ]
        given = self._link(snippets)
        failures = [one for one in given.values() if isinstance(one, Failure)]
        if failures and len(failures) == len(snippets):
            raise ItemError(f"linker `{self.linker.name}` failed on {document.uri}: {failures[0].error}")
        for failure in failures:
            place = nif.make_span_uri(document.uri, *map(int, failure.id.split("-")))
            _log.warning("%s: skipped: %s", place, failure.error)
        phrases = (self._make_phrase(snippet, given[snippet.id]) for snippet in snippets)
        return NifDocument(document.uri, document.text, tuple(phrases))

    def _link(self, snippets: list[Snippet]) -> dict[str, Given]:
        """Links the snippets; if the linker cannot work at all, it failed on all that are left."""
        given: dict[str, Given] = {}
        size = self.linker.batch_size
        try:
            for start in range(0, len(snippets), size):
                for predictions in link_in_parts(self.linker, snippets[start : start + size]):
                    given |= predictions
        except LinkerError as error:
            self._broken, self.problem = True, format_error(error)
            return {snippet.id: Failure(snippet.id, self.problem) for snippet in snippets} | given
        if any(isinstance(one, Prediction) for one in given.values()):
            self._broken, self.problem = False, ""
        return given

    def _make_phrase(self, snippet: Snippet, given: Given) -> Phrase:
        if isinstance(given, Failure) or given.status == "skipped":
            return Phrase(snippet.start, snippet.end)
        uri = self._choose_uri(snippet, given)
        score = keep_finite(given.score) if self.confidence else None
        return Phrase(snippet.start, snippet.end, (uri,), score, suspicion=keep_finite(given.suspicion))

    def _choose_uri(self, snippet: Snippet, prediction: Prediction) -> str:
        """Returns the URI that the linker gave, or else the DBpedia URI, which GERBIL knows best."""
        answer = prediction.answer or ""
        if prediction.status == "nil" or is_nil(answer):
            return nif.NIL + quote(snippet.mention, safe="")
        if answer.lower().startswith(("http://", "https://")):
            # Some systems leave quotes and blanks in their URIs, and GERBIL would drop these.
            return _UNFIT.sub(lambda unfit: quote(unfit[0], safe=""), answer.strip())
        language = self.dataset.card.language
        resolved = self.resolver.resolve(prediction.answer, prediction.page_id, prediction.qid)
        if resolved.rule != "unresolved":
            return dbpedia_uri(resolved.entity, language)
        reference = parse(answer) if answer else Reference()
        if reference.title and reference.qid is None:
            return dbpedia_uri(reference.title, language)
        if qid := prediction.qid or reference.qid:
            return wikidata_uri(qid)
        return f"https://{language}.wikipedia.org/?curid={prediction.page_id or reference.page_id}"


def build_app(annotator: Annotator, worker: Executor, *, max_body: int = MAX_BODY) -> Starlette:
    """Builds the service as an ASGI application; the opened annotator works in the worker's single thread."""
    try:
        from starlette.applications import Starlette
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse, PlainTextResponse, Response
        from starlette.routing import Route
    except ImportError as error:
        raise missing_extra("serve") from error
    linker, dataset = annotator.linker, annotator.dataset

    def refuse(status: int, error: Exception | str) -> Response:
        line = shorten(str(error), 500)
        return PlainTextResponse(f"{line}\n".encode("utf-8", "backslashreplace"), status)

    async def annotate(request: Request) -> Response:
        try:
            async with asyncio.timeout(BODY_TIMEOUT):
                body = await _read_body(request, max_body)
            if body is None:
                return refuse(413, f"the document is larger than {max_body} bytes")
            # Not in the worker's thread: a document that takes long to parse must not stop the linker.
            documents = await asyncio.to_thread(parse_in_time, body, PARSE_TIMEOUT)
            if not documents:
                raise NifError("there is no nif:Context with a nif:isString")
            annotated = await asyncio.get_running_loop().run_in_executor(worker, annotator.annotate, documents)
            content, content_type = await asyncio.to_thread(_encode, annotated, request.headers.get("Accept", ""))
        except NifError as error:
            return refuse(400, f"bad NIF: {error}")
        except ClientDisconnect:
            return refuse(400, "the request broke off")
        except TimeoutError:
            late = refuse(408, f"the request did not arrive completely in {BODY_TIMEOUT:g} s")
            # Otherwise the connection would wait for the rest.
            late.headers["Connection"] = "close"
            return late
        except asyncio.CancelledError:
            # A request is cancelled only when the service stops. A traceback would not help.
            return refuse(503, "the service stops")
        except ShadowprobeError as error:
            _log.warning("%s", error)
            return refuse(500, error)
        return Response(content, headers={"Content-Type": content_type, "Vary": "Accept"})

    async def about(request: Request) -> Response:
        url = str(request.url_for("nif"))
        return PlainTextResponse(
            f"The linker {linker.name} over the dataset {dataset.name}, as a NIF web service of shadowprobe.\n"
            f"POST Turtle to {url}; GET {request.url_for('health')} shows its state.\n"
            f"{format_gerbil_line(linker.name, url)}\n"
        )

    async def health(_: Request) -> Response:
        state = {
            "linker": linker.name,
            "version": linker.version,
            "dataset": dataset.name,
            "answered": annotator.answered,
        }
        if annotator.problem:
            return JSONResponse({"status": "failing", "problem": annotator.problem, **state}, 503)
        return JSONResponse({"status": "ok", **state})

    return Starlette(
        routes=[
            Route("/", about, methods=["GET"]),
            Route("/", annotate, methods=["POST"]),
            Route("/nif", annotate, methods=["POST"], name="nif"),
            Route("/health", health, methods=["GET"], name="health"),
        ]
    )


def _encode(documents: list[NifDocument], accepted: str) -> tuple[bytes, str]:
    """Writes the reply as JSON if the client accepts it and not Turtle, and else as Turtle; and says which."""
    if JSON not in accepted or nif.CONTENT_TYPE in accepted:
        return nif.to_turtle(documents).encode(), TURTLE
    return encode_reply(documents), JSON


def format_gerbil_line(name: str, url: str) -> str:
    """Returns what to enter at GERBIL as the annotator."""
    return f"GERBIL: NIFWS_{name}({url})"


async def _read_body(request: Request, most: int) -> bytes | None:
    """Reads the body of a request; None if it is too large. A chunked request does not state its length."""
    if int(request.headers.get("Content-Length", "0")) > most:
        return None
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)


def serve(
    annotator: Annotator,
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    max_body: int = MAX_BODY,
    access_log: bool = False,
) -> None:
    """Serves until a signal; current requests have a short time to finish. Port 0 chooses a free port."""
    with ThreadPoolExecutor(1, thread_name_prefix="linker") as worker, bind_port(host, port) as bound:
        server = make_server(build_app(annotator, worker, max_body=max_body), access_log=access_log)
        # The port is bound before a model is loaded, but connections are accepted only afterwards.
        worker.submit(annotator.open).result()
        try:
            run_server(server, host, bound, lambda url: announce(f"{url}/nif"))
        finally:
            worker.submit(annotator.close).result()
