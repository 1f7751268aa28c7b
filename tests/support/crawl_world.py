"""Pages on several hosts with every kind of way from one worker of a crawl to another."""

from __future__ import annotations

import asyncio
from collections import Counter

from crawling import ROBOTS, references
from web_pages import Page, Send, Web, answer, html, redirect

from shadowprobe.build.records import WebReference
from shadowprobe.build.shards import ShardPlace

WORKERS, HOSTS = 3, 8
PAGES: dict[str, Page | list[Page]] = {
    **{f"/{number}": html(f"page {number}") for number in range(6)},
    "/type": answer("200 OK", b"x", Content_Type="application/pdf"),
    "/alone": html("a page behind redirects"),
}


async def keep_silent(send: Send) -> None:
    """Sends nothing."""
    await asyncio.sleep(30)


def find_hosts(place: ShardPlace) -> tuple[int, int]:
    """Two hosts of different workers, each with pages in another file of the archive."""
    workers = {host: place.choose(f"http://127.0.0.{host}/") % WORKERS for host in range(1, HOSTS + 1)}
    return 1, next(host for host, worker in workers.items() if worker != workers[1])


def make_references(served: Web, place: ShardPlace) -> list[WebReference]:
    """Adds redirects, rules and dead pages to a web with `PAGES`; returns references to all of them."""
    one, two = (f"127.0.0.{host}" for host in find_hosts(place))
    first, second = (f"http://{host}:{served.port}" for host in (one, two))
    served.pages |= {
        f"{one}/away": redirect(f"{second}/back"),
        f"{two}/back": redirect(f"{first}/alone"),
        f"{one}/loop": redirect(f"{second}/loop"),
        f"{two}/loop": redirect(f"{first}/loop"),
        # Rules on another host: /3 is forbidden on the second host, by what the first one says.
        f"{two}/robots.txt": redirect(f"{first}/rules"),
        f"{one}/rules": answer("200 OK", f"{ROBOTS}Disallow: /3".encode(), Content_Type="text/plain"),
    }
    urls = [served.url(f"/{number}", host) for number in range(6) for host in range(1, HOSTS + 1)]
    urls += [f"{first}/away", f"{second}/back", f"{first}/loop", f"{first}/type", f"{first}/gone", "ftp://a.example/"]
    copies = {f"{first}/dead": f"{second}/4", f"{second}/dead": f"{first}/dead-too"}
    return [*references(*urls), *(WebReference("E", url, copy) for url, copy in copies.items())]


def count_requests(served: Web) -> Counter[str]:
    """How often each page was requested."""
    return Counter(f"{asked.host}{asked.path}" for asked in served.asked)
