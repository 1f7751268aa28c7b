"""A page is read in the charset that it has, whatever it says."""

from __future__ import annotations

import pytest

from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.charset import decode_page


def text_of(body: bytes, content_type: str = "text/html") -> str:
    return decode_page(Stored("http://example.org/", 200, {"content-type": content_type}, body))


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Köln".encode(), "text/html; charset=utf-8", "Köln"),
        ("Köln".encode(), "text/html", "Köln"),
        ("Köln".encode("latin-1"), "text/html", "Köln"),
        ("Köln".encode("latin-1"), "text/html; charset=ISO-8859-1", "Köln"),
        ("„Köln“".encode("cp1252"), 'text/html; charset="iso-8859-1"', "„Köln“"),
        ("Москва".encode("cp1251"), "text/html; charset=windows-1251", "Москва"),
        ("東京".encode("cp932"), "text/html; charset=x-sjis", "東京"),
        ("①東京".encode("cp932"), "text/html; charset=Shift_JIS", "①東京"),
        ("北京".encode("gb18030"), "text/html; charset=gb2312", "北京"),
        (b"\xef\xbb\xbf" + "Köln".encode(), "text/html; charset=iso-8859-1", "Köln"),
        (b"\xff\xfe" + "Köln 🦆".encode("utf-16-le"), "text/html", "Köln 🦆"),
        (b"", "text/html", ""),
        # A wrong byte among nine letters beyond ASCII is a slip, and among eight another charset.
        ("ö".encode() * 9 + b"\xff", "text/html", "ö" * 9 + "\ufffd"),
        ("ö".encode() * 8 + b"\xff", "text/html", "Ã¶" * 8 + "ÿ"),
    ],
)
def test_a_page_is_read_in_its_charset(body: bytes, content_type: str, text: str) -> None:
    assert text_of(body, content_type) == text


@pytest.mark.parametrize(
    "meta",
    [
        '<meta charset="windows-1251">',
        "<meta charset=windows-1251>",
        '<META http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        '<?xml version="1.0" encoding="windows-1251"?>',
    ],
)
def test_a_page_may_name_its_own_charset(meta: str) -> None:
    assert text_of(f"{meta}Москва".encode("cp1251")) == f"{meta}Москва"


def test_a_header_counts_more_than_what_the_page_says() -> None:
    page = '<meta charset="windows-1251">Łódź'
    assert text_of(page.encode("cp1250"), "text/html; charset=windows-1250") == page


def test_a_wrong_header_gives_way_to_what_the_page_says() -> None:
    page = '<meta charset="windows-1251">Москва, Москва'
    assert text_of(page.encode("cp1251"), "text/html; charset=utf-8") == page


def test_utf8_that_a_server_calls_latin_1_is_read_as_utf8() -> None:
    assert text_of("Köln".encode(), "text/html; charset=iso-8859-1") == "Köln"
    # Its bytes are not all letters of Windows-1252.
    assert text_of("Łódź".encode(), "text/html; charset=iso-8859-1") == "Łódź"


def test_a_single_wrong_byte_does_not_spoil_the_rest() -> None:
    body = "ä".encode() * 50 + b"\xff" + "ö".encode() * 50
    assert text_of(body, "text/html; charset=utf-8") == "ä" * 50 + "\ufffd" + "ö" * 50


@pytest.mark.parametrize(
    "charset",
    [
        *("none", "rot13", "base64", "utf-16", "utf-32", "\u2603", "zip", "undefined", "charmap", "cp037"),
        *("idna", "punycode", "unicode_escape", "raw-unicode-escape", "utf-7", "mbcs", "string_escape"),
    ],
)
@pytest.mark.parametrize("text", ["Köln", r"C:\x41\u0041\N 1+AGE-", "a..b", "-", "x" * 70 + ".org-"])
def test_a_charset_that_no_page_can_have_is_passed_over(charset: str, text: str) -> None:
    assert text_of(text.encode(), f"text/html; charset={charset}") == text
    assert text_of(f"<meta charset='{charset}'>{text}".encode()).endswith(text)
    # What is not UTF-8 either is Windows-1252.
    assert text_of(f"é{text}".encode("cp1252"), f"text/html; charset={charset}") == f"é{text}"


def test_up_to_a_tenth_of_wrong_bytes_is_a_slip_and_more_is_another_charset() -> None:
    # Nine letters and a wrong byte are ten signs beyond ASCII, of which one is wrong.
    assert text_of("ä".encode() * 9 + b"\xff") == "ä" * 9 + "\ufffd"
    assert text_of("ä".encode() * 8 + b"\xff") == "Ã¤" * 8 + "ÿ"
