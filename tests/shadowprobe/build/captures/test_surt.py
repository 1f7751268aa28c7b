"""SURT keys, with examples of the tests of the Internet Archive's own library."""

from __future__ import annotations

import pytest

from shadowprobe.build.captures.surt import make_surt


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.archive.org/", "org,archive)/"),
        ("http://archive.org", "org,archive)/"),
        ("https://www34.archive.org:443/goo/", "org,archive)/goo"),
        ("http://www.archive.org:80/goo?", "org,archive)/goo"),
        ("http://archive.org/goo/?b&a", "org,archive)/goo?a&b"),
        ("http://archive.org/index.html?b=a&b=b&a=b", "org,archive)/index.html?a=b&b=a&b=b"),
        ("http://archive.org:8080/Goo/#top", "org,archive:8080)/goo"),
        ("https://archive.org:80/", "org,archive:80)/"),
        ("http://www2foo.com/", "com,www2foo)/"),
        ("http://host.com//twoslashes?more//slashes", "com,host)/twoslashes?more//slashes"),
        ("http://host.com/%7Euser", "com,host)/~user"),
        ("http://host.com/ab%23cd", "com,host)/ab%23cd"),
    ],
)
def test_spellings_of_one_page_have_one_key(url: str, key: str) -> None:
    assert make_surt(url) == key
