"""The ShadowLink release fetched into the cache, from a real HTTP server on loopback."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import pytest
from service import serving

from shadowprobe.catalogue import datasets as catalogue
from shadowprobe.catalogue import download
from shadowprobe.cli import main
from shadowprobe.errors import DownloadError, InputError, UsageError

FILES = {
    "Top.json": [
        {"entity_space_name": "Ree", "wiki_id": 1, "entity_name": "Lough Ree", "example": "On Ree.", "span": [3, 3]}
    ],
    "Shadow.json": [
        {"entity_space_name": "Ree", "wiki_id": 2, "entity_name": "Ree (film)", "example": "See Ree.", "span": [4, 3]}
    ],
    "Tail.json": [{"wiki_id": 3, "entity_name": "PandaDoc", "example": "PandaDoc.", "span": [0, 8]}],
    "Neutral.json": [{"entity_space": "Ree", "neutral_examples": ["I see Ree"]}],
}
CONTENT = {name: json.dumps(rows, indent=4).encode() for name, rows in FILES.items()}
ORDER = ["Top.json", "Shadow.json", "Tail.json", "Neutral.json"]
# Where a broken answer ends.
HALF = 40

Behaviour = Literal["break", "ignore range", "redirect", "html", "empty list", "refuse range", "wrong half"] | int


class Server(ThreadingHTTPServer):
    """Serves the four files; each request to a path first uses up the behaviours listed for it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str | None]] = []
        self.behaviours: dict[str, list[Behaviour]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def asked(self) -> list[str]:
        return [path for path, _ in self.requests]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        path, asked = self.path.lstrip("/"), self.headers["Range"]
        self.server.requests.append((path, asked))
        assert self.headers["Accept-Encoding"] == "identity"
        queue = self.server.behaviours.get(path, [])
        how = queue.pop(0) if queue else None
        if isinstance(how, int):
            self.answer(how, b"sorry")
        elif how == "redirect":
            self.answer(302, b"", location=f"/moved/{path}")
        elif how == "html":
            self.answer(200, b"<html>Log in to this network</html>")
        elif how == "empty list":
            self.answer(200, b"[]")
        elif how == "refuse range":
            self.answer(416, b"")
        else:
            content = CONTENT[Path(path).name]
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and how != "ignore range" else 0
            body = content[start:] if how != "wrong half" else content[start:].upper()
            self.answer(206 if start else 200, body, sent=HALF if how == "break" else None)

    def answer(self, status: int, body: bytes, sent: int | None = None, location: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if location is not None:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body[:sent])


class Recorder:
    """A watcher who remembers."""

    def __init__(self) -> None:
        self.bytes: dict[str, list[tuple[int, int | None]]] = {}
        self.warnings: list[str] = []

    def progress(self, name: str, done: int, total: int | None) -> None:
        self.bytes.setdefault(name, []).append((done, total))

    def warn(self, sentence: str) -> None:
        self.warnings.append(sentence)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("SHADOWPROBE_SHADOWLINK_URL", server.url)
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "cache"))
    # The small files stand in for the release.
    for name, content in CONTENT.items():
        monkeypatch.setitem(download.SHA256, name, hashlib.sha256(content).hexdigest())
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def closed_port(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address at which nobody listens."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        url = f"http://127.0.0.1:{other.server_port}"
    monkeypatch.setenv("SHADOWPROBE_SHADOWLINK_URL", url)
    return url


def fetch(tmp_path: Path, watcher: Recorder | None = None) -> Path:
    return download.shadowlink_directory(tmp_path / "cache", watcher)


def downloaded(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "downloads" / "shadowlink"


def test_the_release_is_downloaded_and_read_once(server: Server) -> None:
    first = catalogue.open_dataset("shadowlink")
    assert server.requests == [(name, None) for name in ORDER]
    assert {subset: first.count(subset) for subset in first.subsets} == {
        "top": 1,
        "shadow": 1,
        "tail": 1,
        "neutral": 1,
    }
    second = catalogue.open_dataset("shadowlink")
    assert len(server.requests) == 4
    assert second.digest == first.digest


def test_a_cache_that_holds_the_dataset_is_not_written_to(server: Server, tmp_path: Path) -> None:
    fetch(tmp_path)
    shutil.rmtree(tmp_path / "cache" / "downloads")
    fetch(tmp_path)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["datasets"]


def test_every_byte_that_arrives_is_reported_and_a_right_digest_warns_of_nothing(
    server: Server, tmp_path: Path
) -> None:
    watcher = Recorder()
    fetch(tmp_path, watcher)
    assert {name: calls[-1] for name, calls in watcher.bytes.items()} == {
        name: (len(content), len(content)) for name, content in CONTENT.items()
    }
    assert watcher.warnings == []
    fetch(tmp_path, again := Recorder())
    assert again.bytes == {}


def test_nothing_is_written_outside_the_cache(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("home", "work"):
        (tmp_path / place).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    catalogue.open_dataset("shadowlink")
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path for path in found if not path.startswith("cache/datasets/shadowlink-")} == {
        "cache/downloads/shadowlink/.lock",
        *(f"cache/downloads/shadowlink/{name}" for name in ORDER),
    }


def test_a_download_that_broke_off_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.behaviours["Shadow.json"] = ["break"]
    watcher = Recorder()
    fetch(tmp_path, watcher)
    assert server.requests[1:3] == [("Shadow.json", None), ("Shadow.json", f"bytes={HALF}-")]
    assert (downloaded(tmp_path) / "Shadow.json").read_bytes() == CONTENT["Shadow.json"]
    size = len(CONTENT["Shadow.json"])
    assert (HALF, size) in watcher.bytes["Shadow.json"]
    assert watcher.bytes["Shadow.json"][-1] == (size, size)
    assert watcher.warnings == []


def test_what_three_tries_could_not_finish_a_later_command_does(server: Server, tmp_path: Path) -> None:
    server.behaviours["Top.json"] = ["break", "break", "break"]
    with pytest.raises(DownloadError, match=r"Top\.json: broke off 3 times"):
        fetch(tmp_path)
    assert server.requests == [("Top.json", None), ("Top.json", "bytes=40-"), ("Top.json", "bytes=80-")]
    assert (downloaded(tmp_path) / "Top.json.part").read_bytes() == CONTENT["Top.json"][:120]
    assert not (downloaded(tmp_path) / "Top.json").exists()
    fetch(tmp_path)
    assert server.requests[3] == ("Top.json", "bytes=120-")
    assert (downloaded(tmp_path) / "Top.json").read_bytes() == CONTENT["Top.json"]
    assert not (downloaded(tmp_path) / "Top.json.part").exists()


@pytest.mark.parametrize(
    ("second", "requests"),
    [("ignore range", 2), ("refuse range", 3), ("wrong half", 3)],
)
def test_a_rest_that_cannot_be_had_or_does_not_fit_makes_the_file_be_fetched_whole(
    server: Server, tmp_path: Path, second: Behaviour, requests: int
) -> None:
    server.behaviours["Top.json"] = ["break", second]
    watcher = Recorder()
    fetch(tmp_path, watcher)
    ranges = [asked for path, asked in server.requests if path == "Top.json"]
    assert ranges == [None, f"bytes={HALF}-", None][:requests]
    assert (downloaded(tmp_path) / "Top.json").read_bytes() == CONTENT["Top.json"]
    assert watcher.bytes["Top.json"][-1] == (len(CONTENT["Top.json"]), len(CONTENT["Top.json"]))
    assert watcher.warnings == []


def test_redirects_are_followed(server: Server, tmp_path: Path) -> None:
    server.behaviours["Top.json"] = ["redirect"]
    fetch(tmp_path)
    assert server.asked == ["Top.json", "moved/Top.json", "Shadow.json", "Tail.json", "Neutral.json"]


@pytest.mark.parametrize(("status", "words"), [(404, "404 Not Found"), (500, "500 Internal Server Error")])
def test_a_refused_file_is_named_with_the_reason_and_fetched_by_the_next_command(
    server: Server, tmp_path: Path, status: int, words: str
) -> None:
    server.behaviours["Tail.json"] = [status]
    with pytest.raises(DownloadError, match=rf"{server.url}/Tail\.json: {words}"):
        fetch(tmp_path)
    fetch(tmp_path)
    # What had arrived was not asked for again.
    assert server.asked == ["Top.json", "Shadow.json", "Tail.json", "Tail.json", "Neutral.json"]


def test_the_second_source_is_asked_for_what_the_first_lacks(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHADOWPROBE_SHADOWLINK_URL")
    monkeypatch.setattr(download, "SOURCES", (f"{server.url}/first", f"{server.url}/second"))
    server.behaviours["first/Shadow.json"] = [404]
    fetch(tmp_path)
    assert server.asked == [
        "first/Top.json",
        "first/Shadow.json",
        "second/Shadow.json",
        "first/Tail.json",
        "first/Neutral.json",
    ]


def test_another_digest_is_a_warning_that_names_both_and_the_file_is_used(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(download.SHA256, "Top.json", "0" * 64)
    watcher = Recorder()
    dataset = fetch(tmp_path, watcher)
    (warning,) = watcher.warnings
    assert warning.startswith("Top.json has SHA-256 ")
    assert hashlib.sha256(CONTENT["Top.json"]).hexdigest() in warning
    assert "0" * 64 in warning
    assert (dataset / "dataset.json").exists()


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [("html", r"Top\.json.*: not valid JSON"), ("empty list", "has no mention that can be imported")],
)
def test_what_is_no_release_is_refused_and_fetched_again_by_the_next_command(
    server: Server, tmp_path: Path, behaviour: Behaviour, message: str
) -> None:
    server.behaviours = {name: [behaviour] for name in ORDER}
    with pytest.raises(InputError, match=message):
        catalogue.open_dataset("shadowlink")
    assert catalogue.open_dataset("shadowlink").count() == 4
    assert server.asked == [*ORDER, *ORDER]


def test_a_new_reader_reads_the_downloaded_files_anew(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fetch(tmp_path)
    monkeypatch.setattr(download, "READER", download.READER + 1)
    new = fetch(tmp_path)
    assert new != old
    assert (new / "dataset.json").exists()
    assert len(server.requests) == 4


def test_of_several_that_start_at_once_one_downloads_and_the_others_wait(server: Server, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: fetch(tmp_path), range(4)))
    assert len(found) == 1
    assert server.asked == ORDER


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["run", "-l", "oracle", "-d", "shadowlink", *arguments])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def test_without_a_network_one_line_says_what_to_do(
    closed_port: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"shadowprobe: the ShadowLink release could not be downloaded ({closed_port}/Top.json:")
    assert "no connection" in line
    assert "shadowprobe import shadowlink DIR --out OUT, then --dataset OUT" in line
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("url", ["mirror", "ftp://127.0.0.1/files", "http://127.0.0.1:port"])
def test_an_address_that_cannot_be_is_said_in_one_line(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHADOWPROBE_SHADOWLINK_URL", url)
    code, _, err = run(capsys)
    assert code == 2
    (line,) = err.splitlines()
    assert f"({url}/Top.json: " in line
    assert "broke off" not in line


def test_the_command_runs_on_what_it_downloads_and_warns_on_stderr(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(download.SHA256, "Tail.json", "0" * 64)
    code, out, err = run(capsys, "--out", str(tmp_path / "run"), "--json")
    assert code == 0
    assert {name: found["f1"] for name, found in json.loads(out)["subsets"].items()} == {
        "top": 1.0,
        "shadow": 1.0,
        "tail": 1.0,
    }
    assert err.startswith("shadowprobe: warning: Tail.json has SHA-256 ")


def test_a_terminal_shows_a_bar_for_each_file_and_a_pipe_none(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Top.json" not in run(capsys, "--out", str(tmp_path / "piped"))[2]
    # rich takes a stream for a terminal where this is set.
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "another"))
    shown = run(capsys, "--out", str(tmp_path / "shown"))[2]
    for name in ORDER:
        assert re.search(rf"{re.escape(name)} .*?(\d+)/\1\b", shown)


def test_a_cache_that_is_a_file_is_refused(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a directory", encoding="utf-8")
    with pytest.raises(UsageError, match=r"cannot write to|is a file"):
        fetch(tmp_path)
    assert server.requests == []


def test_a_compression_that_was_not_requested_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(CONTENT["Top.json"])
    with serving(lambda *_: (200, {"Content-Encoding": "gzip"}, packed)) as service:
        url = f"{service.url}/Top.json"
        with pytest.raises(DownloadError) as refused:
            download._download(url, tmp_path / "Top.json", download.Silent())
    assert str(refused.value) == f"{url}: a compression that was not requested (gzip)"
    assert len(service.requests) == 1


def test_a_password_in_the_address_is_not_shown(tmp_path: Path) -> None:
    with serving(lambda *_: (403, {}, b"")) as service:
        url = f"{service.url}/Top.json"
        with pytest.raises(DownloadError) as refused:
            download._download(url.replace("//", "//me:s3cret@"), tmp_path / "Top.json", download.Silent())
    assert str(refused.value) == f"{url}: 403 Forbidden"
