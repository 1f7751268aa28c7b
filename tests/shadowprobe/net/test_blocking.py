"""The client in a thread of its own: what is left open at the end of a program."""

from __future__ import annotations

import subprocess
import sys

from service import serving

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
