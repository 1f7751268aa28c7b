"""The SURT key of a URL: equal for the spellings under which crawls know one page."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes, urlsplit

_USUAL_PORTS = {"http": 80, "https": 443}
_WWW = re.compile(r"^www\d*\.")
_SLASHES = re.compile(r"/{2,}")
# What a key does not quote: all printable ASCII except space, # and %.
_PLAIN = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "#%")
_IS_PLAIN = re.compile(r"[!-\"$&-~]*")


def make_surt(url: str) -> str:
    """Returns the key of a URL: without scheme, `www`, usual port and last slash, and in lower case.

    The parts of the host are reversed and the fields of the query sorted, as in `org,example)/path?a=1&b=2`.
    """
    parts = urlsplit(url)
    port = parts.port if parts.port != _USUAL_PORTS.get(parts.scheme) else None
    host = _WWW.sub("", (parts.hostname or "").rstrip("."))
    reversed_host = ",".join(reversed(host.split(".")))
    path = _SLASHES.sub("/", _quote(parts.path)).lower().rstrip("/") or "/"
    query = "&".join(sorted(_quote(parts.query).lower().split("&"))) if parts.query else ""
    return f"{reversed_host}{f':{port}' if port else ''}){path}{f'?{query}' if query else ''}"


def _quote(text: str) -> str:
    """Returns a part of a URL with one way of quoting."""
    # Nearly all parts are written so already, and quoting takes most of the time.
    return text if _IS_PLAIN.fullmatch(text) else quote(unquote_to_bytes(text), safe=_PLAIN)
