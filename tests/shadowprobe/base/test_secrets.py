from __future__ import annotations

import pytest

from shadowprobe.base.secrets import mask_secret, mask_secret_bytes, mask_url, read_password, shorten_url


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("http://host/x", "http://host/x"),
        (
            "http://user:p@ssw0rd@host:8/x?access=A&sig=B&api-key=C",
            "http://***@host:8/x?access=***&sig=***&api-key=***",
        ),
        ("https://host/?s3cret", "https://host/?***"),
        ("https://host/?a=1&s3cret&b=", "https://host/?a=***&***&b=***"),
        ("https://host/?key=s3=cret", "https://host/?key=***"),
        ("user:p@ssw0rd@host:8/x?key=1", "***@host:8/x?key=***"),
        ("somewhere/else", "somewhere/else"),
        ("http://@host/", "http://***@host/"),
        ("http://[::1", "***"),
    ],
)
def test_a_url_is_written_down_without_login_and_values(url: str, public: str) -> None:
    assert mask_url(url) == public


def test_a_message_shows_where_a_url_leads_and_no_more() -> None:
    assert shorten_url("http://user:p@ss@host:8/x?key=1#y") == "http://host:8/x"
    assert shorten_url("http://[::1") == "the URL"
    assert shorten_url("user:p@ss@host:8/x?key=1") == "host:8/x"
    assert shorten_url("somewhere/else") == "somewhere/else"


def test_the_password_of_a_url_is_read_unless_it_could_be_a_part_of_other_words() -> None:
    assert read_password("http://me:p%40ssw0rd@host:8/x") == "p@ssw0rd"
    assert read_password("me:p@ssw0rd@host:8/x") == "p@ssw0rd"
    assert read_password("http://me:six456@host/") == "six456"
    assert read_password("http://me:five5@host/") == ""
    assert read_password("http://me@host/") == ""
    assert read_password("http://[::1") == ""


def test_a_secret_is_taken_out_in_every_form() -> None:
    said = "a/b+c a%2Fb%2Bc a%2fb%2bc a/b%2Bc"
    assert mask_secret("a/b+c", said) == "*** *** *** ***"
    assert mask_secret_bytes("a/b+c", said.encode()) == b"*** *** *** ***"
    assert mask_secret("", said) == said


@pytest.mark.parametrize(
    "encoded",
    [
        # In a URL, and in the URL of a URL.
        "s3c/ret%2B",
        "s3c%2Fret%2B",
        "s3c%252fret%252b",
        # In HTML, with numbers and names, and escaped once more.
        "&#115;&#51;&#99;&#47;&#114;&#101;&#116;&#43;",
        "&#x73;3c&#x2F;ret&#x2b;",
        "s3c&sol;ret&plus;",
        "&amp;#115;3c/ret+",
        # In JSON, also as a string in a string.
        r"s3c\/ret+",
        r"\u0073\u0033c\u002Fret+",
        r"s3c\\u002fret\x2b",
        # As hex.
        "7333632f7265742b",
        "7333632F7265742B",
    ],
)
def test_a_secret_is_masked_in_every_encoding(encoded: str) -> None:
    assert mask_secret("s3c/ret+", f"<{encoded}>") == "<***>"
    assert mask_secret_bytes("s3c/ret+", f"<{encoded}>".encode()) == b"<***>"


def test_a_secret_is_masked_as_base64_in_both_alphabets() -> None:
    assert mask_secret("s3cret???", "czNjcmV0Pz8/ czNjcmV0Pz8_") == "*** ***"


def test_a_secret_is_masked_inside_of_what_was_encoded_with_it() -> None:
    # base64 of `me:s3cret0`, `mee:s3cret0` and `meee:s3cret0`: the secret is at three different places of a group.
    # A character that holds bits of something else as well stays.
    assert mask_secret("s3cret0", "bWU6czNjcmV0MA==") == "bWU6***A=="
    assert mask_secret("s3cret0", "bWVlOnMzY3JldDA=") == "bWVlOn***A="
    assert mask_secret("s3cret0", "bWVlZTpzM2NyZXQw") == "bWVlZTp***"


def test_a_secret_is_masked_in_utf_16() -> None:
    for charset in ("utf-16-le", "utf-16-be"):
        assert mask_secret_bytes("s3cret", "a s3cret b".encode(charset)).decode(charset) == "a *** b"


def test_a_space_in_a_secret_may_be_a_plus_in_a_url() -> None:
    assert mask_secret("my secret", "q=my+secret&n=1") == "q=***&n=1"
    assert mask_secret("my secret", "q=my%20secret+n") == "q=***+n"
    assert mask_secret("mysecret", "+my+secret+") == "+my+secret+"


def test_a_short_secret_is_looked_for_in_plain_forms_only() -> None:
    # `abc` is `YWJj` in base64, which may be a part of any other text in base64.
    assert mask_secret("abc", "abc YWJj 616263") == "*** YWJj 616263"


def test_a_url_of_200_characters_is_shown_whole() -> None:
    url = "http://host/" + "x" * 188
    assert shorten_url(url) == url
    assert shorten_url(f"{url}y") == f"{url}..."


def test_a_secret_of_six_characters_is_also_found_in_hexadecimal_form() -> None:
    # "abcdef" is 616263646566 in hexadecimal, and a shorter one could be a part of another word.
    assert "616263646566" not in mask_secret("abcdef", "token 616263646566")
    assert mask_secret("abcde", "number 6162636465") == "number 6162636465"
