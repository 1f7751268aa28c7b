"""Functions that a worker imports, and that end their worker in some of the tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from shadowprobe.errors import InputError


def square(number: int) -> int:
    """The square; the first parts take longest."""
    time.sleep(max(0.0, 0.05 - 0.01 * number))
    return number * number


def name_process(_: object) -> int:
    """The process that does a part."""
    return os.getpid()


def ignores_interrupts(_: object) -> bool:
    """True if Ctrl-C does not end the process that does a part."""
    return signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def die_once(part: tuple[str, int]) -> int:
    """Ends the worker the first time that the part is done."""
    marker = Path(part[0]) / str(part[1])
    with marker.open("a") as file:
        file.write("done\n")
    if part[1] % 3 == 1 and marker.read_text().count("done") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return part[1] * 10


def outlast_once(part: tuple[str, int]) -> int:
    """The first time, part 1 ends its worker while part 0 takes long, in a worker that ends only if it is killed."""
    folder, number = Path(part[0]), part[1]
    begun = folder / str(number)
    if not begun.exists():
        if number == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        begun.touch()
        if number == 0:
            time.sleep(60)
        if number == 1:
            while not (folder / "0").exists():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL)
    return number * 10


def die(number: int) -> int:
    """Ends the worker every time."""
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    """Raises an error for the user."""
    if number == 2:
        raise InputError("pages.jsonl", "is wrong", line=7, field="url")
    return number


def wait_long(part: tuple[str, int]) -> int:
    """Says which process does it, and takes long."""
    (Path(part[0]) / str(os.getpid())).touch()
    time.sleep(60)
    return 0


def note_and_wait(part: tuple[str, int]) -> int:
    """Writes down that the part was begun and takes a while."""
    with (Path(part[0]) / "begun.txt").open("a") as file:
        file.write(f"{part[1]}\n")
    time.sleep(0.3)
    return part[1] * 10
