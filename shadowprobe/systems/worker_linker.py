"""The base class of linkers that run in a Python environment of their own."""

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

from shadowprobe.errors import LinkerError
from shadowprobe.linker import Linker
from shadowprobe.model import Candidate, Failure, Prediction, Snippet, Status

T = TypeVar("T")
# So long a worker may take to end after each way of asking it to.
GRACE = 5.0
# So much of what a worker wrote to its stderr is kept: enough for the end of a traceback.
KEPT = 8192
SHOWN = 200


class Found(Struct):
    """An entity as a worker names it."""

    title: str | None = None
    qid: str | None = None
    page_id: int | None = None
    score: float | None = None


class Answer(Found, kw_only=True):
    """What a worker says of one snippet; `error` where its system failed on it."""

    id: str
    status: Status = "linked"
    candidates: list[Found] = []
    error: str | None = None


class Batch(Struct):
    """A worker's answer to a batch."""

    answers: list[Answer]


class Hello(Struct):
    """A worker's answer to its options: it is ready, or it cannot work."""

    ready: dict[str, str | int] | None = None
    error: str = "it does not say why"


class WorkerLinker(Linker):
    """A linker whose packages cannot live beside ours: a script runs in its environment and speaks JSON lines.

    A wrapper names the script in `worker`, as a path from its own file, and gives its options in `options`. The
    interpreter is the option `python`, or the environment variable `SHADOWPROBE_NAME_PYTHON`. Line by line goes

        {"setup": OPTIONS} to the script, and {"ready": {"version": ...}} or {"error": TEXT} back; then
        {"items": [{"id", "text", "start", "end"}, ...]} and {"answers": [ANSWER, ...]}, in any order,

    where an ANSWER is `id`, `status` (linked, nil, skipped), `title`, `qid`, `page_id`, `score` and `candidates`, each
    with a title, QID, page id and score; or it is `id` and `error`. What is unknown is left out. Offsets count code
    points. The script must end where its input does, and write nothing else to its stdout. One that takes longer than
    `start_timeout` seconds to be ready or `timeout` for a batch, that dies or says what is no answer, stops the run.
    """

    worker: ClassVar[str] = ""
    batch_size: ClassVar[int] = 32
    incidental: ClassVar[frozenset[str]] = frozenset({"python", "start_timeout", "timeout"})

    def __init__(self, python: str = "", start_timeout: float = 1800.0, timeout: float = 600.0) -> None:
        if not (start_timeout > 0 and timeout > 0):
            raise ValueError("start_timeout and timeout must be above 0")
        self.python, self.start_timeout, self.timeout = python, start_timeout, timeout

    def options(self) -> dict[str, Any]:
        """What the script is told before it loads its system."""
        return {}

    def item(self, snippet: Snippet) -> dict[str, Any]:
        """What the script is told of a snippet."""
        return {"id": snippet.id, "text": snippet.text, "start": snippet.start, "end": snippet.end}

    def outgoing(self, snippet: Snippet) -> str:
        """The snippet as it goes to the script."""
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
        self._gone, script = "", str(self._script())
        try:
            # A Path would make `python` of `./python`, and that is looked for elsewhere.
            self._process = _Process([os.path.expanduser(python), script])  # noqa: PTH111
        except OSError as error:
            raise LinkerError(
                f"`{self.name}` cannot start {python}: {error.strerror}; -o python=ENV/bin/python names the interpreter"
                f" of its environment, and {self._hint()}"
            ) from None
        try:
            late = f"was not ready in {self.start_timeout:g} s: -o start_timeout=SECONDS gives it longer"
            hello = self._ask({"setup": self.options()}, Hello, self.start_timeout, late)
            if hello.ready is None:
                raise LinkerError(f"`{self.name}` does not work in {python}: {_line(hello.error)}; {self._hint()}")
        except BaseException:
            self.close()
            raise
        about = ", ".join(f"{name} {version}" for name, version in hello.ready.items())
        self.note(f"{self.name} ran in an environment of its own: {about or 'it does not say which'}")

    def close(self) -> None:
        """Ends the script; one that is at work is not waited for."""
        if hasattr(self, "_process"):
            self._process.stop()

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Sends the snippets as one batch."""
        if not snippets:
            return []
        late = f"gave no answer in {self.timeout:g} s to a batch of {len(snippets)}: -o timeout=SECONDS gives it longer"
        question = {"items": [self.item(snippet) for snippet in snippets]}
        asked, answers = {snippet.id for snippet in snippets}, dict[str, Answer]()
        for answer in self._ask(question, Batch, self.timeout, late).answers:
            if answer.id not in asked or answer.id in answers:
                self._give_up(
                    f"answered {'twice ' if answer.id in asked else ''}for {answer.id!r}, against its question"
                )
            answers[answer.id] = answer
        return [self._read(answers.get(snippet.id), snippet) for snippet in snippets]

    def _read(self, answer: Answer | None, snippet: Snippet) -> Prediction | Failure:
        if answer is None:
            return self.fail(snippet, f"the worker of `{self.name}` left this snippet out of its answer")
        if answer.error is not None:
            return self.fail(snippet, _line(answer.error))
        candidates = [Candidate(found.title, found.page_id, found.qid, found.score) for found in answer.candidates]
        if answer.status != "linked":
            return Prediction(snippet.id, answer.status, score=answer.score, candidates=tuple(candidates))
        named = answer.title or answer.qid or (f"curid:{answer.page_id}" if answer.page_id is not None else "")
        if not named:
            return self.fail(snippet, f"the worker of `{self.name}` linked this snippet and named no entity")
        return self.answer(snippet, named, answer.score, candidates, page_id=answer.page_id, qid=answer.qid)

    def _ask(self, question: Any, kind: type[T], seconds: float, late: str) -> T:
        """The script's answer to one line."""
        if self._gone:
            raise LinkerError(self._gone)
        try:
            line = self._process.ask(msgspec.json.encode(question) + b"\n", seconds)
        except TimeoutError:
            self._give_up(late)
        except EOFError:
            self._give_up(self._process.obituary())
        try:
            return msgspec.json.decode(line, type=kind)
        except msgspec.DecodeError as error:
            shown = _line(line.decode("utf-8", "replace"))
            # An answer of the wrong form is an object all the same; anything else was meant for a person.
            stray = not line.lstrip().startswith(b"{")
            hint = "; its stdout must hold nothing but JSON lines: print to stderr" if stray else ""
            self._give_up(f"said what is no answer ({error}): {shown!r}{hint}")

    def _give_up(self, problem: str) -> NoReturn:
        self._process.stop()
        self._gone = f"the worker of `{self.name}` {problem}"
        raise LinkerError(self._gone)

    def _hint(self) -> str:
        return f"`shadowprobe check --linker {self.name}` prints how to make it"

    def _script(self) -> Path:
        """The script, found from the file of the class that names it."""
        for kind in type(self).__mro__:
            if script := vars(kind).get("worker"):
                # A class of a notebook has no file, and its script stands where the notebook runs.
                file = getattr(sys.modules.get(kind.__module__), "__file__", None)
                return (Path(file).resolve().parent if file else Path.cwd()) / str(script)
        raise NotImplementedError(f"{type(self).__name__} must name its script: worker = 'my_worker.py'")


class _Process:
    """A running script that is asked line by line; it never outlives `stop`."""

    def __init__(self, command: list[str]) -> None:
        # Old Pythons open files in the encoding of the locale, and their systems read UTF-8 without saying so.
        environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}
        pipe = subprocess.PIPE
        # In a session of its own: Ctrl-C is ours to hear, and a traceback from the script would only bury our line.
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._tail = b""
        self._busy = False
        self._threads = [self._aside(self._read_answers), self._aside(self._read_errors)]

    def ask(self, line: bytes, seconds: float) -> bytes:
        """The line that answers a line; TimeoutError or EOFError where none comes."""
        self._busy = True
        # Written aside: a pipe that nobody empties would block the write for ever, and with it the time limit.
        writer = self._aside(self._write, line)
        self._threads = [*self._threads[:2], writer]
        try:
            answer = self._lines.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        except queue.Empty:
            raise TimeoutError from None
        if not answer:
            raise EOFError
        self._busy = False
        return answer

    def stop(self) -> None:
        """Ends the script: by the end of its input, then by request, then by force."""
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
            # A pipe that a thread still reads, because a child of the script holds its other end, cannot be closed.
            if pipe is not None and not any(thread.is_alive() for thread in self._threads):
                with suppress(OSError):
                    pipe.close()

    def obituary(self) -> str:
        """How the script ended, and its last words."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self.stop()
        code = self._process.returncode
        how = f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
            how += " (did the memory run out?)" if -code == signal.SIGKILL else ""
        lines = [line.strip() for line in re.split(r"[\r\n]+", self._tail.decode("utf-8", "replace")) if line.strip()]
        return f"{how}: {_line(lines[-1])}" if lines else f"{how} without a word"

    def _end_input(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _kill(self) -> None:
        if self._process.poll() is None:
            # Its session is its own, so this reaches what it started and nothing else.
            os.killpg(self._process.pid, signal.SIGKILL)

    def _aside(self, work: Any, *arguments: Any) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, name="worker-pipe", daemon=True)
        thread.start()
        return thread

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        # A script that has gone is noticed where its answer is missed.
        with suppress(OSError, ValueError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self) -> None:
        """Empties stderr, so that the script never waits for it; progress bars have no lines, so bytes are counted."""
        assert self._process.stderr is not None
        while chunk := os.read(self._process.stderr.fileno(), KEPT):
            self._tail = (self._tail + chunk)[-KEPT:]


def _line(text: str) -> str:
    """The beginning of a text on one line."""
    joined = " ".join(text.split())
    return joined if len(joined) <= SHOWN else f"{joined[:SHOWN]}..."
