"""The charset of a response: what it declares, if any bytes at all can be decoded with it."""

from __future__ import annotations

import codecs
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

# Python has these for other purposes: some never decode, some make halves of characters, and some take a time that
# grows with the square of the text.
_NOT_FOR_PAGES = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
# Without a mark at the beginning their decoders raise an error; browsers then assume this order of bytes.
_NEED_MARK = {
    "utf-16": ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16-le"),
    "utf-32": ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32-le"),
}


def set_encoding(response: httpx.Response) -> httpx.Response:
    """Lets a response be read as UTF-8 where its charset is none; returns the response."""
    declared = response.charset_encoding
    if declared is not None and not is_charset(declared):
        response.encoding = "utf-8"
    elif declared is not None and (needed := _NEED_MARK.get(codecs.lookup(declared).name)):
        marks, assumed = needed
        if not response.content.startswith(marks):
            response.encoding = assumed
    return response


@lru_cache(256)
def is_charset(name: str) -> bool:
    """True for the name of an encoding that decodes any text, if need be with replacement characters."""
    try:
        known = codecs.lookup(name)
        # Compressions and the like are codecs as well, but none for text: these raise LookupError.
        b"\xff".decode(name, "replace")
    except (LookupError, ValueError):
        return False
    return known.name not in _NOT_FOR_PAGES
