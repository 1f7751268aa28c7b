"""Hosts that send nothing at all: are they dead, or is it our own connection?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from shadowprobe.build.archive import key_of
from shadowprobe.build.web.outcomes import Outcomes
from shadowprobe.build.web.politeness import host_of
from shadowprobe.errors import BuildError

# After so many silent hosts in a row we check that we are online.
SILENT_HOSTS = 50


class Silence:
    """The failures of silent hosts, which are stored only when it is known that we are online.

    `is_online` is called, in another thread, to find that out.
    """

    def __init__(self, outcomes: Outcomes, is_online: Callable[[], bool]) -> None:
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

    async def make_sure(self) -> None:
        """Believes that silent hosts are dead if we are online."""
        if not await asyncio.to_thread(self._is_online):
            many = f"{len(self._hosts)} hosts in a row were" if len(self._hosts) > 1 else f"{min(self._hosts)} was"
            raise BuildError(
                f"{many} silent, and nobody else can be reached: is there a way to the web? Once there is, the same"
                " command goes on from here"
            )
        self.end()
