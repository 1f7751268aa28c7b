"""Hosts that send nothing at all: are they dead, or is it our own connection?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from shadowprobe.build.archive import key_of
from shadowprobe.build.web.fetch import Fetcher, WebResponse
from shadowprobe.build.web.outcomes import Outcomes
from shadowprobe.build.web.politeness import host_of, origin_of
from shadowprobe.errors import BuildError
from shadowprobe.net.failures import NoResponseError

# After so many silent hosts in a row we check that we are online, with at most so many hosts that answered before.
SILENT_HOSTS, WITNESSES = 50, 3


class Silence:
    """The failures of silent hosts, which are stored only when it is known that we are online.

    `is_online` is called, in another thread, to find that out; without it a host that answered before gets a request.
    """

    def __init__(self, outcomes: Outcomes, is_online: Callable[[], bool] | None = None) -> None:
        self._outcomes, self._archive, self._is_online = outcomes, outcomes.archive, is_online
        self._hosts: set[str] = set()

    @property
    def is_long(self) -> bool:
        """True if many hosts in a row were silent."""
        return len(self._hosts) >= SILENT_HOSTS

    def add(self, url: str, why: str) -> None:
        """Notes that a host was silent."""
        self._hosts.add(host_of(url))
        self.fail(url, why, doubtful=True)

    def fail(self, url: str, why: str, *, doubtful: bool = False) -> None:
        """Notes why there is no page; it is stored at once if that cannot be because of our own connection."""
        if doubtful:
            self._outcomes.doubtful[key_of("GET", url)] = url, why
        else:
            self._archive.put_failure(key_of("GET", url), url, why)

    def end(self) -> None:
        """Stores the failures of others, now that it is known that we are online."""
        for key, (url, why) in self._outcomes.doubtful.items():
            self._archive.put_failure(key, url, why)
        self._outcomes.doubtful.clear()
        self._hosts.clear()

    async def make_sure(self, fetcher: Fetcher, *, at_the_end: bool = False) -> None:
        """Believes that silent hosts are dead if we are online; at the end also if that cannot be known."""
        if self._is_online is not None:
            online: bool | None = await asyncio.to_thread(self._is_online)
        else:
            online = await self._is_heard(fetcher)
        if online is False or not (online or at_the_end):
            many = f"{len(self._hosts)} hosts in a row were" if len(self._hosts) > 1 else f"{min(self._hosts)} was"
            raise BuildError(
                f"{many} silent, and nobody else can be reached: is there a way to the web? Once there is, the same"
                " command goes on from here"
            )
        self.end()

    async def _is_heard(self, fetcher: Fetcher) -> bool | None:
        """True where a host answers that has answered before; None where there is no such host."""
        origins: dict[str, str] = {}
        for key in reversed(list(self._archive.keys())):
            failed, url = self._archive.failure(key), key.split(" ")[1]
            if (not failed or failed.isdecimal()) and host_of(url) not in self._hosts and len(origins) < WITNESSES:
                origins[host_of(url)] = origin_of(url)
        for origin in origins.values():
            answer = await ask(fetcher, f"{origin}/robots.txt", robots=True)
            if isinstance(answer, WebResponse) or not answer.silent:
                return True
        return False if origins else None


async def ask(fetcher: Fetcher, url: str, *, robots: bool) -> WebResponse | NoResponseError:
    """Requests a URL; returns the error if there is no answer."""
    try:
        return await fetcher.get(url, robots=robots)
    except NoResponseError as error:
        return error
