"""A dataset that is exported and imported keeps its subsets and names, and the export says what is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from refusals import outcome

from shadowprobe import Card, Dataset, Entity, EntitySpace, Snippet, formats, write_dataset
from shadowprobe.catalogue.datasets import open_dataset

DOCUMENTS = ("nif", "aida-conll", "kilt", "blink", "elevant", "simple-jsonl", "zelda")
every_format = pytest.mark.parametrize("name", DOCUMENTS)
# These have no place for a field of ours: the name is read from the marked words.
WITHOUT_FIELDS = {"nif", "aida-conll"}


def test_every_format_that_writes_documents_is_tested() -> None:

    writing = [n for n in formats.FORMATS if hasattr(formats.import_format(n), "encode_documents")]
    assert sorted(writing) == sorted(DOCUMENTS)


@pytest.fixture
def small(tmp_path: Path) -> Dataset:
    """One name with three entities, all gold; one mention is written in capitals."""
    snippets: dict[Any, list[Snippet]] = {
        "top": [Snippet("t-1", "top", "The Mara floods.", 4, 8, space="Mara", gold="Mara (river)")],
        "shadow": [
            Snippet("s-1", "shadow", "HMS MARA sank.", 4, 8, space="Mara", gold="Mara (ship)"),
            Snippet("s-2", "shadow", "Mara sang.", 0, 4, space="Mara", gold="Mara (singer)"),
        ],
        "tail": [Snippet("x-1", "tail", "Ourika sold out.", 0, 6, gold="Ourika")],
        "neutral": [Snippet(f"n-{n}", "neutral", f"{n}: Mara", 3, 7, space="Mara", template=n) for n in (1, 2)],
    }
    entities = [Entity(f"Mara ({kind})") for kind in ("river", "ship", "singer")] + [Entity("Ourika")]
    spaces = [EntitySpace("Mara", ("Mara (river)", "Mara (ship)", "Mara (singer)"))]
    return write_dataset(tmp_path / "small", Card(name="small"), entities, spaces, snippets)


def there_and_back(name: str, dataset: Dataset, tmp_path: Path) -> Dataset:
    formats.write(name, dataset, tmp_path / "files")
    return formats.read(name, [tmp_path / "files"]).write(tmp_path / "back")


def kept(dataset: Dataset, *, with_template: bool) -> set[tuple[Any, ...]]:
    return {
        (s.id, s.subset, s.space, s.gold, s.mention, s.template if with_template else None) for s in dataset.snippets()
    }


@every_format
def test_mini_keeps_its_name_subsets_ids_and_spaces(name: str, tmp_path: Path) -> None:
    mini = open_dataset("mini").first(40)
    back = there_and_back(name, mini, tmp_path)
    assert back.name == "mini"
    assert kept(back, with_template=name not in WITHOUT_FIELDS) == kept(mini, with_template=name not in WITHOUT_FIELDS)
    # 40 names and 40 tail entities; every name has one Top, one Shadow and seven neutral contexts.
    assert {subset: back.count(subset) for subset in back.subsets} == {
        "top": 40,
        "shadow": 40,
        "tail": 40,
        "neutral": 280,
    }
    for space in back.spaces.values():
        assert space.top == mini.spaces[space.name].top
        assert set(space.shadows) <= set(mini.spaces[space.name].shadows)


@every_format
def test_a_name_that_is_written_in_another_way_is_kept_where_the_format_has_fields(
    name: str, small: Dataset, tmp_path: Path
) -> None:
    back = there_and_back(name, small, tmp_path)
    losses = formats.describe_losses(name, small)
    if name in WITHOUT_FIELDS:
        # MARA is no name of a Top mention, so the ship has no space.
        assert [snippet.id for snippet in back.snippets("all")] == ["s-1"]
        assert losses == (
            f"{name} does not keep the names of 1 mentions, which differ from the marked words;"
            " the template numbers of 2 neutral contexts"
        )
    else:
        assert kept(back, with_template=True) == kept(small, with_template=True)
        assert back.spaces == small.spaces
        assert losses == ""


def test_only_the_subsets_that_are_exported_lose_something(small: Dataset) -> None:
    (name, *_) = WITHOUT_FIELDS
    assert "template numbers" in formats.describe_losses(name, small, ["neutral"])
    assert "template numbers" not in formats.describe_losses(name, small, ["top"])


def test_the_export_warns_of_what_is_lost_and_only_of_that(
    small: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--dataset", str(small.path), "--out", str(tmp_path / "out"))
    assert outcome(capsys, "export", "kilt", *arguments)[2] == ""
    code, _, error = outcome(capsys, "export", "nif", *arguments)
    assert code == 0
    assert error.startswith("shadowprobe: warning: nif does not keep the names of 1 mentions")
    error = outcome(capsys, "export", "kilt", *arguments, "--subset", "shadow", "--force")[2]
    assert error == (
        "shadowprobe: warning: kilt does not keep the subset of shadow: without `top` an import puts them into `all`\n"
    )


def test_entities_without_a_mention_and_fields_without_a_place_are_listed(tmp_path: Path) -> None:
    entities = [Entity("Mara (river)", 7, "Q1", commonness=3), Entity("Mara (ship)")]
    top = Snippet(
        "d#3", "top", "Mara", 0, 4, space="Mara", gold="Mara (river)", document="d", source="http://127.0.0.1/"
    )
    spaces = [EntitySpace("Mara", ("Mara (river)", "Mara (ship)"))]
    dataset = write_dataset(tmp_path / "one", Card(name="one"), entities, spaces, {"top": [top]})
    for name, keys in (("nif", "page ids, commonness"), ("zelda", "QIDs, commonness"), ("blink", "commonness")):
        assert formats.describe_losses(name, dataset) == (
            f"{name} does not keep the ids of 1 mentions: they become those of their documents;"
            " the sources of 1 texts; 1 entities of the names, which are the gold of no mention;"
            f" of the entities: {keys}"
        )


def test_files_with_other_names_go_into_all_under_the_names_of_their_files(small: Dataset, tmp_path: Path) -> None:
    formats.write("kilt", small, tmp_path / "files", ("top", "shadow"))
    for file in (tmp_path / "files").iterdir():
        file.rename(file.with_name(f"{file.stem}-copy.jsonl"))
    imported = formats.read("kilt", [tmp_path / "files"])
    assert [snippet.id for snippet in imported.snippets["all"]] == [
        "small-shadow-copy/s-1",
        "small-shadow-copy/s-2",
        "small-top-copy/t-1",
    ]


def test_a_run_exported_for_elevant_has_what_its_reader_and_its_evaluation_require(
    small: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ELEVANT's article_from_dict, groundtruth_label_from_dict, entity_mention_from_dict and evaluate.py."""
    monkeypatch.chdir(tmp_path)
    assert outcome(capsys, "run", "-l", "prior", "-d", str(small.path), "--out", "run")[0] == 0
    assert outcome(capsys, "export", "elevant", "--predictions", "run", "--out", "out")[0] == 0
    # evaluate.py finds the names of its output files by this suffix, and the web page the linker by the first part.
    path = tmp_path / "out" / "prior.small-shadow.linked_articles.jsonl"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        article = json.loads(line)
        assert int(article["id"]) == number
        assert isinstance(article["title"], str)
        assert article["evaluation_span"] == [0, len(article["text"])]
        # Without labels in the file, evaluate.py needs the benchmark in its own folder.
        (label,), (mention,) = article["labels"], article["entity_mentions"]
        assert (label["id"], label["type"]) == (0, "OTHER")
        assert label["entity_id"] in small.entities
        assert mention["span"] == label["span"]
        assert mention["id"] in mention["candidates"]
        assert mention["linked_by"] == mention["recognized_by"] == "shadowprobe"
    metadata = json.loads((tmp_path / "out" / "prior.small-shadow.metadata.json").read_text())
    assert metadata.keys() == {"experiment_name", "experiment_description", "linker_name", "timestamp", "linking_time"}
    assert metadata["linker_name"] == "prior"
    assert outcome(capsys, "export", "elevant", "-d", str(small.path), "--out", "gold")[0] == 0
    assert sorted(file.name for file in (tmp_path / "gold").glob("small-top*")) == [
        "small-top.benchmark.jsonl",
        "small-top.metadata.json",
    ]
