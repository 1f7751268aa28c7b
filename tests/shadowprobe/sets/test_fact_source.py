"""Where facts come from: the names that a user gives, and what the card says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.errors import InputError
from shadowprobe.sets.fact_source import Origin, read_names


def test_names_are_read_one_per_line_each_once_and_without_needless_space(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("Ada Quill\n\n  Her \t Lantern \nAda  Quill\n   \nVarn", encoding="utf-8")
    assert read_names(path) == ("Ada Quill", "Her Lantern", "Varn")


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_file_without_names_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "names.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"names\.txt: holds no name: write one name per line"):
        read_names(path)


def test_the_card_says_which_file_or_which_service_and_how_many_names() -> None:
    assert Origin(dump=Path("folder/dump.json.gz")).describe() == {"dump": "dump.json.gz"}
    origin = Origin(api="https://www.wikidata.org", names=("Ada Quill", "Varn"))
    assert origin.describe() == {"api": "https://www.wikidata.org/w/api.php", "names": 2}
