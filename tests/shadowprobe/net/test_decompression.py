"""Bodies that are decompressed in pieces, and no further than wanted."""

from __future__ import annotations

import gzip
import zlib

import pytest

from shadowprobe.net.decompression import Inflate, decompressor
from shadowprobe.net.failures import BrokenResponseError

TEXT = b"Avon is a river. " * 20


def unpack(encoding: str, *chunks: bytes, limit: int = 10_000) -> bytes:
    decompress = decompressor(encoding)
    return b"".join(piece for chunk in chunks for piece in decompress(chunk, limit))


@pytest.mark.parametrize("name", ["gzip", "x-gzip", " GZIP ", "utf-8, gzip"])
def test_gzip_has_several_names(name: str) -> None:
    assert unpack(name, gzip.compress(TEXT)) == TEXT


def test_deflate_is_read_with_its_header_and_without() -> None:
    bare = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    assert unpack("deflate", zlib.compress(TEXT)) == TEXT
    assert unpack("deflate", bare.compress(TEXT) + bare.flush()) == TEXT


def test_gzip_is_not_read_as_deflate_and_deflate_not_as_gzip() -> None:
    for name, packed in (("gzip", zlib.compress(TEXT)), ("deflate", gzip.compress(TEXT))):
        with pytest.raises(BrokenResponseError, match=r"^broken compression"):
            unpack(name, packed)


def test_a_body_without_compression_stays_as_it_is() -> None:
    decompress = decompressor("")
    assert list(decompress(b"abc", 2)) == [b"abc"]
    assert decompress.is_whole


def test_a_compressed_body_is_whole_after_its_last_byte() -> None:
    packed = gzip.compress(TEXT)
    decompress = decompressor("gzip")
    is_whole = [decompress.is_whole]
    for chunk in (packed[:-1], packed[-1:]):
        list(decompress(chunk, 10_000))
        is_whole.append(decompress.is_whole)
    # Before the first byte nothing is missing.
    assert is_whole == [True, False, True]


def test_several_gzip_files_are_one_body_and_what_follows_them_is_left_out() -> None:
    first, second = gzip.compress(b"first"), gzip.compress(b"second")
    assert unpack("gzip", first + second) == b"firstsecond"
    assert unpack("gzip", first, second) == b"firstsecond"
    assert unpack("gzip", first + b"\0\0padding") == b"first"
    # Only gzip has several parts.
    assert unpack("deflate", zlib.compress(b"first") + zlib.compress(b"second")) == b"first"


def test_no_more_is_decompressed_than_wanted() -> None:
    packed = gzip.compress(bytes(1000))
    assert unpack("gzip", packed, limit=1) == b"\0"
    assert unpack("gzip", packed, limit=0) == b""
    assert unpack("gzip", packed, limit=1000) == bytes(1000)


def test_large_bodies_come_in_pieces_of_a_megabyte() -> None:
    sizes = [len(piece) for piece in decompressor("gzip")(gzip.compress(bytes(2 * 2**20 + 5)), 2**30)]
    assert sizes == [2**20, 2**20, 5]


def test_ten_thousand_gzip_files_are_one_body_and_one_more_is_refused() -> None:
    empty = gzip.compress(b"")
    assert unpack("gzip", empty * 10_000) == b""
    with pytest.raises(BrokenResponseError) as refused:
        unpack("gzip", empty * 10_001)
    assert refused.value.message == "broken compression (more than 10000 parts)"


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "x-compress", "dcb", "dcz", "gzip, deflate"])
def test_other_compressions_and_several_are_refused(encoding: str) -> None:
    with pytest.raises(BrokenResponseError) as refused:
        decompressor(encoding)
    assert refused.value.message == f"a compression that was not requested ({encoding})"


def test_gzip_is_refused_if_it_was_not_requested() -> None:
    assert isinstance(decompressor("gzip"), Inflate)
    with pytest.raises(BrokenResponseError, match="not requested"):
        decompressor("gzip", is_requested=False)
    # What compresses nothing needs no request.
    assert decompressor("utf-8", is_requested=False).is_whole
