"""One page of the web, requested from public addresses only and read within limits."""

from __future__ import annotations

import re

from shadowprobe.build.archive_index import content_type
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.politeness import BROKEN_ROBOTS, ROBOTS_BYTES, Manners
from shadowprobe.net.addresses import Lookup
from shadowprobe.net.failures import NoResponseError
from shadowprobe.net.limits import Limits
from shadowprobe.net.retries import PASSING

_PASSING_REASONS = ("no answer in", "no connection", "an answer that breaks off", "the host name cannot be looked up")
HTML = frozenset({"text/html", "application/xhtml+xml"})
_TYPE = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,60}", re.ASCII)


class Fetcher:
    """Requests single pages: no cookies, no proxy, no password, no redirects."""

    def __init__(self, manners: Manners, *, lookup: Lookup | None = None) -> None:
        from shadowprobe.net.client import Client

        self._limits = Limits(max_bytes=manners.max_bytes, seconds=manners.timeout)
        self._robots_limits = Limits(max_bytes=ROBOTS_BYTES, seconds=manners.timeout)
        self._client = Client(
            allow_private=manners.allow_private,
            use_environment=False,
            user_agent=manners.user_agent,
            lookups=manners.total,
            lookup=lookup,
        )

    async def get(self, url: str, *, robots: bool = False) -> Stored:
        """The answer to one request; of a robots.txt the beginning, of other pages all that is HTML."""
        import httpx

        accepted = "text/plain, */*;q=0.5" if robots else "text/html, application/xhtml+xml"
        request = httpx.Request("GET", url, headers={"Accept": accepted})
        limits = self._robots_limits if robots else self._limits
        # The crawl follows redirects itself: it stores each, and robots.txt may forbid where it leads.
        async with self._client.stream(request, limits, follow=False) as incoming:
            headers: dict[str, str] = {}
            for name, value in incoming.headers.multi_items():
                # Of a field that comes again the first counts.
                headers.setdefault(name, value)
            answer = Stored(url, incoming.status, headers, b"", reason=incoming.reason)
            if not 200 <= answer.status < 300:
                return answer
            if not robots and (why := not_html(content_type(headers))):
                raise NoResponseError(why)
            return answer._replace(body=await incoming.read(cut=robots))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()


def not_html(kind: str) -> str:
    """Why an answer of this type is not read as HTML; empty where it is."""
    if kind in HTML:
        return ""
    return f"not HTML: {kind if _TYPE.fullmatch(kind) else 'no content type'}"


def may_pass(failed: str) -> bool:
    """True for the reason of a failure that need not come again on another day."""
    status = failed.removeprefix(BROKEN_ROBOTS)
    if status.isdecimal():
        return int(status) in PASSING or int(status) >= 500
    return failed.startswith(_PASSING_REASONS)
