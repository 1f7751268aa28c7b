"""The web pages of the world in the form in which `web_pages.Web` gives them out."""

from __future__ import annotations

from http import HTTPStatus

from web_pages import Page, Send, answer

from wiki_pages.fixture import Fixture
from wiki_pages.web import Served


def web_pages(fixture: Fixture) -> dict[str, Page | list[Page]]:
    """The pages by address and path; the port is left to the server."""
    return {f"{host.partition(':')[0]}{path}": _page(served) for (host, path), served in fixture.pages.items()}


def _page(served: Served) -> Page | list[Page]:
    whole = answer(f"{served.status} {HTTPStatus(served.status).phrase}", served.body, **served.headers)
    if served.then is not None:
        later = _page(served.then)
        return [whole, *(later if isinstance(later, list) else [later])]
    if not served.endless:
        return whole
    # Its length would be its end.
    head = b"\r\n".join(line for line in _head(whole).split(b"\r\n") if not line.startswith(b"Content-Length"))

    async def endlessly(send: Send) -> None:
        await send(head + b"\r\n\r\n")
        while True:
            await send(served.body * 100)

    return endlessly


def _head(whole: bytes) -> bytes:
    return whole.partition(b"\r\n\r\n")[0]
