"""Scripts that a worker linker runs, and the linkers that run them."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from asking import marked

from shadowprobe import Dataset, Prediction
from shadowprobe.systems.worker_linker import WorkerLinker

WORKERS = Path(__file__).resolve().parents[2] / "linkers" / "workers"
# What an outsider writes: nothing but the standard library. `answer(item)` is what a test puts in.
BY_HAND = """
import json, os, signal, sys, time

def answer(item):
    return {"id": item["id"], "title": str(os.getpid())}

BODY

def say(message):
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\\n")
    sys.stdout.buffer.flush()

options = json.loads(sys.stdin.buffer.readline())["setup"]
start(options) if "start" in globals() else say({"ready": {"version": "1.0"}})
for line in sys.stdin.buffer:
    say({"answers": [answer(item) for item in json.loads(line)["items"]]})
"""
# What our own scripts do: they leave the pipes to the module beside them.
BY_PROTOCOL = """
import os, subprocess, sys, time
from protocol import Refusal, serve

class System:
    about = {"version": "2.0"}

BODY

serve(System)
"""
Make = Callable[..., WorkerLinker]


@contextmanager
def opened_workers(directory: Path, world: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Opened linkers with a script of the test's; closed at the end."""
    monkeypatch.setenv("PYTHONPATH", str(WORKERS))
    opened: list[WorkerLinker] = []

    def made(body: str = "", frame: str = BY_HAND, **options: Any) -> WorkerLinker:
        linker = unopened(directory, body, frame, **options)
        linker.open(world.knowledge)
        opened.append(linker)
        return linker

    try:
        yield made
    finally:
        for linker in opened:
            linker.close()


def unopened(directory: Path, body: str = "", frame: str = BY_HAND, **options: Any) -> WorkerLinker:
    """A linker with a script of the test's."""
    script = directory / "my_worker.py"
    indent = "    " if frame is BY_PROTOCOL else ""
    script.write_text(frame.replace("BODY", textwrap.indent(textwrap.dedent(body), indent)), encoding="utf-8")

    class Mine(WorkerLinker):
        name = "mine"
        worker = str(script)

        def options(self) -> dict[str, Any]:
            return {"size": 3, "word": "Köln \N{CLAPPER BOARD}"}

    return Mine(python=sys.executable, **options)


def link_text(linker: WorkerLinker, text: str = "Why not [Avon]?") -> str:
    """The answer of an opened linker to one marked text, or its status where it has none."""
    (answer,) = linker.link([marked(text)])
    assert isinstance(answer, Prediction), answer
    return answer.answer or answer.status


def is_gone(pid: int) -> bool:
    """True where there is no such process, not even one that nobody has waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False
