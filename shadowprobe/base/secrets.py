"""Hides secrets: tokens, passwords, and the values in the query of a URL."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, quote, quote_plus, urlsplit, urlunsplit

MASK = "***"
# `tokens` in the plural is a number, as in `max_tokens`.
SECRET_NAME = re.compile(r"token(?!s(?:_|$))|secret|passw|credential|api_?key|(?:^|_)key$", re.IGNORECASE)
# A message has room for no more of a URL.
LONGEST_URL = 200
_URL = re.compile(r"^\w+://")


def shorten_url(url: str) -> str:
    """Returns a URL for a message, without its query, which may contain a token, and without a password."""
    try:
        parts = _split(url)
    except ValueError:
        return "the URL"
    shown = _join(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))
    return shown if len(shown) <= LONGEST_URL else f"{shown[:LONGEST_URL]}..."


def mask_url(url: str) -> str:
    """Returns a URL for a file, with a mask instead of the login and of the values in its query."""
    try:
        parts = _split(url)
    except ValueError:
        return MASK
    _, at, host = parts.netloc.rpartition("@")
    fields = (field.partition("=") for field in parts.query.split("&") if field)
    # A field without a name may be the secret itself.
    query = "&".join(f"{name}={MASK}" if equals else MASK for name, equals, _ in fields)
    return _join(parts._replace(netloc=f"{MASK}@{host}" if at else host, query=query))


def _split(url: str) -> SplitResult:
    """Splits a URL; a login is also detected if `http://` is missing."""
    return urlsplit(url if "//" in url or "@" not in url else f"//{url}")


def _join(parts: SplitResult) -> str:
    joined = urlunsplit(parts._replace(fragment=""))
    return joined if parts.scheme else joined.removeprefix("//")


def mask_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options for a file, with a mask instead of secrets."""
    public: dict[str, Any] = {}
    for name, value in options.items():
        shown = mask_url(value) if isinstance(value, str) and _URL.match(value) else value
        public[name] = MASK if value and SECRET_NAME.search(name) else shown
    return public


def mask_secret(secret: str, text: str) -> str:
    """Masks a secret in a text, in all its encodings."""
    for form in _list_encodings(secret):
        text = text.replace(form, MASK)
    return text


def mask_secret_bytes(secret: str, content: bytes) -> bytes:
    """Masks a secret in bytes, in all its encodings."""
    for form in _list_encodings(secret):
        content = content.replace(form.encode(), MASK.encode())
    return content


def _list_encodings(secret: str) -> list[str]:
    """Lists a secret in plain form and encoded for URLs, forms and JSON; the longest first, as it contains others."""
    if not secret:
        return []
    forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    # PHP escapes a slash in JSON.
    forms.add(secret.replace("/", "\\/"))
    forms |= {re.sub(r"%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in forms}
    return sorted(forms, key=len, reverse=True)
