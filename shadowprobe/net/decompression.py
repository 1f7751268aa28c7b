"""The body of a response, decompressed no further than wanted."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from shadowprobe.net.failures import BrokenResponseError

# What a request says that takes compressed bodies, and what one says that takes none.
ACCEPTED, IDENTITY = "gzip, deflate", "identity"
# Others exist, and a few of their bytes can become gigabytes in a single step.
_KNOWN = {"gzip": True, "x-gzip": True, "deflate": False}
_OTHERS = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})


# A gzip file may consist of several, but a body of empty ones would keep us busy and become nothing.
MOST_MEMBERS = 10_000
# Bytes that are decompressed at once.
PIECE = 2**20


class Identity:
    """A body that is not compressed."""

    is_whole = True

    def __call__(self, chunk: bytes, limit: int) -> Iterator[bytes]:
        """The chunk as it is."""
        yield chunk


class Inflate:
    """A body compressed as gzip or deflate."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip, self._started = gzip, False
        self._inner: Any = None
        self._members = 0
        self.is_whole = True

    def __call__(self, chunk: bytes, limit: int) -> Iterator[bytes]:
        """The next bytes in pieces, at most `limit` of them in all."""
        is_full = False
        while limit > 0 and (chunk or is_full):
            if self._inner is None:
                if not self._continues(chunk):
                    break
                self._inner, self.is_whole = zlib.decompressobj(self._window(chunk)), False
            most = min(PIECE, limit)
            try:
                piece = self._inner.decompress(chunk, most)
            except zlib.error:
                raise BrokenResponseError("broken compression") from None
            if piece:
                yield piece
            limit -= len(piece)
            # There may be more to come although all of the chunk has gone in.
            chunk, is_full = self._inner.unconsumed_tail, len(piece) == most
            if self._inner.eof:
                self._members += 1
                if self._members > MOST_MEMBERS:
                    raise BrokenResponseError("broken compression", f"more than {MOST_MEMBERS} parts")
                chunk, self._inner, self.is_whole, is_full = self._inner.unused_data, None, True, False

    def _continues(self, chunk: bytes) -> bool:
        """False for the bytes that some servers send after the end."""
        started, self._started = self._started, True
        return not started or (self._gzip and chunk[:1] == b"\x1f")

    def _window(self, chunk: bytes) -> int:
        if self._gzip:
            return zlib.MAX_WBITS | 16
        # Many servers send deflate without the zlib header that belongs to it.
        return zlib.MAX_WBITS if chunk[0] & 0x0F == 8 else -zlib.MAX_WBITS


def decompressor(content_encoding: str, *, is_requested: bool = True) -> Identity | Inflate:
    """What decompresses a body; raises for a compression that was not requested, and for several."""
    # Some services name their charset here, which compresses nothing.
    names = [name for part in content_encoding.lower().split(",") if (name := part.strip()) in {*_KNOWN, *_OTHERS}]
    if not names:
        return Identity()
    if not is_requested or len(names) > 1 or names[0] not in _KNOWN:
        raise BrokenResponseError("a compression that was not requested", content_encoding[:80])
    return Inflate(gzip=_KNOWN[names[0]])
