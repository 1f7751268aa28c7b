"""Parts of files on a server, by Range requests."""

from __future__ import annotations

import asyncio
import io
import re
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.decompression import IDENTITY
from shadowprobe.net.failures import ConnectionFailedError, NoResponseError
from shadowprobe.net.limits import MEGABYTE, Limits
from shadowprobe.net.retries import PASSING, pause_before

if TYPE_CHECKING:
    from shadowprobe.net.client import Client

PARTIAL = 206
RETRIES, SECONDS = 2, 60.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
_SIZE = re.compile(r"bytes [\d*-]+/(\d+)")


class Part(NamedTuple):
    """The answer to a request for a part; `size` is that of the whole file, 0 if the server does not say it."""

    status: int
    content: bytes = b""
    size: int = 0


async def read_part(client: Client, url: str, offset: int, length: int, seconds: float | None = None) -> Part:
    """Requests a part of a file, and again if that may help; only status 206 has a content. Raises NoResponseError."""
    seconds = SECONDS if seconds is None else seconds
    for retry in range(RETRIES):
        try:
            part = await _request_part(client, url, offset, length, seconds)
            if part.status not in PASSING:
                return part
        except NoResponseError as error:
            if not (error.passing or isinstance(error, ConnectionFailedError)):
                raise
        await asyncio.sleep(pause_before(retry, FIRST_PAUSE, LONGEST_PAUSE))
    return await _request_part(client, url, offset, length, seconds)


async def _request_part(client: Client, url: str, offset: int, length: int, seconds: float) -> Part:
    import httpx

    headers = {"Range": f"bytes={offset}-{offset + length - 1}", "Accept-Encoding": IDENTITY}
    request = httpx.Request("GET", url, headers=headers)
    async with client.stream(request, Limits(max_bytes=length, seconds=seconds)) as incoming:
        # The body of any other answer is not what was asked for, and may be the whole file.
        content = await incoming.read() if incoming.status == PARTIAL else b""
        size = _SIZE.match(incoming.headers.get("Content-Range", ""))
        return Part(incoming.status, content, int(size[1]) if size else 0)


class RemoteFile(io.RawIOBase):
    """A file on a server that is read like one on this machine; raises OSError if the server does not answer."""

    def __init__(self, client: BlockingClient, url: str) -> None:
        super().__init__()
        self._client, self._url = client, url
        # Each thread has its own place: DuckDB goes to a place and reads there, in several threads.
        self._local = threading.local()
        self.size = self._read(0, 1).size

    def _read(self, offset: int, length: int) -> Part:
        try:
            part = self._client.run(lambda client: read_part(client, self._url, offset, length))
        except NoResponseError as error:
            raise OSError(error.message) from None
        if part.status != PARTIAL or not part.size:
            why = "the server sends no parts of files" if part.status in {200, PARTIAL} else str(part.status)
            raise OSError(why)
        return part

    def readable(self) -> bool:
        """True: it is only read."""
        return True

    def seekable(self) -> bool:
        """True: any place can be read."""
        return True

    def tell(self) -> int:
        """The place of the next byte."""
        return int(getattr(self._local, "place", 0))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a place."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self.size}[whence]
        self._local.place = max(0, start + offset)
        return self.tell()

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes into a buffer."""
        place = self.tell()
        length = min(len(buffer), self.size - place)
        if length <= 0:
            return 0
        content = self._read(place, length).content
        buffer[: len(content)] = content
        self._local.place = place + len(content)
        return len(content)


def open_remote_file(client: BlockingClient, url: str) -> io.BufferedReader:
    """Opens a file on a server; small reads are answered from one larger part."""
    return io.BufferedReader(RemoteFile(client, url), MEGABYTE)
