"""The client in a thread of its own: what is left open at the end of a program."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading

import pytest
from service import serving

from shadowprobe.net import blocking
from shadowprobe.net.blocking import LoopThread

FORGETFUL = """
import atexit, threading
# Registered first, so that it is called last.
atexit.register(lambda: print(sorted(thread.name for thread in threading.enumerate())))
import sys
import httpx
from shadowprobe.net.blocking import BlockingClient, LoopThread
from shadowprobe.net.limits import Limits

client, loop = BlockingClient(), LoopThread("forgotten")
print(client.send(httpx.Request("GET", sys.argv[1]), Limits()).text)
"""


def test_no_thread_of_ours_still_runs_when_the_program_ends() -> None:
    with serving(lambda *_: (200, {}, b"here")) as service:
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", FORGETFUL, service.url],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "here\n['MainThread']\n", "")


async def wait_and_note(notes: list[str], began: threading.Event) -> None:
    """Waits until it is ended, and then needs two further turns of the loop."""
    try:
        began.set()
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        notes.append("ended")
        raise OSError("the connection was closed")


def test_what_still_runs_in_a_closed_loop_ends_in_order_and_its_error_is_nobodys() -> None:
    notes: list[str] = []
    began = threading.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "excepthook", lambda error: notes.append(str(error.exc_value)))
        loop = LoopThread("left")
        work = loop.start(wait_and_note(notes, began))
        assert began.wait(10)
        loop.close()
    assert notes == ["ended"]
    assert str(work.exception(10)) == "the connection was closed"


def test_a_closed_loop_is_forgotten() -> None:
    before = dict(blocking._RUNNING)
    loop = LoopThread("short")
    assert [thread.name for thread in blocking._RUNNING if thread not in before] == ["short"]
    loop.close()
    assert set(blocking._RUNNING) == set(before)


def test_a_client_that_nobody_has_any_more_ends_its_thread() -> None:
    client = blocking.BlockingClient()
    thread = client._thread._thread
    del client
    thread.join(10)
    assert not thread.is_alive()


def test_an_interrupt_ends_the_work_that_was_waited_for() -> None:
    main, ended = threading.main_thread().ident or 0, threading.Event()

    async def interrupt() -> None:
        while sys._current_frames()[main].f_code.co_name != "wait":
            await asyncio.sleep(0)
        signal.pthread_kill(main, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    loop = LoopThread("interrupted")
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run(interrupt())
        assert ended.wait(10)
    finally:
        signal.signal(signal.SIGINT, handler)
        loop.close()
