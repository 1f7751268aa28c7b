"""Parts of files on a server that are read like a file here."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from capture_world import serving_files
from service import serving

from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.parts_of_files import RemoteFile, open_remote_file

CONTENT = bytes(range(256)) * 100


@pytest.fixture
def client() -> Iterator[BlockingClient]:
    with closing(BlockingClient()) as made:
        yield made


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shadowprobe.net.parts_of_files.FIRST_PAUSE", 0.01)


def test_a_file_on_a_server_is_read_from_any_place(client: BlockingClient, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with serving_files(tmp_path) as served, open_remote_file(client, f"{served.url}/file") as file:
        assert file.read(4) == CONTENT[:4]
        assert file.seek(-10, io.SEEK_END) == len(CONTENT) - 10
        assert file.read() == CONTENT[-10:]
        file.seek(500)
        assert file.read(300) == CONTENT[500:800]
        # One for the size, and one for each place.
        assert len(served.requests) == 4


def test_threads_do_not_move_each_other(client: BlockingClient, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with serving_files(tmp_path) as served, ThreadPoolExecutor(4) as threads:
        file = RemoteFile(client, f"{served.url}/file")

        def read(place: int) -> bytes:
            file.seek(place)
            return file.read(7) or b""

        places = range(0, 2000, 37)
        assert list(threads.map(read, places)) == [CONTENT[place : place + 7] for place in places]


@pytest.mark.parametrize(
    ("parts", "status", "why"), [(False, 0, "no parts of files"), (True, 403, "403"), (True, 503, "503")]
)
def test_a_server_that_does_not_send_parts_is_an_error_of_the_file(
    client: BlockingClient, tmp_path: Path, parts: bool, status: int, why: str
) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with serving_files(tmp_path, parts=parts, status=status) as served:
        with pytest.raises(OSError, match=why):
            RemoteFile(client, f"{served.url}/file")
        assert len(served.requests) == (3 if status == 503 else 1)


def test_an_answer_with_more_bytes_than_were_asked_for_is_not_asked_for_again(client: BlockingClient) -> None:
    with serving(lambda *_: (206, {"Content-Range": "bytes 0-0/10"}, b"x" * 10)) as served:
        with pytest.raises(OSError, match="too large"):
            RemoteFile(client, served.url)
        assert len(served.requests) == 1


def test_no_byte_of_a_part_is_wanted_that_the_file_does_not_have(client: BlockingClient, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with serving_files(tmp_path) as served:
        file = RemoteFile(client, f"{served.url}/file")
        file.seek(len(CONTENT) - 3)
        assert (file.read(9), file.tell(), file.read(9)) == (CONTENT[-3:], len(CONTENT), b"")
        # The first byte tells the size of the file.
        wanted = [request.headers["range"] for request in served.requests]
        assert wanted == ["bytes=0-0", f"bytes={len(CONTENT) - 3}-{len(CONTENT) - 1}"]
    assert file.seek(-1) == 0


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_status_that_may_pass_is_tried_three_times(client: BlockingClient, tmp_path: Path, status: int) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with serving_files(tmp_path, status=status) as served:
        with pytest.raises(OSError, match=str(status)):
            RemoteFile(client, f"{served.url}/file")
        assert len(served.requests) == 3


@pytest.mark.parametrize("status", [400, 404, 409, 426, 430, 501, 505])
def test_any_other_status_is_final(client: BlockingClient, tmp_path: Path, status: int) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with serving_files(tmp_path, status=status) as served:
        with pytest.raises(OSError, match=str(status)):
            RemoteFile(client, f"{served.url}/file")
        assert len(served.requests) == 1


def test_places_are_counted_from_the_start_the_end_or_the_place_before(client: BlockingClient, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with serving_files(tmp_path) as served:
        file = RemoteFile(client, f"{served.url}/file")
        assert (file.size, file.tell(), file.readable(), file.seekable()) == (25_600, 0, True, True)
        assert file.seek(100) == 100
        assert file.seek(5, io.SEEK_CUR) == 105
        assert file.read(3) == CONTENT[105:108]
        assert file.tell() == 108
        # There is nothing before the start, and nothing after the end.
        assert file.seek(-200, io.SEEK_CUR) == 0
        assert file.seek(0, io.SEEK_END) == 25_600
        assert file.read(3) == b""
        file.seek(-1, io.SEEK_END)
        assert file.read(3) == CONTENT[-1:]
        before = len(served.requests)
        file.seek(7, io.SEEK_END)
        assert file.read(3) == b""
        assert len(served.requests) == before
