"""Where the pages of a build are: the option, and the note beside the archive."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shadowprobe.build.storage import NOTE, find_storage, is_remote, note_storage, parse_storage
from shadowprobe.errors import UsageError


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
