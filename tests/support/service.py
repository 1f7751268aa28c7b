"""A web service on loopback whose behaviour a test sets, and that remembers what it was asked."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

Reply = tuple[int, dict[str, str], bytes]


class Asked(NamedTuple):
    """A request as the service got it."""

    moment: float
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        """The body as form fields."""
        return dict(parse_qsl(self.body.decode("utf-8"), keep_blank_values=True))


Behaviour = Callable[[int, Asked], Reply]


class Service(ThreadingHTTPServer):
    """The service; `behaviour` gets the number of the request, from 1, and the request."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = behaviour
        self.requests: list[Asked] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up before its answer came is no error of the service."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The address of the service, with a path."""
        return f"http://127.0.0.1:{self.server_address[1]}/api"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go out apart; without this the second waits for an acknowledgement.
    disable_nagle_algorithm = True
    server: Service

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        address = urlsplit(self.path)
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(time.monotonic(), self.command, address.path, query, headers, body)
        with self.server.lock:
            self.server.requests.append(asked)
            number = len(self.server.requests)
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        status, more, answer = self.server.behaviour(number, asked)
        with self.server.lock:
            self.server.at_once -= 1
        self.send_response(status)
        for name, value in {"Content-Length": str(len(answer)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_GET = do_HEAD = do_POST = _answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Service]:
    """A service that runs while the block does."""
    server = Service(behaviour)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
