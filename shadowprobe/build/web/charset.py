"""The charset of a page."""

from __future__ import annotations

import codecs

from shadowprobe.build.warc_record import Stored

# Python's codecs for other things than pages; no browser reads a page in one of them.
_NO_CHARSETS = frozenset({"charmap", "idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})


def decode_page(stored: Stored) -> str:
    """The text of a stored page: by its first bytes, its header, its own word, and else as UTF-8 or Windows-1252."""
    from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom

    body = stored.body
    charset, mark = read_bom(body)
    if charset and mark:
        return body[len(mark) :].decode(charset, "replace")
    named = (http_content_type_encoding(stored.headers.get("content-type")), html_body_declared_encoding(body))
    charsets = [charset for charset in map(_readable, named) if charset]
    for charset in charsets:
        # Many servers call everything Latin-1; what is valid UTF-8 beyond ASCII was not written as Latin-1.
        for tried in ("utf-8", charset) if charset == "cp1252" else (charset,):
            try:
                return body.decode(tried)
            except UnicodeError:
                pass
    if _nearly_utf8(body):
        return body.decode("utf-8", "replace")
    return body.decode(next((charset for charset in charsets if charset != "utf-8"), "cp1252"), "replace")


def _nearly_utf8(body: bytes) -> bool:
    """True where the bytes that are not UTF-8 are few among those that are: a slip, and not another charset."""
    text = body.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return wrong * 10 <= sum(character > "\x7f" for character in text)


def _readable(charset: str | None) -> str:
    """The charset that a page claims to have, if a page can have it."""
    if charset is None:
        return ""
    # A page whose ASCII words could be read is not in UTF-16, whatever it says.
    if charset.startswith(("utf-16", "utf-32")):
        return "utf-8"
    # Python also has codecs from bytes to bytes, and those of mainframes, which have no ASCII and with it no markup.
    if charset in _NO_CHARSETS or not getattr(codecs.lookup(charset), "_is_text_encoding", True):
        return ""
    return charset if b"<html>".decode(charset, "replace") == "<html>" else ""
