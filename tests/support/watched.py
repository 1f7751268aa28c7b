"""Runs shadowprobe, and writes down what it writes to and whom it turns to: `watched.py LOG ARGUMENT...`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from shadowprobe.cli import main

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# What Python tells of files beside `open`: which of the arguments is what will be there, or was.
FILES = {"os.mkdir": 0, "os.rename": 1, "os.link": 1, "os.symlink": 1, "os.remove": 0, "os.truncate": 0}


def folder_of(event: str, arguments: tuple[Any, ...]) -> Path:
    """The folder that a file is named in: a whole tree is removed by names inside of open folders."""
    is_in_folder = event == "os.remove" and arguments[1] >= 0
    return Path(f"/proc/self/fd/{arguments[1]}") if is_in_folder else Path()


def watch(log: Path) -> None:
    """Writes down every such event from now on, one a line."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT)

    def note(kind: str, what: Any) -> None:
        os.write(handle, f"{json.dumps([kind, what])}\n".encode())

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes) and arguments[2] & WRITING:
            note("file", os.path.realpath(os.fsdecode(arguments[0])))
        elif event in FILES and not isinstance(arguments[FILES[event]], int):
            note("file", os.path.realpath(folder_of(event, arguments) / os.fsdecode(arguments[FILES[event]])))
        elif event in {"socket.connect", "socket.sendto"}:
            note("address", arguments[1])
        elif event == "socket.getaddrinfo":
            note("host", arguments[0])

    sys.addaudithook(hook)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
    main(sys.argv[2:])
