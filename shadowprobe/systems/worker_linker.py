"""The base class of linkers that run in their own Python environment."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeVar

import msgspec
from msgspec import Struct

from shadowprobe.base.model import Candidate, Failure, Prediction, Snippet, Status
from shadowprobe.errors import LinkerError, shorten
from shadowprobe.systems.linker import Linker

T = TypeVar("T")
# The seconds that a worker has to end after each request to end.
GRACE = 5.0
# The number of bytes of a worker's stderr that are kept: enough for the end of a traceback.
KEPT_BYTES = 8192


class WorkerEntity(Struct):
    """An entity in a worker's reply."""

    title: str | None = None
    qid: str | None = None
    page_id: int | None = None
    score: float | None = None


class WorkerReply(WorkerEntity, kw_only=True):
    """A worker's reply to one snippet; it has an `error` if the system failed on it."""

    id: str
    status: Status = "linked"
    candidates: list[WorkerEntity] = []
    error: str | None = None


class BatchReply(Struct):
    """A worker's reply to a batch."""

    answers: list[WorkerReply]


class SetupReply(Struct):
    """A worker's reply to its options: it is ready, or it cannot work."""

    ready: dict[str, str | int] | None = None
    error: str = "it does not say why"


class WorkerLinker(Linker):
    """A linker whose packages conflict with ours: a script runs in its environment and exchanges JSON lines with us.

    A wrapper names the script in `worker`, as a path relative to its own file, and the options for it in `sent`.
    The interpreter is the option `python`, or the environment variable `SHADOWPROBE_NAME_PYTHON`. The lines are

        {"setup": OPTIONS} to the script, and {"ready": {"version": ...}} or {"error": TEXT} back; then
        {"items": [{"id", "text", "start", "end"}, ...]} and {"answers": [ANSWER, ...]}, in any order,

    where an ANSWER has `id`, `status` (linked, nil, skipped), `title`, `qid`, `page_id`, `score` and `candidates`, each
    with a title, QID, page id and score; or it has `id` and `error`. Unknown fields are left out. Offsets count code
    points. The script must end when its input ends, and write nothing else to its stdout. The run stops if the script
    needs more than `start_timeout` seconds to be ready or `timeout` seconds for a batch, ends, or sends an invalid
    reply.
    """

    worker: ClassVar[str] = ""
    # The names of the options that the script gets.
    sent: ClassVar[tuple[str, ...]] = ()
    batch_size: ClassVar[int] = 32
    incidental: ClassVar[frozenset[str]] = frozenset({"python", "start_timeout", "timeout"})
    option_help: ClassVar[dict[str, str]] = {
        "python": "the interpreter of the system's own environment",
        "start_timeout": "seconds until the system has started",
        "timeout": "seconds for one batch",
    }

    def __init__(self, python: str = "", start_timeout: float = 1800.0, timeout: float = 600.0) -> None:
        if not (start_timeout > 0 and timeout > 0):
            raise ValueError("start_timeout and timeout must be above 0")
        self.python, self.start_timeout, self.timeout = python, start_timeout, timeout

    def options(self) -> dict[str, Any]:
        """Returns the options that the script gets before it loads its system."""
        return {name: getattr(self, name) for name in self.sent}

    def item(self, snippet: Snippet) -> dict[str, Any]:
        """Returns what the script gets for a snippet."""
        return {"id": snippet.id, "text": snippet.text, "start": snippet.start, "end": snippet.end}

    def outgoing(self, snippet: Snippet) -> str:
        """Returns the snippet as it is sent to the script."""
        return msgspec.json.encode(self.item(snippet)).decode()

    @property
    def python_variable(self) -> str:
        """The environment variable that names the interpreter."""
        return f"SHADOWPROBE_{self.name.upper().replace('-', '_')}_PYTHON"

    def setup(self) -> None:
        """Starts the script and waits until its system is loaded."""
        python = self.python or os.environ.get(self.python_variable, "")
        if not python:
            raise LinkerError(
                f"`{self.name}` runs in a Python environment of its own: add -o python=ENV/bin/python,"
                f" or set {self.python_variable}; {self._hint()}"
            )
        self._exit_message, script = "", str(self._find_script())
        try:
            # A Path would change `./python` to `python`, which is searched in other directories.
            self._process = _Process([os.path.expanduser(python), script])  # noqa: PTH111
        except OSError as error:
            raise LinkerError(
                f"`{self.name}` cannot start {python}: {error.strerror}; -o python=ENV/bin/python names the interpreter"
                f" of its environment, and {self._hint()}"
            ) from None
        try:
            late = f"was not ready in {self.start_timeout:g} s: -o start_timeout=SECONDS gives it longer"
            reply = self._ask({"setup": self.options()}, SetupReply, self.start_timeout, late)
            if reply.ready is None:
                raise LinkerError(f"`{self.name}` does not work in {python}: {shorten(reply.error)}; {self._hint()}")
        except BaseException:
            self.close()
            raise
        about = ", ".join(f"{name} {version}" for name, version in reply.ready.items())
        self.note(f"{self.name} ran in an environment of its own: {about or 'it does not say which'}")

    def close(self) -> None:
        """Ends the script, without waiting for its current work."""
        if hasattr(self, "_process"):
            self._process.stop()

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Sends the snippets as one batch."""
        if not snippets:
            return []
        late = f"gave no answer in {self.timeout:g} s to a batch of {len(snippets)}: -o timeout=SECONDS gives it longer"
        batch = {"items": [self.item(snippet) for snippet in snippets]}
        ids, replies = {snippet.id for snippet in snippets}, dict[str, WorkerReply]()
        for reply in self._ask(batch, BatchReply, self.timeout, late).answers:
            if reply.id not in ids or reply.id in replies:
                times = "twice" if reply.id in ids else "without a request"
                self._give_up(f"answered {times} for {reply.id!r}")
            replies[reply.id] = reply
        return [self._read(replies.get(snippet.id), snippet) for snippet in snippets]

    def _read(self, reply: WorkerReply | None, snippet: Snippet) -> Prediction | Failure:
        if reply is None:
            return self.fail(snippet, f"the worker of `{self.name}` left this snippet out of its answer")
        if reply.error is not None:
            return self.fail(snippet, shorten(reply.error))
        candidates = [Candidate(entity.title, entity.page_id, entity.qid, entity.score) for entity in reply.candidates]
        if reply.status != "linked":
            return Prediction(snippet.id, reply.status, score=reply.score, candidates=tuple(candidates))
        name = reply.title or reply.qid or (f"curid:{reply.page_id}" if reply.page_id is not None else "")
        if not name:
            return self.fail(snippet, f"the worker of `{self.name}` linked this snippet and named no entity")
        return self.answer(snippet, name, reply.score, candidates, page_id=reply.page_id, qid=reply.qid)

    def _ask(self, request: Any, kind: type[T], seconds: float, late: str) -> T:
        """Sends one line to the script and returns its reply."""
        if self._exit_message:
            raise LinkerError(self._exit_message)
        try:
            line = self._process.ask(msgspec.json.encode(request) + b"\n", seconds)
        except TimeoutError:
            self._give_up(late)
        except EOFError:
            self._give_up(self._process.explain_exit())
        try:
            return msgspec.json.decode(line, type=kind)
        except msgspec.DecodeError as error:
            shown = shorten(line.decode("utf-8", "replace"))
            # An invalid reply is still a JSON object. Any other line was printed for a person.
            is_printed = not line.lstrip().startswith(b"{")
            hint = "; its stdout must contain only JSON lines: print to stderr" if is_printed else ""
            self._give_up(f"sent an invalid reply ({error}): {shown!r}{hint}")

    def _give_up(self, problem: str) -> NoReturn:
        self._process.stop()
        self._exit_message = f"the worker of `{self.name}` {problem}"
        raise LinkerError(self._exit_message)

    def _hint(self) -> str:
        return f"`shadowprobe check --linker {self.name}` prints how to make it"

    def _find_script(self) -> Path:
        """Returns the path of the script, relative to the file of the class that names it."""
        for kind in type(self).__mro__:
            if script := vars(kind).get("worker"):
                # A class in a notebook has no file; its script is in the notebook's working directory.
                file = getattr(sys.modules.get(kind.__module__), "__file__", None)
                return (Path(file).resolve().parent if file else Path.cwd()) / str(script)
        raise NotImplementedError(f"{type(self).__name__} must name its script: worker = 'my_worker.py'")


class _Process:
    """A running script that gets one line at a time; it always ends with `stop`."""

    def __init__(self, command: list[str]) -> None:
        # Old Python versions open files in the encoding of the locale, but the systems expect UTF-8.
        environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}
        pipe = subprocess.PIPE
        # In its own session, so that Ctrl-C reaches only us and the script prints no traceback.
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._tail = b""
        self._busy = False
        self._threads = [self._start_thread(self._read_replies), self._start_thread(self._read_errors)]

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Sends a line and returns the next one; raises TimeoutError or EOFError if there is none."""
        self._busy = True
        # Written in a thread: a full pipe would block the write, and the time limit would have no effect.
        writer = self._start_thread(self._write, line)
        self._threads = [*self._threads[:2], writer]
        try:
            reply = self._lines.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        except queue.Empty:
            raise TimeoutError from None
        if not reply:
            raise EOFError
        self._busy = False
        return reply

    def stop(self) -> None:
        """Ends the script: first closes its input, then terminates it, then kills it."""
        process = self._process
        steps = [self._end_input, process.terminate, self._kill]
        for step in steps[-1:] if self._busy else steps:
            step()
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
                break
        for thread in self._threads:
            thread.join(GRACE)
        for pipe in (process.stdin, process.stdout, process.stderr):
            # A thread may still read the pipe, because a child of the script has its other end. It cannot be closed.
            if pipe is not None and not any(thread.is_alive() for thread in self._threads):
                with suppress(OSError):
                    pipe.close()

    def explain_exit(self) -> str:
        """Says how the script ended, with the last line of its stderr."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self.stop()
        code = self._process.returncode
        reason = f"ended with exit code {code}"
        if code is not None and code < 0:
            # Real-time signals have no names.
            reason = f"was killed by {next((one.name for one in signal.Signals if one == -code), f'signal {-code}')}"
            reason += " (did the memory run out?)" if -code == signal.SIGKILL else ""
        lines = [line.strip() for line in re.split(r"[\r\n]+", self._tail.decode("utf-8", "replace")) if line.strip()]
        return f"{reason}: {shorten(lines[-1])}" if lines else f"{reason} without a message"

    def _end_input(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _kill(self) -> None:
        if self._process.poll() is None:
            # The script has its own session, so this kills only the script and its children.
            os.killpg(self._process.pid, signal.SIGKILL)

    def _start_thread(self, work: Any, *arguments: Any) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, name="worker-pipe", daemon=True)
        thread.start()
        return thread

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        # If the script has ended, the missing reply shows it.
        with suppress(OSError, ValueError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _read_replies(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self) -> None:
        """Reads stderr, so that the script never waits for it; counts bytes, because progress bars have no lines."""
        assert self._process.stderr is not None
        while chunk := os.read(self._process.stderr.fileno(), KEPT_BYTES):
            self._tail = (self._tail + chunk)[-KEPT_BYTES:]
