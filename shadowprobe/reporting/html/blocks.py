"""Data in compressed blocks: a page opens each of them only when it needs it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from shadowprobe.reporting.html.strings import Passages

# A shorter list stays in the page as it is.
LONG = 64
# How many values are turned into JSON at a time.
CHUNK = 1 << 14
# How many bytes are turned into base 85 at a time: a multiple of four.
PIECE = 1 << 16


class Series:
    """A column of a table that is compressed while it grows; numbers are kept as the difference from the one before.

    Numbers of texts and of rows mostly grow by the same step, so that the differences need hardly any room.
    """

    def __init__(self, values: Iterable[Any] = (), *, is_delta: bool = True) -> None:
        self.is_delta = is_delta
        self._pending: list[Any] = []
        self._last = 0
        self._compressor: Any = zlib.compressobj(9)
        self._compressed: list[bytes] = []
        self._begun = False
        self.extend(values)

    def append(self, value: Any) -> None:
        """Adds a value."""
        self._pending.append(value)
        if len(self._pending) >= CHUNK:
            self._compress()

    def extend(self, values: Iterable[Any]) -> None:
        """Adds values."""
        for value in values:
            self.append(value)

    def _compress(self) -> None:
        values = self._pending
        if self.is_delta and values:
            values, last = np.diff(np.array(values, dtype=np.int64), prepend=self._last).tolist(), values[-1]
            self._last = int(last)
        content = msgspec.json.encode(values)[1:-1]
        if content:
            self._compressed.append(self._compressor.compress((b"," if self._begun else b"[") + content))
            self._begun = True
        self._pending = []

    def close(self) -> bytes:
        """The whole column as a compressed JSON list; nothing can be added any more, and its compressor is freed."""
        if self._compressor is not None:
            self._compress()
            end = self._compressor.compress(b"]" if self._begun else b"[]") + self._compressor.flush()
            self._compressed = [b"".join([*self._compressed, end])]
            self._compressor = None
        return self._compressed[0]


def compress_data(data: Any) -> tuple[Any, list[bytes]]:
    """The data with every long list replaced by the number of its block, and the blocks."""
    blocks: list[bytes] = []

    def put(block: bytes) -> int:
        blocks.append(block)
        return len(blocks) - 1

    def replace(value: Any) -> Any:
        if isinstance(value, Passages):
            return {"starts": value.starts, "blocks": [put(block) for block in value.close()]}
        if isinstance(value, Mapping):
            return {key: replace(one) for key, one in value.items()}
        if isinstance(value, np.ndarray):
            chunks = (value[start : start + CHUNK].tolist() for start in range(0, len(value), CHUNK))
            value = Series(chain.from_iterable(chunks))
        elif isinstance(value, list) and len(value) > LONG:
            value = Series(value, is_delta=all(type(one) is int for one in value))
        elif isinstance(value, list):
            return [replace(one) for one in value]
        if isinstance(value, Series):
            return {"block": put(value.close()), "delta": int(value.is_delta)}
        return value

    return replace(data), blocks


def write_blocks(blocks: Iterable[bytes]) -> Iterator[str]:
    """An element for each block, in pieces; its content is text that cannot be markup."""
    for number, block in enumerate(blocks):
        yield f'<script type="text/plain" id="block-{number}">'
        for start in range(0, len(block), PIECE):
            # Base 85 needs less room than base 64. Of its signs only < could begin markup.
            yield base64.b85encode(block[start : start + PIECE]).decode().replace("<", ",")
        yield "</script>\n"
