"""Which URLs are requested, and where a redirect leads."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowprobe.errors import UsageError
from shadowprobe.net import urls
from shadowprobe.net.failures import BrokenResponseError, OtherServerError, RefusedError
from shadowprobe.net.urls import check_option, check_url, follow_redirect, join_url, normalise_url


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTP://Example.ORG:80/A?b=C#part", "http://example.org/A?b=C"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://münchen.example/straße", "http://xn--mnchen-3ya.example/stra%C3%9Fe"),
        (" http://example.org/a b ", "http://example.org/a%20b"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("http://[2001:db8::1]/", "http://[2001:db8::1]/"),
    ],
)
def test_a_url_has_one_spelling(given: str, plain: str) -> None:
    assert normalise_url(given) == plain
    assert normalise_url(plain) == plain


@settings(deadline=None)
@given(st.from_regex(urls._NORMAL, fullmatch=True).filter(lambda url: len(url) <= urls._LONGEST_NORMAL))
def test_a_url_that_is_not_parsed_is_what_parsing_would_give(url: str) -> None:
    parsed = check_url(url)
    assert normalise_url(url) == url == str(parsed.copy_with(raw_path=parsed.raw_path))


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http:///path",
        "http://example.org:99999/",
        "http://example.org:0x/",
        "http://exam ple.org/",
        "http://[::1/",
        "http://exa\u200bmple.org/",
        "http://a\nb/",
        "http://[1:2]/x",
        "http://[1:2]/x#a",
        "http://example.com／foo#bar",
        f"http://{'a.' * 130}org/",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(RefusedError, match=r"^not a URL$"):
        normalise_url(url)


@pytest.mark.parametrize("url", ["ftp://example.org/", "file:///etc/passwd", "data:text/html,x", "example.org", ""])
def test_only_http_and_https_are_asked(url: str) -> None:
    with pytest.raises(RefusedError, match="neither http nor https"):
        normalise_url(url)


def test_a_url_with_a_password_is_refused() -> None:
    with pytest.raises(RefusedError, match="a URL with a password"):
        normalise_url("http://me:secret@example.org/")


def test_a_redirect_is_read_relative_to_its_page() -> None:
    assert join_url("https://example.org/a/b", "../c") == "https://example.org/c"
    assert join_url("https://example.org/a", "//example.com/x#y") == "https://example.com/x"
    with pytest.raises(RefusedError, match="a redirect to neither http nor https"):
        join_url("https://example.org/", "javascript:alert(1)")


@pytest.mark.parametrize(
    ("url", "is_url"),
    [
        ("http://example.org:1/", True),
        ("http://example.org:0/", False),
        ("http://example.org:65535/", True),
        ("http://example.org:65536/", False),
        # 253 characters, and one more.
        (f"http://{'a.' * 125}org/", True),
        (f"http://{'a.' * 125}orgs/", False),
    ],
)
def test_ports_and_hosts_have_limits(url: str, is_url: bool) -> None:
    if is_url:
        assert str(check_url(url)) == url
        return
    with pytest.raises(RefusedError, match=r"^not a URL$"):
        check_url(url)


@pytest.mark.parametrize("url", ["http", "https", "ftp", ""])
def test_a_scheme_alone_is_no_url(url: str) -> None:
    with pytest.raises(RefusedError, match="neither http nor https"):
        check_url(url)


def test_an_address_that_a_user_gives_has_no_last_slash() -> None:
    assert check_option("--wiki", "http://example.org/w/", "https://...") == "http://example.org/w"
    with pytest.raises(UsageError, match=r"^--wiki example: is no address such as https://\.\.\.$"):
        check_option("--wiki", "example", "https://...")
    with pytest.raises(UsageError, match=r"^--wiki: the address must not hold a user or password$"):
        check_option("--wiki", "http://me:pw@example.org/", "https://...")
    given = "http://me:pw@example.org"
    assert check_option("url", given, "https://...", allow_password=True) == given


@pytest.mark.parametrize("host", ["256.1.1.1", "1.2.3.4.5"])
def test_a_host_that_is_written_as_an_address_and_is_none_is_refused(host: str) -> None:
    with pytest.raises(RefusedError, match="not a URL"):
        check_url(f"http://{host}/")


@pytest.mark.parametrize("host", ["127.0.0.1.", "127.1"])
def test_the_other_forms_of_an_address_are_allowed(host: str) -> None:
    assert check_url(f"http://{host}/").host == host


def test_a_password_is_allowed_where_the_user_gave_it() -> None:
    assert check_url("http://me:secret@example.org/", allow_password=True).host == "example.org"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("https://linker.example/api", "http://linker.example/api?key=s3cret"),
        ("https://linker.example/api", "https://other.example/"),
        ("http://linker.example/api", "//other.example/api"),
        ("http://linker.example/api", "http://linker.example:8080/api"),
        ("http://linker.example:8080/api", "https://linker.example:8443/api"),
        ("http://linker.example:8080/api", "https://linker.example/api"),
    ],
)
def test_a_redirect_carries_a_secret_neither_to_another_server_nor_to_plain_http(source: str, target: str) -> None:
    headers = {"Authorization": "Bearer s3cret", "Cookie": "s3cret", "X-Kept": "yes"}
    request = httpx.Request("POST", source, headers=headers, content=b"body")
    with pytest.raises(OtherServerError):
        follow_redirect(request, 307, target, stay=True)
    followed = follow_redirect(request, 307, target)
    assert (followed.method, followed.read(), followed.headers["x-kept"]) == ("POST", b"body", "yes")
    assert "s3cret" not in str(followed.headers.raw)
    assert followed.headers["host"] == followed.url.netloc.decode()


@pytest.mark.parametrize("target", ["https://linker.example/api", "/there"])
def test_a_redirect_within_the_host_keeps_the_secret(target: str) -> None:
    request = httpx.Request("POST", "http://linker.example/api", headers={"Authorization": "Bearer s3cret"})
    assert follow_redirect(request, 307, target, stay=True).headers["authorization"] == "Bearer s3cret"


@pytest.mark.parametrize(
    ("status", "before", "after"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"),
        (302, "PUT", "PUT"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
    ],
)
def test_a_redirect_changes_the_method_as_browsers_do(status: int, before: str, after: str) -> None:
    request = httpx.Request(before, "http://linker.example/api", json={"text": "Avon"})
    followed = follow_redirect(request, status, "/there")
    assert followed.method == after
    assert (followed.read() == request.read()) == (before == after)
    assert ("content-type" in followed.headers) == (before == after)


@pytest.mark.parametrize("location", ["http://[::1", "ftp://linker.example/", "http://me:pw@linker.example/"])
def test_a_redirect_that_cannot_be_followed_is_a_broken_response(location: str) -> None:
    with pytest.raises(BrokenResponseError):
        follow_redirect(httpx.Request("GET", "http://linker.example/"), 302, location)
