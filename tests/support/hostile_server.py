"""A server on loopback that behaves as `tests/hostile/behaviours.toml` says, whatever it is asked."""

from __future__ import annotations

import gzip
import socket
import struct
import threading
import time
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

DATA = Path(__file__).parent.parent / "hostile" / "behaviours.toml"
# What one connection gets at most, and for how long: more than any client may take.
MOST_BYTES, MOST_SECONDS = 48 * 2**20, 20.0
PIECE = 2**16
# A text, or texts with the number of times that each is sent.
Text = str | tuple[tuple[str, int], ...]


class Behaviour(Struct, frozen=True, forbid_unknown_fields=True):
    """One way to answer; the head of `behaviours.toml` explains the fields."""

    name: str
    start: str = "HTTP/1.1 200 OK"
    headers: list[str] = []
    body: Text = ""
    charset: str = "utf-8"
    pack: Literal["", "gzip", "zlib", "deflate", "gzip twice"] = ""
    framing: Literal["length", "close", "chunked"] = "length"
    declared: str = ""
    raw: Text = ""
    endless: bool = False
    piece: int = PIECE
    pause: float = 0.0
    end: Literal["close", "reset", "hold"] = "close"
    seconds: float = 20.0
    # Words of which each client's outcome has at least one, where all clients must notice the same fault.
    says: list[str] = []

    @property
    def is_slow(self) -> bool:
        """True where clients wait: they are then run side by side."""
        return bool(self.pause) or self.end == "hold" or self.seconds < 5


def read_behaviours() -> list[Behaviour]:
    """All behaviours."""
    with DATA.open("rb") as file:
        return msgspec.convert(tomllib.load(file)["behaviour"], list[Behaviour])


class HostileServer:
    """Gives every request the same answer, and counts connections and requests."""

    def __init__(
        self, behaviour: Behaviour, names: Mapping[str, str], kind: str, welcome: Sequence[bytes], host: str
    ) -> None:
        """`names` are put in where the data has them; the first requests get the bytes of `welcome`."""
        self.requests: list[bytes] = []
        self.connections = 0
        self._behaviour, self._names, self._kind, self._welcome = behaviour, dict(names), kind, list(welcome)
        self._listener = socket.create_server((host, 0), backlog=64)
        self.url = f"http://{host}:{self._listener.getsockname()[1]}"
        self._names["SELF"] = self.url
        self._closed = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(MOST_SECONDS)
            request = _read_request(connection)
            self.requests.append(request)
            if self._welcome:
                connection.sendall(self._welcome.pop(0))
                return
            self._send(connection)
            if self._behaviour.end == "hold":
                self._closed.wait(MOST_SECONDS)
            elif self._behaviour.end == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _send(self, connection: socket.socket) -> None:
        deadline, sent = time.monotonic() + MOST_SECONDS, 0
        for piece in _cut(self._behaviour, self._names, self._kind):
            connection.sendall(piece)
            sent += len(piece)
            if sent > MOST_BYTES or time.monotonic() > deadline or self._closed.wait(self._behaviour.pause or 0):
                return

    def close(self) -> None:
        """Takes no more connections."""
        self._closed.set()
        # Closing alone does not wake the thread that waits for a connection.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def behaving(
    behaviour: Behaviour,
    names: Mapping[str, str],
    kind: str = "application/json",
    welcome: Sequence[bytes] = (),
    host: str = "127.0.0.1",
) -> Iterator[HostileServer]:
    """A hostile server that runs while the block does."""
    with closing(HostileServer(behaviour, names, kind, welcome, host)) as server:
        yield server


def _read_request(connection: socket.socket) -> bytes:
    received = connection.recv(PIECE)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
    missing = int(length.partition(b":")[2]) - len(body)
    while missing > 0 and (more := connection.recv(PIECE)):
        received, missing = received + more, missing - len(more)
    return received


def _cut(behaviour: Behaviour, names: Mapping[str, str], kind: str) -> Iterator[bytes]:
    """The bytes of an answer, in pieces."""
    if behaviour.raw:
        yield from _split(_expand(behaviour.raw, names, behaviour.charset), behaviour.piece)
        return
    if behaviour.pack:
        body = _pack(behaviour.body, behaviour.charset, behaviour.pack)
    else:
        body = _expand(behaviour.body, names, behaviour.charset)
    headers = [_fill(header, names) for header in behaviour.headers]
    known = {header.partition(":")[0].lower() for header in headers}
    headers += [] if "content-type" in known else [f"Content-Type: {kind}"]
    if behaviour.framing == "chunked":
        headers.append("Transfer-Encoding: chunked")
    elif behaviour.declared or behaviour.framing == "length":
        headers.append(f"Content-Length: {behaviour.declared or len(body)}")
    head = "".join(f"{line}\r\n" for line in [_fill(behaviour.start, names), *headers])
    yield f"{head}\r\n".encode("latin-1")
    if behaviour.endless:
        # Many at once: a server that sends a few bytes at a time would only be slow.
        body *= max(1, PIECE // len(body))
    while True:
        for piece in _split(body, behaviour.piece):
            yield b"%x\r\n%s\r\n" % (len(piece), piece) if behaviour.framing == "chunked" else piece
        if not behaviour.endless:
            break
    if behaviour.framing == "chunked":
        yield b"0\r\n\r\n"


def _split(content: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


def _expand(text: Text, names: Mapping[str, str], charset: str) -> bytes:
    parts = ((text, 1),) if isinstance(text, str) else text
    return b"".join(_fill(part, names).encode(charset) * times for part, times in parts)


def _fill(text: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(f"<{name}>", value)
    return text


@lru_cache(1)
def _pack(text: Text, charset: str, how: str) -> bytes:
    body = _expand(text, {}, charset)
    if how == "zlib":
        return zlib.compress(body, 1)
    if how == "deflate":
        return zlib.compress(body, 1)[2:-4]
    for _ in range(["", "gzip", "gzip twice"].index(how)):
        body = gzip.compress(body, 1)
    return body
