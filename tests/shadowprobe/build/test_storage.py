"""Where the pages of a build are: the option, and the note beside the archive."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shadowprobe.build import storage
from shadowprobe.build.storage import NOTE, find_storage, is_remote, note_storage, parse_storage
from shadowprobe.errors import BuildError, UsageError


@pytest.mark.parametrize(
    ("text", "remote"),
    [("s3://bucket/pages", True), ("ftp://host/pages", True), ("/shared/pages", False), ("file:///shared", False)],
)
def test_only_a_url_that_is_no_file_is_remote(text: str, remote: bool) -> None:
    assert is_remote(text) is remote


def test_paths_are_absolute_and_urls_lose_their_last_slash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_storage("pages") == str(tmp_path / "pages")
    assert parse_storage(f"file://{tmp_path}/pages") == str(tmp_path / "pages")
    assert parse_storage("ftp://host/pages/") == "ftp://host/pages"
    assert parse_storage("") == ""


def test_a_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError, match="must not hold a user or password; set FSSPEC_FTP_USERNAME") as refused:
        parse_storage("ftp://me:secret@host/pages")
    assert "secret" not in str(refused.value)


def test_an_unknown_kind_of_storage_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--storage nosuch://host/pages: Protocol not known: nosuch"):
        parse_storage("nosuch://host/pages")


def test_without_fsspec_the_install_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UsageError, match=r"^--storage: fsspec is not installed: pip install 'shadowprobe\[ray\]'$"):
        parse_storage("ftp://host/pages")


def test_the_place_is_noted_so_that_the_next_command_finds_the_pages(tmp_path: Path) -> None:
    assert find_storage(tmp_path, "") == str(tmp_path)
    note_storage(tmp_path, str(tmp_path))
    assert not (tmp_path / NOTE).exists()
    assert find_storage(tmp_path, "ftp://host/pages") == "ftp://host/pages"
    note_storage(tmp_path, "ftp://host/pages")
    assert find_storage(tmp_path, "") == find_storage(tmp_path, "ftp://host/pages") == "ftp://host/pages"
    assert (tmp_path / NOTE).read_text() == "ftp://host/pages\n"
    with pytest.raises(UsageError, match=r"^--storage ftp://other: the pages of this build are at ftp://host/pages;"):
        find_storage(tmp_path, "ftp://other")


def test_a_build_whose_pages_are_in_its_own_folder_keeps_them_there(tmp_path: Path) -> None:
    (tmp_path / "web.warc.gz").touch()
    with pytest.raises(UsageError, match="go on without --storage"):
        find_storage(tmp_path, "ftp://host/pages")


def test_a_note_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    note_storage(tmp_path / "archive", "ftp://host/pages")
    note_storage(tmp_path / "archive", "ftp://other")
    assert (tmp_path / "archive" / NOTE).read_text() == "ftp://host/pages\n"


class Remote:
    """A storage that fails as often as it is told to."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.failures: list[Exception] = []
        self.connections = 0
        self.folders: list[str] = []
        self.is_fresh = True

    def url_to_fs(self, url: str, **options: bool) -> tuple[Remote, str]:
        assert options == {"skip_instance_cache": True}
        self.connections += 1
        return self, url

    def _strip_protocol(self, url: str) -> str:
        return url.removeprefix("made://host/")

    def _parent(self, path: str) -> str:
        return path.rpartition("/")[0]

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.pop(0)

    def makedirs(self, path: str, *, exist_ok: bool) -> None:
        assert exist_ok
        self.folders.append(path)

    def pipe_file(self, path: str, content: bytes) -> None:
        self._fail()
        self.files[path] = content
        self.is_fresh = False

    def cat_file(self, path: str, start: int | None, end: int | None) -> bytes:
        self._fail()
        return self.files[path][start:end]

    def rm_file(self, path: str) -> None:
        del self.files[path]

    def invalidate_cache(self) -> None:
        self.is_fresh = True

    def ls(self, path: str, *, detail: bool) -> list[dict[str, Any]]:
        assert detail
        assert self.is_fresh
        if path not in self.folders:
            raise FileNotFoundError(path)
        return [{"name": f"/{name}"} for name in self.files] + [{"name": f"/{path}/below/"}]


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[Remote]:
    made = Remote()
    made.core = made  # type: ignore[attr-defined]
    monkeypatch.setattr(storage, "import_fsspec", lambda: made)
    storage._connect.cache_clear()
    yield made
    storage._connect.cache_clear()


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    return pauses


def test_files_are_written_whole_and_read_in_parts(remote: Remote, slept: list[float]) -> None:
    storage.write_file("made://host/pages/b", b"0123456789")
    storage.write_file("made://host/pages/a", b"x")
    assert storage.read_file("made://host/pages/b") == b"0123456789"
    assert storage.read_file("made://host/pages/b", 2, 5) == b"234"
    assert storage.read_file("made://host/pages/b", 0, 1) == b"0"
    assert storage.list_names("made://host/pages") == ["a", "b", "below"]
    assert storage.list_names("made://host/other") == []
    storage.remove_file("made://host/pages/a")
    assert list(remote.files) == ["pages/b"]
    # One connection serves all of them.
    assert (remote.connections, slept) == (1, [])


def test_work_that_fails_is_tried_twice_more_with_a_new_connection(remote: Remote, slept: list[float]) -> None:
    remote.failures = [OSError("closed"), OSError("closed")]
    storage.write_file("made://host/pages/a", b"x")
    assert remote.files == {"pages/a": b"x"}
    assert (remote.connections, len(slept)) == (3, 2)
    # The second pause is longer, and both together are shorter than the five seconds for a process that has died.
    assert 0 < slept[0] < slept[1]
    assert sum(slept) < 5


def test_work_that_fails_three_times_is_an_error_that_says_why(remote: Remote, slept: list[float]) -> None:
    remote.failures = [OSError("closed"), OSError("closed"), OSError("x" * 300)]
    with pytest.raises(BuildError) as failed:
        storage.read_file("made://host/pages/a")
    said = str(failed.value)
    assert said == f"--storage made://host/pages/a: {'x' * 200}; once it works, the same command continues"
    # The next work begins with a connection of its own.
    storage.write_file("made://host/pages/a", b"y")
    assert remote.connections == 4
    remote.failures = [TimeoutError()] * 3
    with pytest.raises(BuildError, match=r": TimeoutError; once it works"):
        storage.read_file("made://host/pages/a")
