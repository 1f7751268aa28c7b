"""The compressed data of a report."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import numpy as np
import pytest
from page_reading import unpack

from shadowprobe.base.files import write_pieces
from shadowprobe.reporting.html.blocks import CHUNK, LONG, PIECE, Series, compress_data, write_blocks
from shadowprobe.reporting.html.strings import BLOCK, Passages, Strings


@pytest.mark.parametrize("count", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1])
def test_numbers_come_out_as_they_went_in(count: int) -> None:
    numbers = [(7 * n) % 1000 - 3 for n in range(count)]
    assert unpack({"a": Series(numbers), "b": np.array(numbers, dtype=np.int32)}) == {"a": numbers, "b": numbers}


def test_long_lists_become_blocks_and_short_ones_stay() -> None:
    data = {"short": list(range(LONG)), "long": list(range(LONG + 1)), "words": ["<"] * (LONG + 1), "one": [[1, None]]}
    skeleton, blocks = compress_data(data)
    assert skeleton == {
        "short": data["short"],
        "long": {"block": 0, "delta": 1},
        "words": {"block": 1, "delta": 0},
        "one": [[1, None]],
    }
    assert len(blocks) == 2
    assert unpack(data) == data


def test_steady_numbers_need_hardly_any_room() -> None:
    # 600,000 numbers of up to seven digits in less than 2,000 bytes.
    assert len(Series(range(0, 1_800_000, 3)).close()) < 2_000


def test_passages_are_cut_into_blocks_and_a_recent_one_is_kept_once() -> None:
    passages = Passages()
    half = BLOCK // 2
    texts = [letter * half for letter in "abcdef"]
    assert [passages.number(text) for text in texts[:2]] == [0, 1]
    # The first block is full; its texts are still known, and those of an earlier block are not.
    assert [passages.number(texts[1]), passages.number(None)] == [1, -1]
    assert [passages.number(text) for text in texts[2:]] == [2, 3, 4, 5]
    assert passages.number(texts[0]) == 6
    assert unpack({"passages": passages})["passages"] == [*texts, texts[0]]
    assert passages.starts == [0, 2, 4, 6]


def test_a_name_is_kept_once_whatever_comes_between() -> None:
    strings = Strings()
    assert [strings.number(text) for text in ("Avon", "Berg", "Avon", None)] == [0, 1, 0, -1]
    assert strings.all() == ["Avon", "Berg"]


def test_a_block_cannot_be_markup() -> None:
    # Every byte value, so that every sign of base 85 is there; the last block is longer than a piece.
    blocks = [bytes([first, second] * 10) for first in range(256) for second in (0, 85, 255)]
    blocks.append(bytes(range(256)) * (PIECE // 256) + b"rest")
    elements = "".join(write_blocks(blocks)).splitlines()
    for block, element in zip(blocks, elements, strict=True):
        content = element.partition(">")[2].removesuffix("</script>")
        assert "<" not in content
        assert base64.b85decode(content.replace(",", "<")) == block


def test_a_file_whose_pieces_fail_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def pieces() -> object:
        yield b"new"
        raise zlib.error("no more")

    with pytest.raises(zlib.error):
        write_pieces(path, pieces())  # type: ignore[arg-type]
    assert [path.read_text(), list(tmp_path.iterdir())] == ["old", [path]]
