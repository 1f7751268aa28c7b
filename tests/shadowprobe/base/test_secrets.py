from __future__ import annotations

import pytest

from shadowprobe.base.secrets import mask_options, mask_secret, mask_secret_bytes, mask_url, shorten_url


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


def test_options_are_written_down_without_secrets() -> None:
    given = {
        "url": "http://h/?k=v",
        "apikey": "A",
        "api_key": "B",
        "my_token": "C",
        "keyword": "D",
        "n": 3,
        "none": None,
        "max_tokens": 512,
    }
    assert mask_options(given) == {
        "url": "http://h/?k=***",
        "apikey": "***",
        "api_key": "***",
        "my_token": "***",
        "keyword": "D",
        "n": 3,
        "none": None,
        "max_tokens": 512,
    }


def test_a_secret_is_taken_out_in_every_form() -> None:
    said = "a/b+c a%2Fb%2Bc a%2fb%2bc a/b%2Bc"
    assert mask_secret("a/b+c", said) == "*** *** *** ***"
    assert mask_secret_bytes("a/b+c", said.encode()) == b"*** *** *** ***"
    assert mask_secret("", said) == said
