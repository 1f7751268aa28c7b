"""URLs: which can be requested, how each is spelled, and where a redirect leads."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from shadowprobe.base.secrets import shorten_url
from shadowprobe.errors import UsageError
from shadowprobe.net.failures import BrokenResponseError, OtherServerError, RefusedError

if TYPE_CHECKING:
    import httpx

PASSWORD = "a URL with a password"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HOST = re.compile(r"[a-z0-9_-](?:[a-z0-9._-]*[a-z0-9_-])?\.?|[0-9a-f:.]+")
# Nearly all URLs are already spelled so that nothing has to be changed: the host in small letters, no usual port, no
# path with dots between slashes, and no character that must be quoted.
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_NORMAL = re.compile(
    rf"https?://(?:(?:[a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?\.){{1,8}}[a-z]{{2,12}}|{_OCTET}(?:\.{_OCTET}){{3}})"
    r"(?::(?!80/|443/)[1-5]\d{1,4})?/(?!\.)(?:[A-Za-z0-9_~-]|\.|/(?!\.))*(?:\?[A-Za-z0-9_.~=&/-]+)?",
    re.ASCII,
)
_LONGEST_NORMAL = 200
_SECRET_HEADERS = ("Authorization", "Cookie", "Proxy-Authorization")


def check_url(url: str, *, allow_password: bool = False) -> httpx.URL:
    """A URL that can be requested; raises RefusedError for any other."""
    import httpx

    scheme, colon, rest = url.partition(":")
    if scheme.lower() not in {"http", "https"} or not colon:
        raise RefusedError("neither http nor https")
    try:
        parsed = httpx.URL(f"{scheme.lower()}:{rest}")
        host = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError):
        raise RefusedError("not a URL") from None
    port = 80 if parsed.port is None else parsed.port
    if not _HOST.fullmatch(host) or len(host) > 253 or not 0 < port < 65536 or _is_broken_ipv4(host):
        raise RefusedError("not a URL")
    if parsed.userinfo and not allow_password:
        raise RefusedError(PASSWORD)
    return parsed


def _is_broken_ipv4(host: str) -> bool:
    """True for a host such as 256.1.1.1, which is written as an address and is none."""
    if not host.rstrip(".").rpartition(".")[2].isdecimal():
        return False
    try:
        # It knows the short forms too, as the look-up of a name does.
        socket.inet_aton(host.rstrip("."))
    except OSError:
        return True
    return False


def check_option(option: str, url: str, example: str, *, allow_password: bool = False) -> str:
    """An address that a user gives, without its last slash; raises UsageError if it cannot be requested."""
    try:
        check_url(url, allow_password=allow_password)
    except RefusedError as error:
        if str(error) == PASSWORD:
            raise UsageError(f"{option}: the address must not hold a user or password") from None
        raise UsageError(f"{option} {shorten_url(url)}: is no address such as {example}") from None
    return url.rstrip("/")


def normalise_url(url: str) -> str:
    """A URL in the one spelling under which its page is requested."""
    # To parse a URL takes a hundred times as long, and a crawl that continues looks at millions.
    if len(url) <= _LONGEST_NORMAL and _NORMAL.fullmatch(url):
        return url
    try:
        parsed = check_url(urldefrag(url.strip())[0])
    except ValueError:
        raise RefusedError("not a URL") from None
    return str(parsed.copy_with(raw_path=parsed.raw_path))


def join_url(url: str, location: str) -> str:
    """The URL that a redirect leads to; raises RefusedError if it cannot be requested."""
    import httpx

    try:
        target = httpx.URL(url).join(location.strip())
    except (httpx.InvalidURL, ValueError):
        raise RefusedError("a redirect to no URL") from None
    try:
        return normalise_url(str(target))
    except RefusedError as error:
        raise RefusedError(f"a redirect to {error}" if str(error).startswith("neither") else str(error)) from None


def follow_redirect(request: httpx.Request, status: int, location: str, *, stay: bool = False) -> httpx.Request:
    """The request that follows a redirect; headers with secrets stay with their server.

    With `stay` a redirect to another server is an error: any part of the request may hold a token.
    """
    import httpx

    try:
        target = httpx.URL(join_url(str(request.url), location))
    except RefusedError as error:
        raise BrokenResponseError(str(error), location[:200]) from None
    headers = httpx.Headers([item for item in request.headers.multi_items() if item[0] != "host"])
    if not is_same_server(request.url, target):
        if stay:
            raise OtherServerError(str(target))
        for name in _SECRET_HEADERS:
            headers.pop(name, None)
    method, content = request.method, request.read()
    if (status == 303 and method != "HEAD") or (status in {301, 302} and method == "POST"):
        method, content = "GET", b""
        for name in ("Content-Length", "Content-Type"):
            headers.pop(name, None)
    return httpx.Request(method, target, headers=headers, content=content or None)


def is_same_server(source: httpx.URL, target: httpx.URL) -> bool:
    """True for the same host and port, and for the step from http to https at their usual ports."""
    if source.host != target.host:
        return False
    # A usual port is None here.
    is_step_up = (source.scheme, target.scheme) == ("http", "https") and source.port is target.port is None
    return is_step_up or (source.scheme, source.port) == (target.scheme, target.port)
