"""Hosts that send nothing are believed to be dead only if we are online."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shadowprobe.build.web.silence import Silence
from shadowprobe.errors import BuildError


class Notes:
    """An archive that only notes failures, and what is doubtful beside it."""

    def __init__(self) -> None:
        self.archive = self
        self.doubtful: dict[str, tuple[str, str]] = {}
        self.stored: list[tuple[str, str, str]] = []

    def put_failure(self, key: str, url: str, why: str) -> None:
        self.stored.append((key, url, why))


def make(*, online: bool) -> tuple[Silence, Any]:
    notes: Any = Notes()
    return Silence(notes, lambda: online), notes


def test_fifty_silent_hosts_in_a_row_are_many_and_pages_of_one_host_are_one() -> None:
    silence, _ = make(online=True)
    for number in range(49):
        silence.add(f"http://host{number}.example/a", "no answer")
        silence.add(f"http://host{number}.example/b", "no answer")
    steps = [silence.is_long]
    silence.add("http://host49.example/", "no answer")
    steps.append(silence.is_long)
    silence.end()
    assert [*steps, silence.is_long] == [False, True, False]


def test_what_may_be_our_own_fault_is_stored_when_we_are_known_to_be_online() -> None:
    silence, notes = make(online=True)
    silence.fail("http://a.example/", "404")
    silence.add("http://b.example/", "no answer")
    assert notes.stored == [("GET http://a.example/", "http://a.example/", "404")]
    assert notes.doubtful == {"GET http://b.example/": ("http://b.example/", "no answer")}
    asyncio.run(silence.make_sure())
    assert notes.stored[1:] == [("GET http://b.example/", "http://b.example/", "no answer")]
    assert notes.doubtful == {}


@pytest.mark.parametrize(("hosts", "said"), [(1, "host0.example was silent"), (2, "2 hosts in a row were silent")])
def test_without_a_connection_nothing_is_stored_and_the_hosts_are_said(hosts: int, said: str) -> None:
    silence, notes = make(online=False)
    for number in range(hosts):
        silence.add(f"http://host{number}.example/", "no answer")
    with pytest.raises(BuildError, match=f"^{said}, and nobody else can be reached"):
        asyncio.run(silence.make_sure())
    assert (notes.stored, len(notes.doubtful)) == ([], hosts)
