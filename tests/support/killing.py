"""Commands that are killed again and again at random points of their work, and what must hold in the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import ClassVar, NamedTuple

from build_world import Small, made, small
from generation_world import write_generation_world
from reading_world import write_reading_world
from retrieval_world import write_collection
from retriever_scripts import write_retrievers
from service import Asked, Reply, Service, serving
from world import write_world

from shadowprobe import open_dataset

LINKER = '''
import time
from shadowprobe import Linker

class Slow(Linker):
    """Takes its time over every batch, and writes down what it was asked."""

    batch_size = 2

    def link(self, snippets):
        time.sleep(0.02)
        with open("asked.txt", "a") as file:
            file.writelines(f"{snippet.id}\\n" for snippet in snippets)
        return [self.answer(s, self.knowledge.candidates(s.mention)[0]) for s in snippets]
'''
SHADOWPROBE = (sys.executable, "-m", "shadowprobe")
PATIENCE = 300.0


class Victim:
    """A command that goes on where it was killed, and whom it asks; `at_once` is what a kill may cost."""

    name: ClassVar[str]
    at_once: ClassVar[int]

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def command(self, out: str) -> list[str]:
        """What is typed."""
        raise NotImplementedError

    def asked(self) -> list[str]:
        """Every question so far, of all runs, in any order."""
        return (self.directory / "asked.txt").read_text().split() if (self.directory / "asked.txt").exists() else []

    def stored(self, out: str) -> list[str]:
        """The questions whose answers a run has stored."""
        raise NotImplementedError

    def result(self, out: str) -> dict[str, bytes | None]:
        """What must be the same as if nothing had happened."""
        raise NotImplementedError

    def work(self, out: str) -> int:
        """How much was done so far."""
        return len(self.asked())

    def start(self, out: str) -> subprocess.Popen[str]:
        """Starts the command."""
        return subprocess.Popen(
            self.command(out), cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def lines(self, path: str) -> list[bytes]:
        """The whole lines of a file."""
        file = self.directory / path
        content = file.read_bytes() if file.exists() else b""
        return content[: content.rfind(b"\n") + 1].splitlines()

    def ids(self, path: str) -> list[str]:
        """The ids of a file of JSON lines."""
        return [json.loads(line)["id"] for line in self.lines(path)]

    def run_files(self, out: str, answers: str) -> dict[str, bytes | None]:
        """The results of a run, its answers in any order, and which files there are."""
        found: dict[str, bytes | None] = {path.name: None for path in (self.directory / out).iterdir()}
        results = (self.directory / out / "results.json").read_bytes()
        return found | {answers: b"\n".join(sorted(self.lines(f"{out}/{answers}"))), "results.json": results}


class PlainRun(Victim):
    """A linker in a file of the user; a batch has two snippets."""

    name = "run"
    at_once = 2

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        (directory / "slow.py").write_text(LINKER)
        write_world(directory / "world")

    def command(self, out: str) -> list[str]:
        """A run over the small world."""
        return [*SHADOWPROBE, "run", "--linker", "slow.py:Slow", "--dataset", "world", "--out", out]

    def stored(self, out: str) -> list[str]:
        """The snippets with a prediction."""
        return self.ids(f"{out}/predictions.jsonl")

    def result(self, out: str) -> dict[str, bytes | None]:
        """The run."""
        return self.run_files(out, "predictions.jsonl")


class Retrieval(Victim):
    """A retriever in a file of the user; a batch has two queries."""

    name = "retrieve"
    at_once = 2

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        write_collection(directory / "little")
        write_retrievers(directory)

    def command(self, out: str) -> list[str]:
        """A run over the small collection."""
        retriever = ("--retriever", "mine.py:Noting", "-o", "pause=0.02")
        return [*SHADOWPROBE, "retrieve", *retriever, "--collection", "little", "-k", "1", "--depth", "3", "--out", out]

    def stored(self, out: str) -> list[str]:
        """The queries with a ranking."""
        return self.ids(f"{out}/rankings.jsonl")

    def result(self, out: str) -> dict[str, bytes | None]:
        """The run."""
        return self.run_files(out, "rankings.jsonl")


class Reading(Victim):
    """A reader in a file of the user, with the documents of a retriever; a batch has two queries."""

    name = "read"
    at_once = 2

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        write_reading_world(directory)

    def command(self, out: str) -> list[str]:
        """A run over the small collection."""
        reader = ("--reader", "mine.py:Told", "-o", "pause=0.02")
        return [*SHADOWPROBE, "read", *reader, "--documents", "found", "-k", "2", "--out", out]

    def stored(self, out: str) -> list[str]:
        """The queries with an answer for which the reader was asked."""
        lines = [json.loads(line) for line in self.lines(f"{out}/answers.jsonl")]
        return [line["id"] for line in lines if line["answer"]]

    def result(self, out: str) -> dict[str, bytes | None]:
        """The run."""
        return self.run_files(out, "answers.jsonl")


class Generating(Victim):
    """A reader in a file of the user that writes questions and answers; a batch has two prompts."""

    name = "sets"
    at_once = 2
    files = ("ambigdocs.json", "rejected.jsonl", "funnel.json")

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        write_generation_world(directory)

    def command(self, out: str) -> list[str]:
        """Sets from a file of documents."""
        writer = ("--reader", "writers.py:Writer", "-o", "pause=0.02")
        return [*SHADOWPROBE, "sets", "ambigdocs", *writer, "--collection", "documents.jsonl", "--out", out]

    def asked(self) -> list[str]:
        """The prompts by their keys, which may have spaces."""
        path = self.directory / "asked.txt"
        return path.read_text().splitlines() if path.exists() else []

    def stored(self, out: str) -> list[str]:
        """The prompts with a reply."""
        return [json.dumps(key) for key in self.ids(f"{out}/replies.jsonl")]

    def result(self, out: str) -> dict[str, bytes | None]:
        """The sets, what was left out, and the replies in any order."""
        found: dict[str, bytes | None] = {path.name: None for path in (self.directory / out).iterdir()}
        found |= {name: (self.directory / out / name).read_bytes() for name in self.files}
        return found | {"replies.jsonl": b"\n".join(sorted(self.lines(f"{out}/replies.jsonl")))}


class WebRun(Victim):
    """A web service with several requests at once; each may have as many answers that are not yet written."""

    name = "web run"
    concurrency = 8
    at_once = 3 * concurrency
    spaces = 80

    def __init__(self, directory: Path, service: Service) -> None:
        super().__init__(directory)
        self.service = service
        self.texts = {snippet.id: snippet.text for snippet in open_dataset("mini").first(self.spaces).snippets()}

    def command(self, out: str) -> list[str]:
        """A run over the first names of `mini`."""
        options = ["--linker", "rel", "-o", f"url={self.service.url}", "-o", f"concurrency={self.concurrency}"]
        return [*SHADOWPROBE, "run", *options, "--dataset", "mini", "--limit", str(self.spaces), "--out", out]

    def asked(self) -> list[str]:
        """The texts of all requests that came whole."""
        return [asked.json["text"] for asked in list(self.service.requests) if _is_whole(asked)]

    def stored(self, out: str) -> list[str]:
        """The texts of the snippets with a prediction."""
        return [self.texts[snippet] for snippet in self.ids(f"{out}/predictions.jsonl")]

    def result(self, out: str) -> dict[str, bytes | None]:
        """The run."""
        return self.run_files(out, "predictions.jsonl")

    def work(self, out: str) -> int:
        """The number of requests."""
        return len(self.service.requests)


class Building(Victim):
    """A build from a stand-in for a wiki and from web pages on loopback."""

    name = "build"
    concurrency = 4
    at_once = 2 * concurrency

    def __init__(self, directory: Path, world: Small) -> None:
        super().__init__(directory)
        self.world = world

    def command(self, out: str) -> list[str]:
        """A build of the small wiki."""
        manners = ["--delay", "0", "--allow-network", "127.0.0.0/8", "--concurrency", str(self.concurrency)]
        named = ["--name", "small", "--contact", "me@example.org"]
        return [*SHADOWPROBE, "build", "--wiki", self.world.url, "--out", out, *named, *manners]

    def asked(self) -> list[str]:
        """The requests to the wiki and to the web."""
        return self.world.questions()

    def stored(self, out: str) -> list[str]:
        """The requests whose responses are in the archives."""
        indexes = (f"{out}/build/archive/{name}.warc.gz.index" for name in ("wiki", "web"))
        return [json.loads(line)["key"] for index in indexes for line in self.lines(index)]

    def result(self, out: str) -> dict[str, bytes | None]:
        """The dataset and what the stages wrote."""
        return made(self.directory / out)

    def work(self, out: str) -> int:
        """The requests, and the files of the stages: the last stages send no request."""
        return self.world.asked + sum(1 for _ in (self.directory / out).rglob("*"))


def _is_whole(asked: Asked) -> bool:
    """False for a request in the midst of which its sender was killed."""
    return len(asked.body) == int(asked.headers["content-length"])


def answer_like_rel(_: int, asked: Asked) -> Reply:
    """Takes a moment, then answers with the name itself, or not at all, as the length of the text has it."""
    time.sleep(0.004)
    if not _is_whole(asked):
        return 400, {}, b""
    text, ((start, length),) = asked.json["text"], asked.json["spans"]
    name, score = text[start : start + length], 0.25 + len(text) % 64 / 128
    rows = [[start, length, name, name, score, 0.0, "NULL"]] if len(text) % 5 else []
    return 200, {}, json.dumps(rows).encode()


@contextmanager
def make_victim(name: str, directory: Path) -> Iterator[Victim]:
    """A victim, with the services that it needs while the block runs."""
    directory.mkdir(parents=True, exist_ok=True)
    if name == WebRun.name:
        with serving(answer_like_rel) as service:
            yield WebRun(directory, service)
    elif name == Building.name:
        with small() as world:
            yield Building(directory, world)
    else:
        yield {kind.name: kind for kind in (PlainRun, Retrieval, Reading, Generating)}[name](directory)


NAMES = (PlainRun.name, WebRun.name, Retrieval.name, Reading.name, Generating.name, Building.name)


class Report(NamedTuple):
    """What was done, and what went wrong."""

    name: str
    kills: int
    runs: int
    # Answers that were already stored at the kills, one number for each.
    stored: tuple[int, ...]
    needed: int
    asked: int
    problems: tuple[str, ...]

    def describe(self) -> str:
        """One line for a person."""
        done = f"{self.name}: killed {self.kills} times in {self.runs} runs of {self.needed} questions each"
        middle = f"with {min(self.stored, default=0)} to {max(self.stored, default=0)} answers stored"
        more = self.asked - self.runs * self.needed
        return f"{done}, {middle}; {more} questions asked again; {len(self.problems)} problems"


def kill_repeatedly(victim: Victim, kills: int, random: Random) -> Report:
    """Kills a command so often and lets it go on; one that comes to its end begins anew, until all kills are done."""
    needed, work = _run_undisturbed(victim)
    expected = victim.result("undisturbed")
    problems: list[str] = []
    stored: list[int] = []
    begun, runs = len(victim.asked()), 0
    while len(stored) < kills or not runs or victim.stored(f"killed-{runs}"):
        out, asked = f"killed-{runs}", Counter(victim.asked())
        kept = victim.stored(out)
        process = victim.start(out)
        # A tenth of the work on average, so that the kills are all over it.
        moment = victim.work(out) + random.randrange(0, max(2, work // 5))
        killed = len(stored) < kills and _kill_at(moment, process, victim, out, random.uniform(0, 0.03))
        _, error = process.communicate(timeout=PATIENCE)
        problems += _compare_stored(kept, victim.stored(out), Counter(victim.asked()) - asked)
        if killed:
            stored.append(len(victim.stored(out)))
            continue
        runs += 1
        if process.returncode != 0:
            problems.append(f"{out} ended with {process.returncode}: {error.strip()[-300:]}")
            break
        found = victim.result(out)
        problems += [
            f"{out}/{name} differs" for name in expected.keys() | found if expected.get(name) != found.get(name)
        ]
        if runs > 2 * kills + 2:
            problems.append("it ends before it can be killed")
            break
    total = len(victim.asked()) - begun
    if total > runs * needed + len(stored) * victim.at_once:
        problems.append(
            f"{total} questions asked, where {runs} runs need {needed} each and a kill may cost {victim.at_once}"
        )
    return Report(victim.name, len(stored), runs, tuple(stored), needed, total, tuple(problems))


def _run_undisturbed(victim: Victim) -> tuple[int, int]:
    """Returns the number of questions of a run, and the amount of its work."""
    begun = victim.work("undisturbed")
    process = victim.start("undisturbed")
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
    return len(victim.asked()), victim.work("undisturbed") - begun


def _kill_at(moment: int, process: subprocess.Popen[str], victim: Victim, out: str, wait: float) -> bool:
    """Kills a command at a point of its work; False if it ended before."""
    # Not at a time, so that a slow machine gets as far as a fast one; the rest is chance.
    while process.poll() is None and victim.work(out) < moment:
        time.sleep(0.001)
    time.sleep(wait)
    process.kill()
    return process.wait() == -signal.SIGKILL


def _compare_stored(before: list[str], after: list[str], asked: Counter[str]) -> list[str]:
    """Says which answers were lost, stored twice, or asked for although they were stored."""
    lost = Counter(before) - Counter(after)
    again = set(before) & set(asked)
    problems = [f"lost: {', '.join(lost)}"[:300]] if lost else []
    problems += [f"stored, and asked for again: {', '.join(sorted(again))}"[:300]] if again else []
    return problems
