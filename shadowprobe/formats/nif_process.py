"""Parses NIF from unknown senders: a large document in a process of its own, which is ended in time."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import msgspec
from msgspec import Struct

from shadowprobe.formats.nif_documents import NifDocument, NifError, parse

# The parser's time grows with the square of some documents. So much takes it less than a second, whatever it holds.
SMALL_BYTES = 32 * 1024
# What the process may use: phrases in a document of 10 MB need a fifth of it.
MEMORY_BYTES = 2**31


class Outcome(Struct):
    """What the process reports: the documents, or why there are none."""

    documents: list[NifDocument] = []
    error: str = ""


def parse_in_time(turtle: bytes, seconds: float) -> list[NifDocument]:
    """Parses the documents of a Turtle text; raises NifError also if that takes too long or too much memory."""
    if len(turtle) <= SMALL_BYTES:
        return parse(turtle)
    # Without -P a file in the current directory could stand in for one of our modules.
    command = [sys.executable, "-P", "-m", __name__, str(round(seconds))]
    try:
        done = subprocess.run(command, input=turtle, capture_output=True, timeout=seconds, check=False)
        outcome = msgspec.json.decode(done.stdout, type=Outcome)
    except subprocess.TimeoutExpired:
        raise NifError(f"its {len(turtle)} bytes cannot be read in {seconds:.3g} s") from None
    except (OSError, msgspec.DecodeError):
        raise NifError(f"its {len(turtle)} bytes cannot be read in a process of their own") from None
    if outcome.error:
        raise NifError(outcome.error)
    return outcome.documents


def main() -> None:
    """Parses what comes in on stdin, and writes the outcome to stdout."""
    _limit_process(int(sys.argv[1]))
    try:
        outcome = Outcome(parse(sys.stdin.buffer.read()))
    except NifError as error:
        outcome = Outcome(error=str(error))
    except MemoryError:
        outcome = Outcome(error="too large: it needs too much memory")
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


def _limit_process(seconds: int) -> None:
    """Ends the process by itself, should nobody be there to end it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds + 1, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    main()
