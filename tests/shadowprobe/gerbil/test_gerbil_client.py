"""What GERBIL refuses, answers wrongly or is not there to answer, as a user meets it."""

from __future__ import annotations

import gzip
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from gerbil_server import Running
from gerbil_world import command, dbpedia, micro, refusal, rows, small_gerbil
from nif_app import parse_one
from refusals import outcome
from service import Asked, Reply, serving
from world import top

from shadowprobe.formats import nif_documents as nif
from shadowprobe.gerbil.gerbil_client import Instance

Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    with small_gerbil(tmp_path, monkeypatch) as found:
        yield found


def river_service(_: int, asked: Asked) -> Reply:
    """A NIF service for which every name is a river."""
    document = parse_one(asked.body)
    phrases = [
        phrase._replace(uris=(dbpedia(top(document.text[phrase.start : phrase.end])),)) for phrase in document.phrases
    ]
    return 200, {"Content-Type": nif.CONTENT_TYPE}, nif.to_turtle([document._replace(phrases=tuple(phrases))]).encode()


@pytest.mark.parametrize("name", ["", "My-test="])
def test_a_nif_service_is_tested_and_then_asked(running: Running, capsys: Capsys, name: str) -> None:
    with serving(river_service) as service:
        code, out, err = outcome(capsys, *command(running, f"{name}{service.url}", "--json"))
    assert code == 0, out + err
    assert len(running.asked("testNifWs")) == 1
    found = rows(out)
    assert micro(found["top"]) == (1.0, 1.0, 1.0)
    assert micro(found["shadow"]) == (0.0, 0.0, 0.0)
    assert json.loads(out)["annotators"][0]["url"] == service.url
    assert found["top"]["annotator"] == ("Mytest" if name else re.sub("[.:/]", "", service.url.removeprefix("http://")))


def test_a_nif_service_that_gerbil_cannot_use_is_refused_before_anything_goes_up(
    running: Running, capsys: Capsys
) -> None:
    with serving(lambda *_: (500, {}, b"")) as service:
        line = refusal(capsys, *command(running, service.url))
    assert line.startswith(f"{running.url} cannot use the NIF service {service.url}: Server error '500")
    assert running.gerbil.uploads == {}


def test_an_unknown_annotator_is_refused_with_the_nearest_name(running: Running, capsys: Capsys) -> None:
    assert refusal(capsys, *command(running, "AGDISTIS")) == (
        f"{running.url} has no annotator `AGDISTIS` for D2KB (did you mean `AGDISTIS/MAG`?)"
    )
    assert refusal(capsys, *command(running, "xyzzy")) == (
        f"{running.url} has no annotator `xyzzy` for D2KB; there are AGDISTIS/MAG, AIDA, Broken, REL"
    )
    assert running.gerbil.uploads == {}
    assert not Path("runs").exists()


def test_a_refused_upload_is_one_line_and_starts_nothing(running: Running, capsys: Capsys) -> None:
    def refusing(number: int, asked: Asked) -> Reply:
        if asked.path.endswith("/upload"):
            spoilt = asked.body.replace(b"nif:isString", b"nif:isString <")
            return running.gerbil(number, asked._replace(body=spoilt))
        return running.gerbil(number, asked)

    running.service.behaviour = refusing
    line = refusal(capsys, *command(running))
    assert line.startswith(f"{running.url} refuses the upload of world_top_")
    assert running.asked("execute") == []


def test_documents_that_gerbil_did_not_read_are_told(running: Running, capsys: Capsys) -> None:
    def forgetful(number: int, asked: Asked) -> Reply:
        status, _, body = running.gerbil(number, asked)
        return status, {}, body.replace(b"Found 4 Instances", b"Found 3 Instances")

    running.service.behaviour = forgetful
    _, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--subset", "top", "--json"))
    (note,) = json.loads(out)["notes"]
    assert note.startswith("GERBIL read 3 documents of the 4 in world_top_")


def test_a_page_in_place_of_the_list_of_annotators_tells_of_a_wrong_address(running: Running, capsys: Capsys) -> None:
    wrong = running.url.removesuffix("/gerbil")
    line = refusal(capsys, "gerbil", "run", "-a", "AIDA", "-d", "world", "--url", wrong)
    assert line.startswith(f"{wrong} does not answer as GERBIL does (404 Not Found, '<!DOCTYPE html><html><h1>HTTP ")
    assert line.endswith("give the address that stands before `/config`, such as http://gerbil.aksw.org/gerbil")
    running.service.behaviour = lambda *_: (200, {}, b"<html>Welcome</html>")
    assert "(200 OK, '<html>Welcome</html>')" in refusal(capsys, *command(running))


def test_a_dead_instance_is_one_line_at_once(running: Running, capsys: Capsys) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/gerbil"
        line = refusal(capsys, "gerbil", "run", "-a", "AIDA", "-d", "world", "--url", url)
    assert line.startswith(f"{url}/annotators: no connection (")
    assert line.endswith("; does GERBIL run there? --url names another address")


@pytest.mark.parametrize("rest", ["?token=hush", "#hush", "/?token=hush#x"])
def test_an_address_with_more_behind_its_path_is_refused_in_one_line(
    running: Running, capsys: Capsys, rest: str
) -> None:
    for words in (("run", "-a", "AIDA", "-d", "world"), ("show", "202111070000")):
        line = refusal(capsys, "gerbil", *words, "--url", running.url + rest)
        mark = "#" if rest.startswith("#") else "?"
        before = running.url + rest.partition(mark)[0]
        assert line == f"--url {before}{mark}...: give the address without `{mark}` and what follows it"
    assert running.service.requests == []


@pytest.mark.parametrize("path", ["annotators", "file/upload", "execute", "experiment"])
def test_no_request_waits_beyond_the_time_limit(running: Running, capsys: Capsys, path: str) -> None:
    over = threading.Event()

    def hanging(number: int, asked: Asked) -> Reply:
        if asked.path.endswith(path):
            # Whoever waits so long gets an answer.
            over.wait(15)
        return running.gerbil(number, asked)

    running.service.behaviour = hanging
    try:
        code, _, err = outcome(capsys, *command(running, "AIDA", "--timeout", "1"))
    finally:
        over.set()
    assert code == 2
    problem = "has no result after 1 s" if path == "experiment" else "took too long to answer: --timeout SECONDS gives"
    assert problem in err.splitlines()[-1]
    if path == "experiment":
        assert len(running.asked(path)) <= 2


def test_an_answer_that_comes_drop_by_drop_is_given_up_in_time_too(running: Running, capsys: Capsys) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            # Whoever waits so long gets all of it.
            for _ in range(100):
                connection.sendall(b" ")
                time.sleep(0.1)

    threading.Thread(target=drip, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/gerbil"
    started = time.monotonic()
    line = refusal(capsys, "gerbil", "run", "-a", "AIDA", "-d", "world", "--url", url, "--timeout", "1")
    listener.close()
    assert line.startswith(f"{url}/annotators took too long to answer: --timeout SECONDS gives it longer")
    assert time.monotonic() - started < 8


def test_an_answer_without_end_is_given_up(running: Running, capsys: Capsys) -> None:
    running.service.behaviour = lambda *_: (200, {}, b" " * (32 * 2**20 + 1))
    line = refusal(capsys, *command(running))
    assert line == f"{running.url}/annotators: too large (more than 32 MB)"


def test_a_packed_answer_is_unpacked(running: Running, capsys: Capsys) -> None:
    def packing(number: int, asked: Asked) -> Reply:
        status, headers, body = running.gerbil(number, asked)
        return status, headers | {"Content-Encoding": "gzip"}, gzip.compress(body)

    running.service.behaviour = packing
    assert outcome(capsys, *command(running))[0] == 0


def test_a_password_in_the_address_reaches_no_message_and_no_file(running: Running, capsys: Capsys) -> None:
    with_password = running.url.replace("http://", "http://me:hush@")
    options = ["-a", "AIDA", "-d", "world", "--url", with_password]
    code, out, err = outcome(capsys, "gerbil", "run", *options, "--json")
    assert code == 0
    assert running.service.requests[0].headers["authorization"].startswith("Basic ")
    assert "hush" not in out + err + Path("runs/gerbil-AIDA-world/gerbil.json").read_text()


def test_tasks_that_gerbil_did_not_start_are_listed_as_such(running: Running, capsys: Capsys) -> None:
    def forgets_one(number: int, asked: Asked) -> Reply:
        if asked.path.endswith("/execute"):
            wanted = json.loads(asked.query["experimentData"])
            wanted["dataset"][0] = "unheard of"
            return running.gerbil(number, asked._replace(query={"experimentData": json.dumps(wanted)}))
        return running.gerbil(number, asked)

    running.service.behaviour = forgets_one
    code, out, _ = outcome(capsys, *command(running, "AGDISTIS/MAG", "--json"))
    assert code == 1
    found = rows(out)
    assert (found["top"]["status"], found["top"]["status_words"]) == (None, "not started by GERBIL")
    assert micro(found["tail"]) == (1.0, 1.0, 1.0)
    assert json.loads(out)["notes"][0].startswith("GERBIL complained: Encountered errors while trying to start")


def test_an_experiment_that_gerbil_will_not_start_is_one_line(running: Running, capsys: Capsys) -> None:
    def forgets_all(number: int, asked: Asked) -> Reply:
        if asked.path.endswith("/execute"):
            running.gerbil.annotators.clear()
        return running.gerbil(number, asked)

    running.service.behaviour = forgets_all
    line = refusal(capsys, *command(running))
    assert line.startswith(f"{running.url} does not start the experiment: Encountered errors while trying")
    assert "Faulty configurations encountered" in line


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((200, {}, b""), "does not start the experiment: it seems to have no D2KB"),
        ((200, {}, b"<html>Log in</html>"), "/execute does not answer as GERBIL does: 200 OK, '<html>Log in</html>'"),
        ((500, {}, b""), "/execute: 500 Internal Server Error; if it has started all the same,"),
    ],
)
def test_an_answer_without_an_id_is_one_line(running: Running, capsys: Capsys, reply: Reply, words: str) -> None:
    running.service.behaviour = lambda number, asked: (
        reply if asked.path.endswith("/execute") else running.gerbil(number, asked)
    )
    assert words in refusal(capsys, *command(running))
    assert len(running.asked("execute")) == 1


@pytest.mark.parametrize(
    "reply",
    [
        (200, {"Content-Type": "application/json"}, b"[" * 100_000),
        (200, {"Content-Type": "application/json"}, b'{"files": [{"description": ' + b"9" * 6000 + b"}]}"),
        (200, {"Content-Type": "application/json; charset=undefined"}, b"\xff"),
        (200, {"Content-Type": "application/json; charset=bz2_codec"}, b"\xff"),
        (200, {"Content-Type": "application/json; charset=idna"}, b"\xff"),
    ],
)
@pytest.mark.parametrize("path", ["annotators", "file/upload", "execute", "experiment"])
def test_a_reply_that_cannot_be_decoded_is_one_line(running: Running, capsys: Capsys, reply: Reply, path: str) -> None:
    running.service.behaviour = lambda number, asked: (
        reply if asked.path.endswith(path) else running.gerbil(number, asked)
    )
    code, _, err = outcome(capsys, *command(running))
    assert code == 2
    assert "GERBIL" in err.splitlines()[-1]
    assert len(err) < 500


def test_a_count_of_documents_with_thousands_of_digits_is_not_read_as_a_whole(running: Running) -> None:
    files = {"files": [{"name": "x.ttl", "description": f"Found {'9' * 6000} Instances"}]}
    running.service.behaviour = lambda *_: (200, {}, json.dumps(files).encode())
    assert Instance(running.url).upload("x.ttl", "") == 10**18 - 1


def test_nothing_is_requested_outside_of_the_instance(running: Running, capsys: Capsys) -> None:
    with serving(lambda *_: (200, {}, b'["AGDISTIS/MAG"]')) as other:
        running.service.behaviour = lambda *_: (302, {"Location": other.url}, b"")
        line = refusal(capsys, *command(running))
    assert line == f"{running.url}/annotators: redirects to {other.url}, another server: give its address with --url"
    assert other.requests == []


def test_the_help_of_the_command_imports_no_library_that_it_does_not_need() -> None:
    script = (
        "import sys, contextlib, io\n"
        "from shadowprobe.cli import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['gerbil', 'run', '--help'])\n"
        "print([name for name in ('rdflib', 'httpx', 'aiohttp', 'numpy', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
