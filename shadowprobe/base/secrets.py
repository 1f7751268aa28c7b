"""Hides secrets: tokens, passwords, and the values in the query of a URL."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from html.entities import html5
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

MASK = "***"
# The shortest secret that is looked for as hex and base64, and the shortest password that is looked for at all.
SHORTEST_CODED = 6
_URL_SAFE = str.maketrans("+/", "-_")
# A message has room for no more of a URL.
LONGEST_URL = 200


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


def read_password(url: str) -> str:
    """The password in a URL; empty if there is none, or if it is so short that it could be a part of other words."""
    try:
        password = unquote(_split(url).password or "")
    except ValueError:
        return ""
    return password if len(password) >= SHORTEST_CODED else ""


def _split(url: str) -> SplitResult:
    """Splits a URL; a login is also detected if `http://` is missing."""
    return urlsplit(url if "//" in url or "@" not in url else f"//{url}")


def _join(parts: SplitResult) -> str:
    joined = urlunsplit(parts._replace(fragment=""))
    return joined if parts.scheme else joined.removeprefix("//")


def mask_secret(secret: str, text: str) -> str:
    """Masks a secret in a text, however it is encoded."""
    return re.sub(_make_pattern(secret), MASK, text) if secret else text


def mask_secret_bytes(secret: str, content: bytes) -> bytes:
    """Masks a secret in bytes, however it is encoded."""
    if not secret:
        return content
    content = re.sub(_make_pattern(secret).encode(), MASK.encode(), content)
    for charset in ("utf-16-le", "utf-16-be"):
        content = content.replace(secret.encode(charset), MASK.encode(charset))
    return content


@lru_cache(16)
def _make_pattern(secret: str) -> str:
    """A regular expression for a secret: each of its characters as it is or encoded, or all of it as hex or base64."""
    return "|".join(["".join(map(_match_character, secret)), *_list_codes(secret)])


def _match_character(character: str) -> str:
    """A character as it is, or encoded for a URL, for HTML or for JSON; also twice and three times."""
    code = ord(character)
    names = "|".join(sorted(name.removesuffix(";") for name, meaning in html5.items() if meaning == character))
    named = rf"|(?:{names});" if names else ""
    percent = "".join(rf"%(?:25){{0,3}}{_match_hex(byte, 2)}" for byte in character.encode())
    forms = [
        re.escape(character),
        percent,
        rf"&(?:amp;){{0,3}}(?:#(?:0{{0,6}}{code}|[xX]0{{0,6}}{_match_hex(code)})(?:;|(?![0-9a-fA-F])){named})",
        rf"\\{{1,4}}(?:u{_match_hex(code, 4)}|x{_match_hex(code, 2)}|{re.escape(character)})",
    ]
    if character == " ":
        forms.append(r"\+")
    return f"(?:{'|'.join(forms)})"


def _match_hex(number: int, width: int = 1) -> str:
    """A number in hexadecimal digits, small or capital."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{number:0{width}x}")


def _list_codes(secret: str) -> Iterator[str]:
    """A secret as hex and base64; in base64 it looks different at each of three places in what was encoded with it."""
    content = secret.encode()
    codes = {"".join(_match_hex(byte, 2) for byte in content)}
    for before in range(3):
        encoded = b64encode(bytes(before) + content).decode()
        # Only characters that depend on nothing but the secret.
        core = encoded[-(-before * 4 // 3) : (before + len(content)) * 4 // 3]
        codes |= {re.escape(core), re.escape(core.translate(_URL_SAFE))}
    # A shorter one could be a part of some other word.
    yield from sorted(code for code in codes if len(content) >= SHORTEST_CODED)
