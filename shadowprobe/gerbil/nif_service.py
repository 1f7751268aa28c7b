"""A linker as a NIF web service, which is what GERBIL can ask."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from shadowprobe import nif
from shadowprobe.answers import fault
from shadowprobe.dataset import Dataset
from shadowprobe.errors import ItemError, LinkerError, ShadowprobeError, UsageError, missing_extra
from shadowprobe.identity import Reference, Resolver, dbpedia_uri, is_nil, parse, wikidata_uri
from shadowprobe.linker import Linker, by_id
from shadowprobe.model import Failure, Prediction, Snippet
from shadowprobe.nif import Document, NifError, Phrase

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from uvicorn import Server

MAX_BODY = 16 * 1024 * 1024
# Seconds for the whole of a request to arrive, and for what is under way when the service is told to stop.
BODY_TIMEOUT, GRACE = 30.0, 10
# Seconds between two tries to open a linker anew that cannot work: a model may take long to load and fail again.
REOPEN_PAUSE = 5.0
TURTLE = f"{nif.CONTENT_TYPE};charset=UTF-8"
_UNFIT = re.compile('[\x00-\x20<>"{}|^`\\\\]')
_log = logging.getLogger(__name__)


class Annotator:
    """A linker that answers NIF documents; it is not thread-safe, and some linkers must stay in one thread."""

    def __init__(self, linker: Linker, dataset: Dataset, *, confidence: bool = False) -> None:
        if linker.sees_gold:
            raise UsageError(f"`{linker.name}` answers from what a dataset says of its snippets, and cannot be served")
        self.linker, self.dataset, self.confidence = linker, dataset, confidence
        self.resolver = Resolver(dataset.entities.values(), language=dataset.card.language)
        self.answered = 0
        # Why the linker cannot work; told until it has given an answer again.
        self.problem = ""
        self._broken, self._not_before = False, 0.0

    def open(self) -> None:
        """Lets the linker prepare."""
        try:
            self.linker.open(self.dataset.knowledge)
        except ShadowprobeError:
            raise
        except (Exception, SystemExit) as error:
            raise LinkerError(f"linker `{self.linker.name}` failed to start: {_described(error)}") from error

    def close(self) -> None:
        """Lets the linker go."""
        try:
            self.linker.close()
        except Exception as error:
            self.linker.note(f"the linker failed to close: {_described(error)}")

    def annotate(self, turtle: bytes) -> str:
        """The documents of a request with the entities of their phrases."""
        documents = nif.parse(turtle)
        if not documents:
            raise NifError("there is no nif:Context with a nif:isString")
        if self._broken and any(document.phrases for document in documents):
            self._reopen()
        answer = nif.to_turtle([self._annotated(document) for document in documents])
        self.answered += len(documents)
        return answer

    def _reopen(self) -> None:
        """Gives a linker that could not work a new start: its service may be there by now."""
        if time.monotonic() < self._not_before:
            raise LinkerError(self.problem)
        notes = self.linker.notes
        self.close()
        try:
            self.open()
        except ShadowprobeError as error:
            self.problem = _described(error)
            raise
        finally:
            # A start forgets the notes of the time before.
            self.linker.notes = list(dict.fromkeys([*notes, *self.linker.notes]))
            self._not_before = time.monotonic() + REOPEN_PAUSE
        self._broken = False

    def _annotated(self, document: Document) -> Document:
        """A document with its phrases answered; a phrase on which the linker failed stands as one it skipped."""
        snippets = [
            Snippet(f"{start}-{end}", "all", document.text, start, end)
            for start, end in sorted({phrase[:2] for phrase in document.phrases})
        ]
        size = self.linker.batch_size
        found = [one for i in range(0, len(snippets), size) for one in self._link(snippets[i : i + size])]
        failures = [one for one in found if isinstance(one, Failure)]
        if failures and len(failures) == len(found):
            raise ItemError(f"linker `{self.linker.name}` failed on {document.uri}: {failures[0].error}")
        for failure in failures:
            place = nif.place(document.uri, *map(int, failure.id.split("-")))
            _log.warning("%s: skipped: %s", place, failure.error)
        phrases = (
            Phrase(snippet.start, snippet.end) if isinstance(one, Failure) else one
            for snippet, one in zip(snippets, found, strict=True)
        )
        return Document(document.uri, document.text, tuple(phrases))

    def _link(self, snippets: Sequence[Snippet]) -> list[Phrase | Failure]:
        """What the linker says of each snippet; where it fails on several, each is tried alone."""
        try:
            answers = by_id(self.linker.link(list(snippets)))
            said = [self._said(snippet, answers.get(snippet.id)) for snippet in snippets]
        except (Exception, SystemExit) as error:
            hopeless = isinstance(error, LinkerError) and not isinstance(error, ItemError)
            if len(snippets) > 1 and not hopeless:
                return [one for snippet in snippets for one in self._link([snippet])]
            if hopeless:
                self._broken, self.problem = True, _described(error)
            return [Failure(snippet.id, _described(error)) for snippet in snippets]
        if not all(isinstance(one, Failure) for one in said):
            self._broken, self.problem = False, ""
        return said

    def _said(self, snippet: Snippet, answer: Prediction | Failure | None) -> Phrase | Failure:
        if answer is None:
            raise ItemError("it gave no prediction")
        if isinstance(answer, Failure):
            return answer
        if problem := fault(answer):
            raise ItemError(f"its prediction cannot be: `{problem[0]}` {problem[1]}")
        uris = (self._uri(snippet, answer),) if answer.status != "skipped" else ()
        score = answer.score if self.confidence and uris else None
        known = score is not None and math.isfinite(score)
        return Phrase(snippet.start, snippet.end, uris, score if known else None)

    def _uri(self, snippet: Snippet, prediction: Prediction) -> str:
        """An answer as GERBIL knows entities best: by its DBpedia URI, unless the linker itself gave a URI."""
        answer = prediction.answer or ""
        if prediction.status == "nil" or is_nil(answer):
            return nif.NIL + quote(snippet.mention, safe="")
        if answer.lower().startswith(("http://", "https://")):
            # Some systems leave quotes and blanks in theirs, with which GERBIL drops it.
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
    """The service as an ASGI application; an opened annotator works in the one thread of the worker."""
    try:
        from starlette.applications import Starlette
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse, PlainTextResponse, Response
        from starlette.routing import Route
    except ImportError as error:
        raise missing_extra("serve") from error
    linker, dataset = annotator.linker, annotator.dataset

    def refusal(status: int, error: Exception | str) -> Response:
        line = " ".join(str(error).split())
        return PlainTextResponse(f"{line}\n".encode("utf-8", "backslashreplace"), status)

    async def annotate(request: Request) -> Response:
        try:
            async with asyncio.timeout(BODY_TIMEOUT):
                body = await _body(request, max_body)
            if body is None:
                return refusal(413, f"the document is larger than {max_body} bytes")
            answer = await asyncio.get_running_loop().run_in_executor(worker, annotator.annotate, body)
        except NifError as error:
            return refusal(400, f"bad NIF: {error}")
        except ClientDisconnect:
            return refusal(400, "the request broke off")
        except TimeoutError:
            late = refusal(408, f"the request did not arrive whole in {BODY_TIMEOUT:g} s")
            # Else the connection would wait for the rest.
            late.headers["Connection"] = "close"
            return late
        except asyncio.CancelledError:
            # Only the end of the service cancels a request, and a traceback would be all that is seen of it.
            return refusal(503, "the service stops")
        except ShadowprobeError as error:
            _log.warning("%s", error)
            return refusal(500, error)
        return Response(answer.encode(), headers={"Content-Type": TURTLE})

    async def about(request: Request) -> Response:
        url = str(request.url_for("nif"))
        return PlainTextResponse(
            f"The linker {linker.name} over the dataset {dataset.name}, as a NIF web service of shadowprobe.\n"
            f"POST Turtle to {url}; GET {request.url_for('health')} says how it is.\n"
            f"{gerbil_line(linker.name, url)}\n"
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


def gerbil_line(name: str, url: str) -> str:
    """What to give GERBIL as the annotator."""
    return f"GERBIL: NIFWS_{name}({url})"


async def _body(request: Request, most: int) -> bytes | None:
    """The body of a request; None where it is too large, which a chunked one does not say beforehand."""
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
    """Serves until a signal says stop; what is under way has a little time to be answered. Port 0 takes a free one."""
    try:
        import uvicorn
    except ImportError as error:
        raise missing_extra("serve") from error
    with ThreadPoolExecutor(1, thread_name_prefix="linker") as worker, _bound(host, port) as listening:
        config = uvicorn.Config(
            build_app(annotator, worker, max_body=max_body),
            log_config=None,
            access_log=access_log,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        server = uvicorn.Server(config)
        # The port is taken before a model loads for a minute, but nobody can connect until it has.
        worker.submit(annotator.open).result()
        try:
            listening.listen(config.backlog)
            with _stopping(server):
                announce(_url(host, listening.getsockname()[1]))
                server.run(sockets=[listening])
        finally:
            worker.submit(annotator.close).result()


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror or error}") from error
    with bound:
        # The port of a service that has just stopped can be taken at once.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
        except OSError as error:
            raise UsageError(f"{host}, port {port}: {error.strerror}; choose another with --port") from error
        yield bound


@contextmanager
def _stopping(server: Server) -> Iterator[None]:
    """Lets SIGINT and SIGTERM stop a server and no more; it passes them on when it has stopped."""

    def stop(*_: object) -> None:
        # Not left to the server's own handlers alone: they are not in place yet when it is announced.
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/nif"


def _described(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, ShadowprobeError) else f"{type(error).__name__}: {text}"
