"""Records of foreign WARC files, read by offset and length from a folder or from a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from shadowprobe.base.secrets import shorten_url
from shadowprobe.build.captures.capture_choice import Capture
from shadowprobe.build.captures.capture_index import is_url
from shadowprobe.build.captures.captured_page import CUT_SHORT, HEAD_BYTES, TOO_LARGE, UnusableError, read_page
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.politeness import Manners
from shadowprobe.errors import BuildError
from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.failures import ConnectionFailedError, NoResponseError, TooLargeError
from shadowprobe.net.parts_of_files import PARTIAL, Part, read_part
from shadowprobe.net.retries import PASSING

if TYPE_CHECKING:
    from shadowprobe.net.client import Client

MISSING_FILE = "the WARC file is missing"
OUTSIDE = "a WARC file outside of its folder"
NO_PLACE = "no place in a WARC file"
NO_PARTS = "the server sends no parts of files"
_LARGEST_FILE = 2**62
# Records that are under way or in memory at once, for each request at a time.
_BATCH = 4


class ReadCapture(NamedTuple):
    """What became of a capture: its page, or the reason why it cannot be used."""

    url: str
    capture: Capture
    page: Stored | None
    failed: str = ""


def read_captures(chosen: Iterable[tuple[str, Capture]], base: str, manners: Manners) -> Iterator[ReadCapture]:
    """Yields the page of each capture, in their order; `base` is the folder or URL of the WARC files."""
    if not is_url(base):
        for url, capture in chosen:
            yield _finish(url, capture, _read_local(Path(base), capture, manners.max_bytes), manners.max_bytes)
        return
    pending = iter(chosen)
    with closing(BlockingClient(user_agent=manners.user_agent, lookups=manners.total)) as client:
        reader = _RemoteReader(base, manners)
        while batch := list(islice(pending, manners.total * _BATCH)):
            contents = client.run(partial(reader.read_all, batch))
            for (url, capture), content in zip(batch, contents, strict=True):
                yield _finish(url, capture, content, manners.max_bytes)


def _finish(url: str, capture: Capture, content: bytes | str, max_bytes: int) -> ReadCapture:
    """Reads the page from the bytes of a record; a text is the reason why there are none."""
    if isinstance(content, str):
        return ReadCapture(url, capture, None, content)
    try:
        return ReadCapture(url, capture, read_page(content, capture, max_bytes))
    except UnusableError as error:
        return ReadCapture(url, capture, None, str(error))


def _check_place(capture: Capture, max_bytes: int) -> str:
    """Says why a place cannot be read; empty if it can."""
    name = PurePosixPath(capture.filename)
    # A name with a scheme or a backslash would be another server or, on some systems, another folder.
    if name.is_absolute() or ".." in name.parts or any(each in capture.filename for each in ("\\", "://", "\0")):
        return OUTSIDE
    is_written = capture.filename.encode("utf-8", "replace").decode() == capture.filename
    if not capture.filename or not is_written or not 0 <= capture.offset < _LARGEST_FILE or capture.length < 0:
        return NO_PLACE
    return TOO_LARGE if capture.length > max_bytes + HEAD_BYTES else ""


def _read_local(base: Path, capture: Capture, max_bytes: int) -> bytes | str:
    if why := _check_place(capture, max_bytes):
        return why
    try:
        with (base / capture.filename).open("rb") as file:
            file.seek(capture.offset)
            content = file.read(capture.length or max_bytes + HEAD_BYTES)
    except OSError:
        return MISSING_FILE
    return content or CUT_SHORT


class _RemoteReader:
    """Requests parts of files from one server, several at a time."""

    def __init__(self, base: str, manners: Manners) -> None:
        self._base, self._manners = base.rstrip("/"), manners
        self._places = asyncio.Semaphore(manners.total)

    async def read_all(self, batch: Sequence[tuple[str, Capture]], client: Client) -> list[bytes | str]:
        """Returns the bytes of each record, or the reason why there are none."""
        return await asyncio.gather(*(self._read(client, capture) for _, capture in batch))

    async def _read(self, client: Client, capture: Capture) -> bytes | str:
        if why := _check_place(capture, self._manners.max_bytes):
            return why
        length = capture.length or self._manners.max_bytes + HEAD_BYTES
        try:
            async with self._places:
                url = f"{self._base}/{quote(capture.filename)}"
                part = await read_part(client, url, capture.offset, length, self._manners.timeout)
        except TooLargeError:
            return TOO_LARGE
        except NoResponseError as error:
            if error.passing or isinstance(error, ConnectionFailedError):
                raise self._make_error(error.message) from None
            return str(error)
        if part.status in PASSING:
            raise self._make_error(str(part.status))
        return _explain(part)

    def _make_error(self, why: str) -> BuildError:
        """Makes the error for a server that does not work: to go on would ask the hosts of all pages instead."""
        return BuildError(
            f"{shorten_url(self._base)}: the WARC files cannot be read ({why}); the same command goes on from here"
        )


def _explain(part: Part) -> bytes | str:
    """Returns the content of a part, or the reason why its status gives none."""
    if part.status == PARTIAL:
        return part.content or CUT_SHORT
    reasons = {200: NO_PARTS, 404: MISSING_FILE, 410: MISSING_FILE, 416: CUT_SHORT}
    return reasons.get(part.status, f"WARC file: {part.status}")
