"""Files on disk: clear errors, whole files, and what an interrupted write leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shadowprobe import InputError, UsageError
from shadowprobe.base.files import (
    PartialFile,
    directory_name,
    drop_partial_files,
    drop_torn_line,
    file_digest,
    is_locked,
    lock,
    lock_file,
    make_directory,
    open_for_reading,
    open_for_writing,
    read_text_lines,
    write_atomically,
    write_out,
)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (b"", b""),
        (b"one\ntwo\n", b"one\ntwo\n"),
        (b"one\ntw", b"one\n"),
        (b"on", b""),
        (b"one\n" + b"x" * 9000, b"one\n"),
    ],
    ids=["empty", "complete", "torn", "nothing but a torn line", "a long torn line"],
)
def test_a_torn_line_is_removed_and_the_next_write_follows_the_last_complete_one(
    tmp_path: Path, content: bytes, kept: bytes
) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(content)
    with path.open("a+b") as file:
        drop_torn_line(file)
        assert file.tell() == len(kept)
        file.write(b"new\n")
    assert path.read_bytes() == kept + b"new\n"


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none: no such file$"):
        open_for_reading(tmp_path / "none")
    with pytest.raises(InputError, match=r"is a directory, not a file$"):
        open_for_reading(tmp_path)


def test_lines_have_numbers_and_no_ends(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n\nthree")
    assert list(read_text_lines(path)) == [(1, "one"), (2, "two"), (3, ""), (4, "three")]
    path.write_bytes(b"one\n\xff")
    with pytest.raises(InputError, match=r"lines:2: is not UTF-8 \(byte 0: invalid start byte\)"):
        list(read_text_lines(path))


def test_the_digest_is_sha_256(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    # The example of FIPS 180-4 for three letters.
    assert file_digest(tmp_path / "abc").startswith("ba7816bf8f01cfea414140de5dae2223")


def test_a_file_is_replaced_whole_and_others_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    usual = os.umask(0o022)
    try:
        for content in (b"first", b"second"):
            write_atomically(path, content)
            assert path.read_bytes() == content
    finally:
        os.umask(usual)
    assert path.stat().st_mode & 0o777 == 0o644
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    (tmp_path / "directory").mkdir()
    with pytest.raises(UsageError, match="directory: cannot be written"):
        write_atomically(tmp_path / "directory", b"")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["directory", "file"]


def test_half_written_files_are_removed_and_no_others(tmp_path: Path) -> None:
    for name in (".a.x.half", "b.half", ".c"):
        (tmp_path / name).touch()
    drop_partial_files(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".c", "b.half"]


def test_a_file_is_written_anew_or_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for append, content in ((False, b"one"), (True, b"onetwo"), (False, b"two")):
        with open_for_writing(path, append=append) as file:
            write_out(file, b"two" if path.stat().st_size or content == b"two" else b"one", path)
            # It is on the disk before the file is closed.
            assert path.read_bytes() == content
    with pytest.raises(UsageError, match="cannot be written"), open_for_writing(tmp_path):
        pass


def test_a_second_writer_is_refused_and_a_new_file_is_not_left_empty(tmp_path: Path) -> None:
    with lock_file(tmp_path, "file") as file:
        with pytest.raises(UsageError, match="another shadowprobe is writing to"), lock_file(tmp_path, "file"):
            pass
        file.write(b"x")
    with lock_file(tmp_path, "file"):
        pass
    with pytest.raises(UsageError, match="wrong"), lock_file(tmp_path, "new"):
        raise UsageError("wrong")
    with pytest.raises(UsageError, match="wrong"), lock_file(tmp_path, "file"):
        raise UsageError("wrong")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_an_empty_file_that_was_there_before_is_kept_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with pytest.raises(UsageError, match="wrong"), lock_file(tmp_path, "old"):
        raise UsageError("wrong")
    assert (tmp_path / "old").exists()


def test_a_lock_is_tried_again_for_as_long_as_there_is_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    with (tmp_path / "file").open("wb") as holder, (tmp_path / "file").open("ab") as other:
        lock(holder, "working")
        assert pauses == []
        with pytest.raises(UsageError, match="another shadowprobe is working"):
            lock(other, "working", patience=2)
        # Two short pauses, and then one second for each second of patience.
        assert pauses == [0.05, 0.2, 1.0, 1.0]
        assert is_locked(tmp_path / "file")
        # The holder ends during the first pause.
        monkeypatch.setattr("time.sleep", lambda _: holder.close())
        lock(other, "working")


def test_a_file_that_is_not_there_is_not_locked(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "none")
    (tmp_path / "free").touch()
    assert not is_locked(tmp_path / "free")


def test_a_published_file_is_complete_at_once(tmp_path: Path) -> None:
    with PartialFile(tmp_path / "file") as file:
        file.write(b"whole")
        assert not (tmp_path / "file").exists()
        file.publish()
        assert (tmp_path / "file").read_bytes() == b"whole"


def test_a_directory_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(UsageError, match=r"cannot write to .* \(Permission denied\)"):
        make_directory(tmp_path)


def test_a_directory_is_made_with_those_around_it(tmp_path: Path) -> None:
    for _ in range(2):
        make_directory(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file is a file; give a directory"):
        make_directory(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "safe"), [("a-b", "a-b"), ("a/b:c\\d", "a_b_c_d"), ("..", "_"), (".", "_"), ("", "_"), ("...", "...")]
)
def test_a_name_cannot_lead_to_another_directory(name: str, safe: str) -> None:
    assert directory_name(name) == safe
