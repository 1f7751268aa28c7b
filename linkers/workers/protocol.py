"""The worker's side of the pipes: options in, then batches in and answers out, one JSON line each."""

from __future__ import annotations

import json
import math
import os
import platform
import queue
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn


class Refusal(Exception):  # noqa: N818
    """Why a system cannot work, in words for the user and not for a programmer."""


def serve(system: Any) -> None:
    """Loads a system with the options of the first line, then answers batch by batch until the lines end.

    `system(**options)` loads it; its `about` says which versions it runs on; `answer(items)` gives a list of answers.
    """
    lines, channel = _take_pipes()
    try:
        loaded = system(**next(lines)["setup"])
    except Exception as error:
        traceback.print_exc()
        _say(channel, {"error": _describe(error)})
        _leave(1)
    _say(channel, {"ready": dict(loaded.about, Python=platform.python_version())})
    for line in lines:
        _say(channel, {"answers": _answers(loaded, line["items"])})
    _leave(0)


def score(number: Any) -> float | None:
    """A score as JSON can hold it: a plain number, or nothing where it is none."""
    value = float(number)
    return value if math.isfinite(value) else None


def _answers(system: Any, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        answers: list[dict[str, Any]] = system.answer(items)
        return answers
    except Exception as error:
        traceback.print_exc()
        if len(items) == 1:
            return [{"id": items[0]["id"], "error": _describe(error)}]
    # One bad snippet must not cost the others of its batch their answers.
    return [answer for item in items for answer in _answers(system, [item])]


def _take_pipes() -> tuple[Iterator[dict[str, Any]], BinaryIO]:
    """The pipes to shadowprobe; whoever uses stdin and stdout from now on gets nothing, and stderr."""
    asked, channel = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(asked, lines, os.getppid()), daemon=True).start()
    return map(json.loads, iter(lines.get, b"")), channel


def _read(asked: BinaryIO, lines: queue.Queue[bytes], parent: int) -> None:
    """Passes the lines on; when they end because shadowprobe was killed, the work under way ends with it."""
    for line in asked:
        lines.put(line)
    lines.put(b"")
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def _say(channel: BinaryIO, message: dict[str, Any]) -> None:
    # ASCII with escapes: no locale and no half of a character can spoil it.
    channel.write(json.dumps(message, allow_nan=False).encode("ascii") + b"\n")
    channel.flush()


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"


def _leave(code: int) -> NoReturn:
    # At once: a thread still reads, and the teardown of a large system takes long and can crash.
    sys.stderr.flush()
    os._exit(code)
