"""Every client that we have, against every server that behaves as none should."""

from __future__ import annotations

import gc
import re
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from hostile_clients import CLIENTS, TOKEN, Client, Setting, shorten_limits
from hostile_server import DATA, Behaviour, HostileServer, behaving, read_behaviours
from world import write_world

from shadowprobe import Dataset, Knowledge
from shadowprobe.base.secrets import mask_secret
from shadowprobe.errors import ShadowprobeError

BEHAVIOURS = read_behaviours()
# Generous, since the machine may be busy: what is not limited would take minutes, gigabytes and no end of connections.
MOST_SECONDS, MOST_MEGABYTES, MOST_CONNECTIONS = 45.0, 300, 60
LONGEST_MESSAGE = 700
LOCAL = "a line of a local file"


class Watch:
    """Remembers every file that is opened and every address that is connected to, while it is on."""

    def __init__(self) -> None:
        self.is_on = False
        self.opened: set[str] = set()
        self.addresses: set[str] = set()
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event == "open":
            self.opened.add(str(arguments[0]))
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            self.addresses.add(str(arguments[1][0]))


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


@pytest.fixture(autouse=True, scope="module")
def no_threads_left() -> Iterator[None]:
    """Waits for the threads of clients that were given up, as some later tests count threads."""
    yield
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "http-client":
            thread.join(10)


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    world: Dataset = write_world(tmp_path_factory.mktemp("hostile") / "world")
    return world.knowledge


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[dict[str, HostileServer]]:
    """Servers that nobody may ask, by their hosts; what they say would be taken for an answer."""
    useful = Behaviour("useful", body='{"@context": {}}')
    with behaving(useful, {}, host="127.0.0.1") as first, behaving(useful, {}, host="127.0.0.2") as second:
        yield {"127.0.0.1": first, "127.0.0.2": second}


class Outcome(NamedTuple):
    """What one client made of one behaviour."""

    messages: list[str]
    error: str
    seconds: float
    connections: int


def run_client(client: Client, behaviour: Behaviour, names: dict[str, str], setting: Setting) -> Outcome:
    """Lets a client talk to a server of its own; any exception but ours is a traceback for a user."""
    setting.directory.mkdir(parents=True)
    messages: list[str] = []
    error, began = "", time.monotonic()
    with behaving(behaviour, names, client.kind, client.welcome) as server:
        try:
            messages.extend(client.ask(server.url, setting))
        except ShadowprobeError as raised:
            error = str(raised)
    return Outcome(messages, error, time.monotonic() - began, server.connections)


def check_outcome(outcome: Outcome, behaviour: Behaviour, client: Client) -> None:
    """The one assertion: bounded, told in one short line, and without a secret."""
    assert outcome.seconds < MOST_SECONDS
    assert outcome.connections <= MOST_CONNECTIONS
    for text in (*outcome.messages, outcome.error):
        assert not client.has_token or mask_secret(TOKEN, text) == text
        assert LOCAL not in text
    assert len(outcome.error) <= LONGEST_MESSAGE, outcome.error[:2000]
    assert "\n" not in outcome.error
    assert "Traceback" not in outcome.error
    if behaviour.says:
        told = [*outcome.messages, outcome.error]
        assert any(words in text for words in (*behaviour.says, *client.says) for text in told), told


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_no_server_can_harm_a_client(
    behaviour: Behaviour,
    knowledge: Knowledge,
    elsewhere: dict[str, HostileServer],
    watch: Watch,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shorten_limits(monkeypatch, behaviour.seconds)
    local = tmp_path / "local.json"
    local.write_text(LOCAL)
    names = {"LOCAL": local.as_uri(), "TOKEN": TOKEN}
    watch.opened.clear()
    before = reset_peak()
    watch.is_on = True
    try:
        # Those that only wait may do so side by side; of the others each has the machine for itself.
        with ThreadPoolExecutor(len(CLIENTS) if behaviour.is_slow else 1) as threads:
            started = []
            for client in CLIENTS:
                setting = Setting(knowledge, tmp_path / client.name, behaviour.seconds)
                address = elsewhere[client.elsewhere].url
                place = {
                    "ELSEWHERE": address,
                    "ELSEWHERE-HOST": address[7:],
                    "ELSEWHERE-PORT": address.rpartition(":")[2],
                }
                started.append(threads.submit(run_client, client, behaviour, names | place, setting))
            outcomes = [future.result() for future in started]
    finally:
        watch.is_on = False
    for client, outcome in zip(CLIENTS, outcomes, strict=True):
        try:
            check_outcome(outcome, behaviour, client)
        except AssertionError as error:
            raise AssertionError(f"{client.name}: {error}") from error
    assert read_peak() - before < MOST_MEGABYTES
    assert [server.requests for server in elsewhere.values()] == [[], []]
    assert str(local) not in watch.opened
    assert all(address == "::1" or address.startswith("127.") for address in watch.addresses), watch.addresses


def reset_peak() -> float:
    """Forgets how much memory was used at most, and returns how much is used now, in megabytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return read_peak()


def read_peak() -> float:
    """How much memory was used at most, in megabytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) / 1024


def test_there_are_at_least_a_hundred_behaviours_and_each_has_a_name_of_its_own() -> None:
    names = [behaviour.name for behaviour in BEHAVIOURS]
    assert len(set(names)) == len(names) >= 100


def test_every_address_in_the_data_is_a_loopback_address() -> None:
    text = unquote(DATA.read_text())
    hosts = re.findall(r"\w+://(?:[^\s/@]*@)?(\[[0-9a-f:.]*\]?|[^\s/:\"'<>?#]*)", text)
    loopback = re.compile(r"127\.[0-9.]+|localhost|\[::1?|\[::ffff:127\.0\.0\.1\]|2130706433|0x7f000001|")
    # Names in RDF, of which nobody may think that there is something to fetch.
    terms = {"www.w3.org", "persistence.uni-leipzig.org"}
    assert [host for host in hosts if host not in terms and not loopback.fullmatch(host)] == []
