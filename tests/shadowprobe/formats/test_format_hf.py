"""The folder for the Hugging Face hub, opened by the packages `datasets` and `mlcroissant` themselves."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from refusals import complaint, outcome
from world import write_world

from shadowprobe import Card, Dataset, Entity, Snippet, formats, write_dataset
from shadowprobe.formats.hf_card import make_card
from shadowprobe.formats.imported import Remark

INSTALL = "is not installed: pip install 'shadowprobe[test]'"


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The package, which must not ask the hub here."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    package = pytest.importorskip("datasets", reason=f"datasets {INSTALL}")
    monkeypatch.setattr(package.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    package.disable_progress_bars()
    return package


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The world, exported."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    code, out, error = outcome(capsys, "export", "hf", "folder", "--dataset", "world")
    assert (code, error) == (0, "")
    assert out.splitlines()[:2] == ["folder/entities.jsonl: 9 rows", "folder/spaces.jsonl: 4 rows"]
    return tmp_path / "folder"


def test_load_dataset_opens_the_folder_with_a_split_for_each_subset(folder: Path, datasets: Any) -> None:
    loaded = datasets.load_dataset(str(folder))
    assert {name: len(split) for name, split in loaded.items()} == {"top": 4, "shadow": 4, "tail": 1, "neutral": 12}
    row = loaded["neutral"][0]
    assert (row["id"], row["space"], row["template"], row["gold"]) == ("nAvon1", "Avon", 1, None)
    entity = datasets.load_dataset(str(folder), "entities")["test"][0]
    assert (entity["title"], entity["page_id"], entity["redirects"]) == ("Avon (river)", 100, None)
    space = datasets.load_dataset(str(folder), "spaces")["test"][0]
    assert space == {"name": "Avon", "entities": ["Avon (river)", "Avon (ship)"]}


def test_the_subset_all_is_a_split_that_the_package_accepts(tmp_path: Path, datasets: Any) -> None:
    snippet = Snippet("a", "all", "Avon", 0, 4, gold="Avon")
    dataset = write_dataset(tmp_path / "data", Card(name="one"), [Entity("Avon")], [], {"all": [snippet]})
    formats.write("hf", dataset, tmp_path / "out")
    assert datasets.load_dataset(str(tmp_path / "out"))["test"][0]["gold"] == "Avon"
    (tmp_path / "out" / "dataset.json").unlink()
    assert formats.read("hf", [tmp_path / "out"]).snippets == {"all": [snippet]}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_croissant_metadata_passes_its_validation_and_yields_the_rows(folder: Path) -> None:
    croissant = pytest.importorskip("mlcroissant", reason=f"mlcroissant {INSTALL}")
    opened = croissant.Dataset(str(folder / "croissant.json"))
    issues = opened.metadata.ctx.issues
    assert list(issues.errors) == []
    # When the dataset was published is not known.
    assert [str(warning) for warning in issues.warnings if "datePublished" not in str(warning)] == []
    top = list(opened.records("top"))
    assert [row["top/id"].decode() for row in top] == ["tAvon", "tBerg", "tComo", "tDale"]
    space = next(iter(opened.records("spaces")))
    assert [title.decode() for title in space["spaces/entities"]] == ["Avon (river)", "Avon (ship)"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_built_in_dataset_opens_and_validates(tmp_path: Path, datasets: Any) -> None:
    croissant = pytest.importorskip("mlcroissant", reason=f"mlcroissant {INSTALL}")
    from shadowprobe.catalogue.datasets import open_dataset

    formats.write("hf", open_dataset("mini"), tmp_path / "mini")
    loaded = datasets.load_dataset(str(tmp_path / "mini"))
    assert sum(map(len, loaded.values())) == open_dataset("mini").count()
    opened = croissant.Dataset(str(tmp_path / "mini" / "croissant.json"))
    assert list(opened.metadata.ctx.issues.errors) == []


def test_a_folder_of_ours_is_the_same_dataset_before_and_after(folder: Path, tmp_path: Path) -> None:
    assert Dataset.read(folder).digest == Dataset.read(tmp_path / "world").digest
    imported = formats.read("hf", [folder])
    imported.remarks.append(Remark("kept", "why", "where"))
    back = imported.write(tmp_path / "back")
    assert back.digest == Dataset.read(folder).digest
    assert back.name == "world"
    # The remarks of an earlier import stay in the card.
    formats.write("hf", back, tmp_path / "again")
    assert formats.read("hf", [tmp_path / "again"]).remarks == [Remark("kept", "why", "where")]


def test_a_folder_without_our_card_is_read_by_the_package_and_keeps_everything(
    folder: Path, tmp_path: Path, datasets: Any
) -> None:
    (folder / "dataset.json").unlink()
    back = formats.read("hf", [folder]).write(tmp_path / "back")
    assert back.digest == Dataset.read(tmp_path / "world").digest


def test_a_foreign_folder_needs_text_start_end_and_gold(
    tmp_path: Path, datasets: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("foreign").mkdir()
    rows = [
        {"text": "On the Avon.", "start": 7, "end": 11, "gold": "Avon_(river)", "qid": "Q1", "other": 1},
        {"text": "An  Avon ", "start": 4, "end": 9, "gold": "Avon (ship)", "qid": None, "other": 1},
        {"text": "Avon", "start": 0, "end": 9, "gold": "Avon (ship)", "qid": None, "other": 1},
    ]
    Path("foreign/train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = outcome(capsys, "import", "hf", "foreign", "--out", "back")
    assert code == 0
    assert "dropped: offset outside the text (1)" in out
    dataset = Dataset.read("back")
    assert [(s.id, s.mention, s.gold) for s in dataset.snippets("all")] == [
        ("train-0", "Avon", "Avon (river)"),
        ("train-1", "Avon", "Avon (ship)"),
    ]
    assert dataset.entities["Avon (river)"].qid == "Q1"
    Path("foreign/train.jsonl").write_text('{"sentence": "Avon", "label": 3}\n')
    assert complaint(capsys, "import", "hf", "foreign", "--out", "new") == (
        "foreign (split train): field `text`: is missing: expected the columns text, start, end and gold,"
        " got sentence, label"
    )


def test_a_name_that_the_hub_cannot_be_asked_for_is_one_line(
    datasets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    message = complaint(capsys, "import", "hf", "nobody/none")
    assert message.startswith("nobody/none: there is no such folder, and the hub cannot be asked for it (")
    assert complaint(capsys, "import", "hf", "a/b/c").startswith("a/b/c is no folder: import hf takes one")
    Path("damaged").mkdir()
    Path("damaged/train.jsonl").write_text('{"text": "Avon", "start": 0\n')
    message = complaint(capsys, "import", "hf", "damaged")
    assert message.startswith("damaged: the package `datasets` cannot load it (")
    # What is wrong, and not only that something is.
    assert "JSON parse error" in message
    Path("empty").mkdir()
    assert complaint(capsys, "import", "hf", "empty").startswith("empty: the package `datasets` cannot load it (")


def test_without_the_package_only_our_own_folders_are_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert outcome(capsys, "import", "hf", "folder", "--out", "back")[0] == 0
    (folder / "dataset.json").unlink()
    assert complaint(capsys, "import", "hf", "folder", "--out", "new") == (
        "`datasets` is not installed: pip install 'shadowprobe[hf]'"
    )


def test_an_export_writes_over_nothing_and_takes_no_predictions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint(capsys, "export", "hf", "folder", "-d", "world") == (
        "folder/README.md exists; --force writes over it"
    )
    assert outcome(capsys, "export", "hf", "folder", "-d", "world", "--subset", "top", "--force")[0] == 0
    assert Dataset.read(folder).subsets == ("top",)
    assert complaint(capsys, "export", "hf", "x", "--out", "y") == "the directory is given twice: x, and --out y"
    assert outcome(capsys, "run", "-l", "prior", "-d", "world", "--out", "run")[0] == 0
    assert complaint(capsys, "export", "hf", "x", "-p", "run") == "export hf writes a dataset, and no predictions"


def test_no_text_of_a_card_leaves_its_place_in_the_front_matter(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with datasets")
    hostile = 'a: "b"\n---\n# \x07\x85 😀 {x} - [y] \\'
    card = Card(name="x", title=hostile, license=hostile, language="de", counts={"top": 2})
    (tmp_path / "top.jsonl").write_text("")
    front = make_card(card, [tmp_path / "top.jsonl"]).split("\n---\n")[0].removeprefix("---\n")
    read = yaml.safe_load(front)
    assert read["pretty_name"] == " ".join(hostile.split())
    assert read["license"] == "other"
    assert read["size_categories"] == ["n<1K"]


def test_a_foreign_folder_goes_by_its_name_and_lists_what_contradicts_itself(
    tmp_path: Path, datasets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("foreign").mkdir()
    rows = [{"id": name, "text": "Avon", "start": 0, "end": 4, "gold": name} for name in ("River", "Ship")]
    Path("foreign/train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    imported = formats.read("hf", [Path("foreign")])
    assert imported.card.name == "foreign"
    monkeypatch.chdir("foreign")
    assert formats.read("hf", [Path()]).card.name == "foreign"
    why = "the same text and mention with another gold entity"
    assert imported.remarks == [Remark("kept", why, "Ship", "River: 'River'")]
