"""Texts that are sorted although they do not fit in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.build.sorted_texts import SortedTexts


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_texts_come_in_order_and_once_whatever_fits_in_memory(most: int, tmp_path: Path) -> None:
    texts = SortedTexts(tmp_path, most)
    for group in (["b", "é"], ["a"], [], ["b", "line\nend", 'quote"'], ["z", "a"]):
        texts.add(group)
    # By code points: é comes after all letters of ASCII.
    assert list(texts) == ["a", "b", "line\nend", 'quote"', "z", "é"]
    assert list(texts) == ["a", "b", "line\nend", 'quote"', "z", "é"]
    assert texts.count() == 6
    texts.close()


def test_no_more_than_the_given_number_waits_in_memory(tmp_path: Path) -> None:
    texts = SortedTexts(tmp_path, 10)
    for number in range(95):
        texts.add([f"{number:02d}"])
        assert len(texts._waiting) < 10
    assert list(texts) == [f"{number:02d}" for number in range(95)]
    texts.close()
