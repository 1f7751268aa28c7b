"""NIF from unknown senders: long documents are parsed like short ones, and hostile ones are given up in time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shadowprobe.formats.nif_documents import NifDocument, NifError, Phrase, parse, to_turtle
from shadowprobe.formats.nif_process import SMALL_BYTES, parse_in_time

# The parser's time grows with the square of their number.
PREFIXES = "".join(f"@prefix p{number}: <http://x.example/{number}#> .\n" for number in range(30_000)).encode()
NUMBERS = b"<http://x.example/a> <http://x.example/b> (" + b"1 " * 200_000 + b") ."


def test_a_long_document_is_read_as_a_short_one_is() -> None:
    text = "Avon ünd \N{SNOWMAN} " * 200
    phrases = tuple(Phrase(11 * number, 11 * number + 4, ("http://x.example/Avon",), 0.5) for number in range(200))
    turtle = to_turtle([NifDocument("http://x.example/d", text, phrases)]).encode()
    assert len(turtle) > SMALL_BYTES
    assert parse_in_time(turtle, 60) == parse(turtle)


@pytest.mark.parametrize("turtle", [PREFIXES, NUMBERS], ids=["prefixes", "numbers"])
def test_a_document_that_takes_too_long_is_given_up(turtle: bytes) -> None:
    with pytest.raises(NifError, match=rf"^its {len(turtle)} bytes cannot be read in 0\.5 s$"):
        parse_in_time(turtle, 0.5)


def test_no_time_left_is_no_traceback() -> None:
    with pytest.raises(NifError, match="cannot be read in"):
        parse_in_time(PREFIXES, -1.0)


def test_a_fault_in_a_long_document_is_told_as_in_a_short_one() -> None:
    with pytest.raises(NifError, match=r"^not UTF-8: invalid start byte at byte 0$"):
        parse_in_time(b"\xff" * (SMALL_BYTES + 1), 60)


def test_a_document_that_needs_too_much_memory_is_refused() -> None:
    script = (
        "from shadowprobe.formats import nif_process as process\n"
        "process.MEMORY_BYTES, process.parse = 300 * 2**20, lambda _: [bytes(2**30)]\n"
        "process.main()"
    )
    done = subprocess.run([sys.executable, "-c", script, "60"], input=b"", capture_output=True, check=True)
    assert done.stdout == b'{"documents":[],"error":"too large: it needs too much memory"}'


def test_a_process_that_dies_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(NifError, match="in a process of their own"):
        parse_in_time(PREFIXES, 60)


def test_a_file_in_the_current_directory_stands_in_for_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    assert parse_in_time(b"#" * (SMALL_BYTES + 1), 60) == []


def test_a_process_ends_by_itself_a_second_after_its_time() -> None:
    pytest.importorskip("resource", reason="limits of a process are the POSIX kind")
    script = (
        "import resource\n"
        "from shadowprobe.formats import nif_process as process\n"
        "def tell(_):\n"
        "    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS)]\n"
        "    raise process.NifError(str(limits))\n"
        "process.parse = tell\n"
        "process.main()"
    )
    done = subprocess.run([sys.executable, "-c", script, "7"], input=b"", capture_output=True, check=True)
    # Two GiB of memory.
    assert done.stdout == b'{"documents":[],"error":"[8, 2147483648]"}'
