"""`shadowprobe serve` as a process: how it starts, stops and refuses, and that nothing is lost on its way."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from asking import answers_of
from nif_app import parse_one
from refusals import complaint
from world import snippet, write_world

from shadowprobe import Card, Dataset, Entity, EntitySpace, Prediction, Snippet, write_dataset
from shadowprobe.base.jsonl import read_lines
from shadowprobe.formats.nif_documents import NifDocument, Phrase, to_turtle
from shadowprobe.measure.answers import Answers
from shadowprobe.net.service import bind_port
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job

AVON = to_turtle([NifDocument("http://x.example/d", "Avon", (Phrase(0, 4),))])


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "shadowprobe", "serve", *arguments]


@contextmanager
def served(cwd: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running service and its URL."""
    process = subprocess.Popen(command("--port", "0", *arguments), cwd=cwd, stderr=subprocess.PIPE, text=True)
    with killed_at_last(process):
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"Serving (\S+) on (\S+/nif); GERBIL: NIFWS_\1\(\2\)\n", line)
        assert found, line + process.stderr.read()
        yield process, found[2]


@contextmanager
def killed_at_last(process: subprocess.Popen[str]) -> Iterator[None]:
    """Leaves no process and no pipe behind, whatever becomes of a test."""
    with process:
        try:
            yield
        finally:
            process.kill()


def test_a_request_that_says_that_it_is_too_large_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    with served(tmp_path, "--linker", "prior", "--dataset", "world", "--max-body", "100") as (_, url):
        place = httpx.URL(url)
        with socket.create_connection((place.host, place.port or 80), timeout=20) as connection:
            connection.sendall(b"POST /nif HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_the_port_of_a_service_that_has_just_stopped_can_be_taken_at_once() -> None:
    with bind_port("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            # Closed by the service first, the connection lingers on its side.
            first.accept()[0].close()
            assert client.recv(1) == b""
    with bind_port("127.0.0.1", port) as second:
        assert second.getsockname()[1] == port


PATIENT = '''
import pathlib, time
from shadowprobe import Linker

class Patient(Linker):
    """Waits until it may answer, and writes down what happens to it."""

    def setup(self):
        pathlib.Path("opened").touch()
        print("This line is for nobody's program.")

    def link(self, snippets):
        pathlib.Path("asked").touch()
        while not pathlib.Path("go").exists():
            time.sleep(0.01)
        return [self.answer(snippet, "Avon (river)") for snippet in snippets]

    def close(self):
        pathlib.Path("closed").touch()
        self.note("it was a pleasure")
'''


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_service_answer_what_is_under_way_and_end_well(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "patient.py").write_text(PATIENT)
    write_world(tmp_path / "world")
    process = subprocess.Popen(
        command("--port", "0", "--linker", "patient.py:Patient", "--dataset", "world"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # A connection that nobody uses must not keep the service alive.
    with killed_at_last(process), ThreadPoolExecutor(1) as threads, httpx.Client() as idle:
        assert process.stderr is not None
        assert process.stderr.readline() == "This line is for nobody's program.\n"
        found = re.search(r"on (\S+/nif);", process.stderr.readline())
        assert found
        assert idle.get(found[1].removesuffix("nif")).status_code == 200
        answer = threads.submit(httpx.post, found[1], content=AVON, timeout=60)
        wait_for(tmp_path / "asked", process)
        process.send_signal(number)
        wait_until_refused(found[1], process)
        assert not (tmp_path / "closed").exists()
        (tmp_path / "go").touch()
        assert parse_one(answer.result().content).phrases == (
            Phrase(0, 4, ("http://dbpedia.org/resource/Avon_(river)",)),
        )
        stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert (stdout, stderr) == ("", "shadowprobe: note: it was a pleasure\n")
    assert (tmp_path / "closed").exists()


HASTY = """
from shadowprobe.gerbil import nif_service as serve
from shadowprobe.net import head_timeout
from shadowprobe.cli import main
serve.GRACE, serve.PARSE_TIMEOUT = 1, 3.0
head_timeout.HEAD_TIMEOUT, head_timeout.MOST_WAITING = 3.0, 20
main()
"""


@contextmanager
def hasty(cwd: Path, linker: str) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """A service that waits a second before it ends, and a connection to it on which a request is being sent."""
    arguments = ["serve", "--port", "0", "--linker", linker, "--dataset", "world"]
    process = subprocess.Popen([sys.executable, "-c", HASTY, *arguments], cwd=cwd, stderr=subprocess.PIPE, text=True)
    with killed_at_last(process):
        assert process.stderr is not None
        found = None
        while found is None:
            found = re.search(r"on http://([0-9.]+):([0-9]+)/nif;", process.stderr.readline())
            assert process.poll() is None
        with socket.create_connection((found[1], int(found[2])), timeout=60) as client:
            client.sendall(b"POST /nif HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n")
            client.sendall(f"Content-Length: {len(AVON.encode())}\r\n\r\n".encode())
            # Said when it begins to read.
            assert b"100 Continue" in client.recv(1000)
            yield process, client


def test_a_client_that_sends_no_more_does_not_keep_the_service_alive(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    with hasty(tmp_path, "prior") as (process, client):
        client.sendall(b"@pr")
        process.terminate()
        _, stderr = process.communicate(timeout=60)
        assert client.recv(1000).startswith(b"HTTP/1.1 503 ")
    assert process.returncode == 0, stderr
    assert "Traceback" not in stderr


def connect(client: socket.socket) -> socket.socket:
    """Another connection to where a first one leads."""
    return socket.create_connection(client.getpeername(), timeout=60)


def test_a_document_that_takes_minutes_to_parse_stops_neither_others_nor_the_end(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    prefixes = "".join(f"@prefix p{number}: <http://x.example/{number}#> .\n" for number in range(30_000)).encode()
    head = b"POST /nif HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(prefixes)
    with hasty(tmp_path, "prior") as (process, client), connect(client) as first:
        url = "http://{}:{}/nif".format(*client.getpeername())
        first.sendall(head + prefixes)
        assert httpx.post(url, content=AVON, timeout=60).status_code == 200
        assert b"cannot be read in 3 s" in first.makefile("rb").read()
        with connect(client) as second:
            second.sendall(head + prefixes)
            # It is being parsed once the next request has been answered.
            assert httpx.post(url, content=AVON, timeout=60).status_code == 200
            process.terminate()
            _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "Traceback" not in stderr


def test_a_head_that_does_not_end_is_not_waited_for(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    with hasty(tmp_path, "prior") as (_, client), connect(client) as late, connect(client) as kept:
        late.sendall(b"POST /nif HTTP/1.1\r\nX-Half: ")
        kept.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert kept.recv(1000).startswith(b"HTTP/1.1 200 ")
        # The head of the second request on a connection has its time limit as well.
        kept.sendall(b"GET /health HTTP/1.1\r\nX-Half: ")
        for half in (late, kept):
            received = b""
            while part := half.recv(1000):
                received += part
            # The body of the first response may arrive with it.
            assert received.count(b"HTTP/1.1 408 ") == 1, received


def test_many_heads_that_do_not_end_leave_room_for_others(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    with hasty(tmp_path, "prior") as (_, client), ExitStack() as opened:
        heads = [opened.enter_context(connect(client)) for _ in range(21)]
        for half in heads:
            half.sendall(b"POST /nif HTTP/1.1\r\n")
        # Twenty may wait: the first of them gave way to the last.
        assert heads[0].recv(1000).startswith(b"HTTP/1.1 408 ")
        heads[20].sendall(b"Host: x\r\nContent-Length: %d\r\n\r\n%s" % (len(AVON.encode()), AVON.encode()))
        assert heads[20].recv(1000).startswith(b"HTTP/1.1 200 ")


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert process.poll() is None
        threading.Event().wait(0.01)


def wait_until_refused(url: str, process: subprocess.Popen[str]) -> None:
    """Waits until a service that stops takes no new connection."""
    while True:
        assert process.poll() is None
        try:
            httpx.get(url)
        except httpx.TransportError:
            return
        threading.Event().wait(0.01)


def test_a_port_in_use_is_one_line_and_the_linker_is_not_even_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "patient.py").write_text(PATIENT)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write_world(tmp_path / "world")
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = complaint(capsys, "serve", "--linker", "patient.py:Patient", "--dataset", "world", "--port", port)
    assert said == f"127.0.0.1, port {port}: Address already in use; choose another with --port"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--linker", "oracle"), "`oracle` needs the gold entities of a dataset, and cannot be served"),
        (("--linker", "nif"), "`nif` needs the URL of its service: add -o url=http://HOST:PORT/PATH"),
        (("--linker", "prior", "--host", "256.0.0.1"), "--host 256.0.0.1: "),
        (("--linker", "prior", "--port", "65536"), "Invalid value for '--port'"),
        (("--linker", "broken.py:Broken"), "linker `Broken` failed to start: KeyError: 'model'"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / "broken.py").write_text(
        "from shadowprobe import Linker\nclass Broken(Linker):\n    def setup(self):\n        raise KeyError('model')\n"
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write_world(tmp_path / "world")
    monkeypatch.chdir(tmp_path)
    assert message in complaint(capsys, "serve", "--dataset", "world", "--port", "0", *arguments)


@pytest.mark.parametrize("missing", ["starlette.applications", "uvicorn"])
def test_without_its_extra_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.chdir(tmp_path)
    said = complaint(capsys, "serve", "--linker", "prior", "--port", "0")
    assert said == "`serve` needs its extra: pip install 'shadowprobe[serve]'"


def test_the_command_line_loads_neither_the_server_nor_rdf_before_it_serves() -> None:
    modules = "shadowprobe.gerbil.nif_service, shadowprobe.cli, sys"
    loaded = f"import {modules}; print({{'starlette', 'uvicorn', 'rdflib'}} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_the_largest_request_is_set_by_an_option(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    size = len(AVON.encode())
    with served(tmp_path, "--linker", "prior", "--dataset", "world", "--max-body", str(size)) as (_, url):
        assert httpx.post(url, content=AVON).status_code == 200
        assert httpx.post(url, content=iter([AVON.encode(), b" "])).status_code == 413
        assert httpx.post(url, content=f"{AVON} ").text == f"the document is larger than {size} bytes\n"


def test_a_line_for_each_request_is_written_only_where_asked_for(tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    for arguments, lines in (((), 0), (("--verbose",), 2)):
        with served(tmp_path, "--linker", "prior", "--dataset", "world", *arguments) as (process, url):
            httpx.post(url, content=b"rubbish")
            httpx.get(url.replace("/nif", "/health"))
            process.terminate()
            _, stderr = process.communicate()
        assert len(stderr.splitlines()) == lines
        assert process.returncode == 0
    assert '"POST /nif HTTP/1.1" 400' in stderr
    assert '"GET /health HTTP/1.1" 200' in stderr


TITLES = {
    "Heroes": ('"Heroes" (album)', "Heroes (band)"),
    "Hundred": ("100% (song)", "50% & more"),
    "Züri": ("Zürich", "Who's afraid of Zürich?"),
    "Slash": ("AC/DC", "+44 (band)"),
    "Wide": ("\N{CLAPPER BOARD} (film)", "What + why = how; or (a, b)!"),
    "Sharp": ("F\N{MUSIC SHARP SIGN} (note)", "~*'$@:"),
}


def hard_titles(path: Path) -> Dataset:
    """Titles with what a URI must encode, names with what Turtle must; the shadow entity is gold in half of them."""
    snippets: dict[str, list[Snippet]] = {"top": [], "shadow": [], "neutral": []}
    for name, (first, second) in TITLES.items():
        text = f'\N{CLAPPER BOARD} "\\{name}"\r\n\tcame, and {name} went.'
        snippets["top"].append(snippet(f"t{name}", "top", text, name, space=name, gold=first))
        snippets["shadow"].append(snippet(f"s{name}", "shadow", f"{name}", name, space=name, gold=second))
        snippets["neutral"].append(snippet(f"n{name}", "neutral", f"So: {name}", name, space=name, template=1))
    return write_dataset(
        path,
        Card(name="hard"),
        [Entity(title, commonness=9 - place) for titles in TITLES.values() for place, title in enumerate(titles)],
        [EntitySpace(name, titles) for name, titles in TITLES.items()],
        snippets,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("linker", "make"), [("prior", hard_titles), ("random", hard_titles), ("blend", write_world)])
def test_a_run_over_a_served_linker_gives_the_results_of_the_linker_itself(
    tmp_path: Path, linker: str, make: Callable[[Path], Dataset]
) -> None:
    dataset = make(tmp_path / "dataset")
    direct = make_linking_job(linker, dataset, out=tmp_path / "direct").run()
    with served(tmp_path, "--linker", linker, "--dataset", "dataset", "--confidence") as (_, url):
        over = make_linking_job("nif", dataset, options={"url": url}, out=tmp_path / "over").run()

    def answers(out: Path) -> list[tuple[object, ...]]:
        stored = (one for _, one in read_lines(out / "predictions.jsonl", Prediction))
        # Those of a service are stored as they arrive.
        return sorted((one.id, one.status, one.entity, one.score) for one in stored)

    assert answers(over.out) == answers(direct.out)
    for part in ("subsets", "missing"):
        assert over.results[part] == direct.results[part]
    for probe in ("overshadowing", "prior"):
        assert over.results["probes"][probe] == direct.results["probes"][probe]
    assert over.outcome is not None
    assert over.outcome.failed == 0
    # Every URI was led back to the title that it was made of.
    assert Answers(dataset).read(over.out / "predictions.jsonl").rules["unresolved"] == 0


def test_nil_comes_back_as_nil_through_the_service_and_an_unknown_name_as_skipped(tmp_path: Path) -> None:
    dataset = write_world(tmp_path / "world")
    stranger = snippet("x", "all", "Nobody knows Zzyzx.", "Zzyzx")
    found = []
    for linker in ("nil", "prior"):
        with served(tmp_path, "--linker", linker, "--dataset", "world") as (_, url):
            found += answers_of(make_linker("nif", {"url": url}), dataset.knowledge, stranger)
    assert found == [Prediction("x", status="nil"), Prediction("x", status="skipped")]
