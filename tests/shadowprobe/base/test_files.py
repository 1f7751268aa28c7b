"""Files on disk: what an interrupted write leaves is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.base.files import drop_torn_line


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
