"""The card of a folder for the hub: its front matter, its licence and its size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shadowprobe import Card
from shadowprobe.formats.hf_card import find_licence, make_card

yaml: Any = pytest.importorskip("yaml", reason="the extra [hf] is not installed", exc_type=ImportError)


def write_files(folder: Path, *names: str) -> list[Path]:
    files = [folder / name for name in names]
    for number, file in enumerate(files):
        file.write_text("x" * number)
    return files


def read_front_matter(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    return found


def make(folder: Path, **fields: Any) -> str:
    """The card of a dataset with entities, spaces and two subsets."""
    counts = {"entities": 3, "spaces": 2, "top": 4, "all": 5}
    files = write_files(folder, "entities.jsonl", "spaces.jsonl", "top.jsonl", "all.jsonl")
    return make_card(Card(name="mine", counts=fields.pop("counts", counts), **fields), files)


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("", "unknown"),
        (" ", "unknown"),
        ("CC0", "cc0-1.0"),
        ("CC0 1.0 Universal", "cc0-1.0"),
        ("CC BY-SA 4.0", "cc-by-sa-4.0"),
        ("cc-by-sa-3.0, as Wikipedia", "cc-by-sa-3.0"),
        ("CC BY 4.0", "cc-by-4.0"),
        ("CC BY-NC-SA 4.0", "cc-by-nc-sa-4.0"),
        ("Apache 2.0", "apache-2.0"),
        ("MIT License", "mit"),
        ("for research only", "other"),
        ("not CC0", "other"),
    ],
)
def test_a_licence_has_the_name_that_the_hub_has_for_it(text: str, licence: str) -> None:
    assert find_licence(text) == licence


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        (999, "n<1K"),
        (1_000, "1K<n<10K"),
        (9_999, "1K<n<10K"),
        (10_000, "10K<n<100K"),
        (99_999, "10K<n<100K"),
        (100_000, "100K<n<1M"),
        (999_999, "100K<n<1M"),
        (1_000_000, "1M<n<10M"),
    ],
)
def test_the_size_counts_the_snippets_and_nothing_else(tmp_path: Path, rows: int, size: str) -> None:
    counts = {"entities": 10**7, "spaces": 10**7, "top": rows - 1, "all": 1}
    assert read_front_matter(make(tmp_path, counts=counts))["size_categories"] == [size]


def test_the_snippets_are_the_first_config_and_each_subset_is_a_split(tmp_path: Path) -> None:
    found = read_front_matter(make(tmp_path))
    assert found["configs"] == [
        {
            "config_name": "snippets",
            "default": True,
            # `all` would mean every split.
            "data_files": [{"split": "top", "path": "top.jsonl"}, {"split": "test", "path": "all.jsonl"}],
        },
        {"config_name": "entities", "data_files": [{"split": "test", "path": "entities.jsonl"}]},
        {"config_name": "spaces", "data_files": [{"split": "test", "path": "spaces.jsonl"}]},
    ]
    snippets, entities, spaces = found["dataset_info"]
    # The files have 2 and 3 bytes.
    assert snippets["splits"] == [
        {"name": "top", "num_bytes": 2, "num_examples": 4},
        {"name": "test", "num_bytes": 3, "num_examples": 5},
    ]
    assert {"name": "start", "dtype": "int64"} in snippets["features"]
    assert {"name": "text", "dtype": "string"} in snippets["features"]
    assert {"name": "redirects", "sequence": "string"} in entities["features"]
    assert spaces["features"] == [{"name": "name", "dtype": "string"}, {"name": "entities", "sequence": "string"}]


def test_what_a_card_says_is_one_line_each_and_survives_yaml(tmp_path: Path) -> None:
    text = make(tmp_path, title='A "title":\n two\u0085lines \U0001f30a', license="mine,\nall mine", language="de")
    found = read_front_matter(text)
    assert found["pretty_name"] == 'A "title": two lines \U0001f30a'
    assert (found["license"], found["license_name"], found["language"]) == ("other", "mine, all mine", ["de"])
    assert "Licence: mine, all mine\n" in text
    bare = make(tmp_path, license="MIT")
    assert "license_name" not in read_front_matter(bare)
    assert read_front_matter(bare)["pretty_name"] == "mine"
    assert read_front_matter(make(tmp_path, title="a\x7fb"))["pretty_name"] == "a\x7fb"


def test_people_read_only_what_the_card_has(tmp_path: Path) -> None:
    bare = make(tmp_path).split("---\n")[2]
    assert bare.startswith("\n# mine\n\n| file | rows |\n|---|---|\n| `entities.jsonl` | 3 |\n")
    full = make(tmp_path, about="About\nit.", made="By hand.", source="A book", license="MIT").split("---\n")[2]
    assert full.startswith("\n# mine\n\nAbout it.\n\nBy hand.\n\nSource: A book\n\nLicence: MIT\n\n| file | rows |\n")
