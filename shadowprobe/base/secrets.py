"""What must not be shown: tokens, passwords, and whatever stands in the query of a URL."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, quote, quote_plus, urlsplit, urlunsplit

MASK = "***"
# Tokens in the plural are what a model counts, as in `max_tokens`.
SECRET_NAME = re.compile(r"token(?!s(?:_|$))|secret|passw|credential|api_?key|(?:^|_)key$", re.IGNORECASE)
_URL = re.compile(r"^\w+://")


def place(url: str) -> str:
    """A URL as a message may show it: without its query, where some services want the token, and without a password."""
    try:
        parts = _parts(url)
    except ValueError:
        return "the URL"
    return _joined(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))


def public_url(url: str) -> str:
    """A URL as a file may hold it: who logs in, and what the fields of its query say, is not told."""
    try:
        parts = _parts(url)
    except ValueError:
        return MASK
    _, at, host = parts.netloc.rpartition("@")
    fields = (field.partition("=") for field in parts.query.split("&") if field)
    # A field without a name may be the secret itself.
    query = "&".join(f"{name}={MASK}" if equals else MASK for name, equals, _ in fields)
    return _joined(parts._replace(netloc=f"{MASK}@{host}" if at else host, query=query))


def _parts(url: str) -> SplitResult:
    """The parts of a URL; a login is seen too where `http://` was forgotten."""
    return urlsplit(url if "//" in url or "@" not in url else f"//{url}")


def _joined(parts: SplitResult) -> str:
    joined = urlunsplit(parts._replace(fragment=""))
    return joined if parts.scheme else joined.removeprefix("//")


def public_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as they may stand in a file."""
    public: dict[str, Any] = {}
    for name, value in options.items():
        shown = public_url(value) if isinstance(value, str) and _URL.match(value) else value
        public[name] = MASK if value and SECRET_NAME.search(name) else shown
    return public


def without(secret: str, text: str) -> str:
    """A text without a secret, in whatever way it was packed for its journey."""
    for form in _forms(secret):
        text = text.replace(form, MASK)
    return text


def without_bytes(secret: str, content: bytes) -> bytes:
    """The same for bytes."""
    for form in _forms(secret):
        content = content.replace(form.encode(), MASK.encode())
    return content


def _forms(secret: str) -> list[str]:
    """A secret as it stands, as URLs and forms write it, and as JSON does; the longest first, which hold the others."""
    if not secret:
        return []
    forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    # PHP writes a slash in JSON with an escape.
    forms.add(secret.replace("/", "\\/"))
    forms |= {re.sub(r"%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in forms}
    return sorted(forms, key=len, reverse=True)
