"""The worker's side of the pipes: reads options and batches, and writes answers, one JSON line each."""

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
    """The reason why a system cannot work, written for the user."""


def serve(system: Any) -> None:
    """Loads a system with the options of the first line, then answers batch by batch until the lines end.

    `system(**options)` loads it; its `about` names its versions; `answer(items)` returns a list of answers.
    """
    lines, channel = _redirect_pipes()
    try:
        loaded = system(**next(lines)["setup"])
    except Exception as error:
        traceback.print_exc()
        _send(channel, {"error": _describe(error)})
        _exit(1)
    _send(channel, {"ready": dict(loaded.about, Python=platform.python_version())})
    for line in lines:
        _send(channel, {"answers": _answer(loaded, line["items"])})
    _exit(0)


def score(number: Any) -> float | None:
    """Converts a score to a plain number, or None if it is not finite."""
    value = float(number)
    return value if math.isfinite(value) else None


def _answer(system: Any, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        answers: list[dict[str, Any]] = system.answer(items)
        return answers
    except Exception as error:
        traceback.print_exc()
        if len(items) == 1:
            return [{"id": items[0]["id"], "error": _describe(error)}]
    # One bad snippet must not prevent the answers to the others of its batch.
    return [answer for item in items for answer in _answer(system, [item])]


def _redirect_pipes() -> tuple[Iterator[dict[str, Any]], BinaryIO]:
    """Takes the pipes to shadowprobe; afterwards stdin is empty, and stdout goes to stderr."""
    source, channel = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(source, lines, os.getppid()), daemon=True).start()
    return map(json.loads, iter(lines.get, b"")), channel


def _read(source: BinaryIO, lines: queue.Queue[bytes], parent: int) -> None:
    """Puts the lines into the queue; ends the process if shadowprobe was killed."""
    for line in source:
        lines.put(line)
    lines.put(b"")
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def _send(channel: BinaryIO, message: dict[str, Any]) -> None:
    # ASCII with escapes is independent of the locale and of invalid characters.
    channel.write(json.dumps(message, allow_nan=False).encode("ascii") + b"\n")
    channel.flush()


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"


def _exit(code: int) -> NoReturn:
    # The process ends at once: a thread still reads, and the teardown of a large system is slow and can crash.
    sys.stderr.flush()
    os._exit(code)
