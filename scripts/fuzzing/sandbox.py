"""Runs a command in a process of its own: with limits, and with an eye on what it writes and whom it asks."""

from __future__ import annotations

import faulthandler
import importlib
import io
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

SECONDS, WAITING = 20, 60
BYTES = 1_000_000_000
# An error message has at most 600 characters and the name of the program; what a command says beside it is short too.
LONGEST_MESSAGE, LONGEST_OUTPUT = 1_000, 1_000_000
CRASHED = 70
# What a terminal would obey.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WARNING = re.compile(r"^\S+\.py:\d+: \w+Warning: ", re.MULTILINE)
_CHANGES = frozenset({"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate"})
_ASKED = frozenset({"socket.connect", "socket.getaddrinfo", "socket.bind", "subprocess.Popen", "os.system", "os.exec"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Outcome(NamedTuple):
    """How a command ended, and everything that is wrong with it."""

    code: int
    output: str
    findings: tuple[str, ...]
    modules: tuple[str, ...] = ()


class Call(NamedTuple):
    """`shadowprobe ARGUMENTS` in a directory; its output goes to another directory, `log`."""

    arguments: tuple[str, ...]
    directory: Path
    log: Path


def run_command(call: Call) -> Outcome:
    """Runs a command in a fork of this process."""
    death, used = _run([call])
    crash, escapes = _read(call.log / "crash"), _read(call.log / "escapes")
    code = -death if death else int(_read(call.log / "code") or CRASHED)
    stdout, stderr = _read(call.log / "out"), _read(call.log / "err")
    findings = []
    if death in {signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL}:
        findings.append(f"took more than {SECONDS} s of CPU time, or {WAITING} s in all")
    elif death:
        findings.append(f"died of {signal.Signals(death).name}")
    if "MemoryError" in crash or used > BYTES:
        findings.append(f"needs more than {BYTES // 10**6} MB (it had {used // 10**6} MB)")
    elif crash:
        findings.append(f"traceback: {crash.strip().splitlines()[-1][:300]}")
    elif code not in {0, 1, 2} and not death:
        findings.append(f"ended with {code}")
    findings += _inspect_output(code, stdout, stderr)
    findings += escapes.splitlines()
    return Outcome(code, f"{stdout}{stderr}{crash}", tuple(findings), tuple(_read(call.log / "modules").split()))


def run_batch(calls: Sequence[Call]) -> list[int | None]:
    """Runs commands one after the other in one fork, which is faster: their exit codes, None where it must run alone.

    That is a command with something to say against it, and every command of a batch that did not come to its end.
    """
    death, used = _run(calls)
    if death or used > BYTES:
        return [None] * len(calls)
    return [_inspect_quickly(call.log) for call in calls]


def _inspect_quickly(log: Path) -> int | None:
    code = int(_read(log / "code") or CRASHED)
    suspicious = _read(log / "crash") or _read(log / "escapes") or code not in {0, 1, 2}
    return None if suspicious or _inspect_output(code, _read(log / "out"), _read(log / "err")) else code


def _run(calls: Sequence[Call]) -> tuple[int, int]:
    """Runs commands in a fork; returns the signal of its death, 0 for none, and the bytes that it needed at most."""
    # A fork begins with the memory of its parent, which may be a test run that has loaded much else.
    before = _memory()
    child = os.fork()
    if child == 0:
        # Nothing of the parent, such as a test, may go on in the child.
        try:
            _work(calls)
        finally:
            os._exit(CRASHED)
    _, status, used = os.wait4(child, 0)
    return max(0, -os.waitstatus_to_exitcode(status)), max(0, used.ru_maxrss * 1024 - before)


# A study says when each combination begins and ends, and lists those that could not be run.
_OF_STUDY = re.compile(r"\[\d+/\d+\] |  ")


def _memory() -> int:
    """The bytes that this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def _inspect_output(code: int, stdout: str, stderr: str) -> list[str]:
    findings = []
    lines = stderr.strip().splitlines()
    if longest := max((len(line) for line in lines if len(line) > LONGEST_MESSAGE), default=0):
        findings.append(f"an error message of {longest} characters")
    messages = [line for line in lines if not _OF_STUDY.match(line)]
    if code == 2 and len(messages) != 1:
        findings.append(f"an error message of {len(messages)} lines")
    if len(stdout) + len(stderr) > LONGEST_OUTPUT:
        findings.append(f"an output of {len(stdout) + len(stderr)} characters")
    for name, text in (("output", stdout), ("messages", stderr)):
        if control := _CONTROLS.search(text):
            findings.append(f"the control character {control[0]!a} in its {name}")
    if warning := _WARNING.search(stderr):
        findings.append(f"a warning of Python: {stderr[warning.end() :].splitlines()[0][:200]}")
    return findings


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "backslashreplace") if path.exists() else ""


def _work(calls: Sequence[Call]) -> None:
    """What the child does: it never returns."""
    # The parent may be a test, whose output is no place for the child's last words.
    faulthandler.disable()
    sys.dont_write_bytecode = True
    escapes: list[str] = []
    inside = [""]
    sys.addaudithook(lambda event, args: _watch(event, args, inside[0], escapes))
    _limit_memory()
    for call in calls:
        escapes.clear()
        inside[0] = ""
        _redirect(call.log)
        os.chdir(call.directory)
        tempfile.tempdir = str(call.directory)
        _limit_time()
        inside[0] = str(call.directory.resolve())
        code, crash = _call_main(call.arguments)
        inside[0] = ""
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        for name, text in (("crash", crash), ("escapes", "\n".join(dict.fromkeys(escapes))), ("code", str(code))):
            (call.log / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    (calls[0].log / "modules").write_text("\n".join(list(sys.modules)), encoding="utf-8")
    os._exit(0)


def _call_main(arguments: Sequence[str]) -> tuple[int, str]:
    """The exit code of the command, and its traceback if it crashed."""
    try:
        importlib.import_module("shadowprobe.cli").main(list(arguments))
    except SystemExit as stop:
        return (stop.code if isinstance(stop.code, int) else int(stop.code is not None)), ""
    except BaseException:
        # With the memory of the command in its frames, even this may need more than is left.
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return CRASHED, traceback.format_exc(limit=-25)
    return 0, ""


def _redirect(log: Path) -> None:
    for number, name in ((1, "out"), (2, "err")):
        handle = os.open(log / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, number)
        os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)


def _limit_memory() -> None:
    """Limits the memory beside that of the parent; there is no core file."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + BYTES, resource.RLIM_INFINITY))


def _limit_time() -> None:
    """Limits the time from now on."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + SECONDS, resource.RLIM_INFINITY))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(WAITING)


def _watch(event: str, args: tuple[Any, ...], inside: str, escapes: list[str]) -> None:
    """Notes a file that is changed outside of the directory, a connection, and a program that is started."""
    if not inside:
        return
    if event == "open":
        path, mode, flags = args
        if isinstance(path, int) or not (flags & _WRITING or set(mode or "") & set("wax+")):
            return
        _note_outside(path, inside, escapes)
    elif event in _CHANGES:
        for path in args[:2]:
            _note_outside(path, inside, escapes)
    elif event in _ASKED and not _is_our_parser(args):
        escapes.append(f"{event} {args!a}"[:300])


def _is_our_parser(args: tuple[Any, ...]) -> bool:
    """True for the process in which documents of unknown senders are parsed, within limits of its own."""
    return len(args) > 1 and isinstance(args[1], list) and "shadowprobe.formats.nif_process" in args[1]


def _note_outside(path: Any, inside: str, escapes: list[str]) -> None:
    if not isinstance(path, str | bytes | os.PathLike):
        return
    name = os.path.realpath(os.fsdecode(path))
    if name != os.devnull and not f"{name}/".startswith(f"{inside}/"):
        escapes.append(f"changes {name} outside of its directory"[:300])
