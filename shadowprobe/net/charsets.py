"""The charset of a response: what it declares, if any bytes at all can be decoded with it."""

from __future__ import annotations

import codecs
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

# Python has these for other purposes; some never decode, and some take a time that grows with the square of the text.
_NOT_FOR_PAGES = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})


def set_encoding(response: httpx.Response) -> httpx.Response:
    """Lets a response be read as UTF-8 where its charset is none; returns the response."""
    declared = response.charset_encoding
    if declared is not None and not is_charset(declared):
        response.encoding = "utf-8"
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
