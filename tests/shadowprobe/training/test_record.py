"""The record of a training, and which directories are read as trainings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import InputError, UsageError
from shadowprobe.training.record import TrainingRecord, read_record, read_training, read_trainings, write_record


def make_record(**more: Any) -> TrainingRecord:
    return TrainingRecord(
        settings={}, collection={"name": "little"}, shadowprobe="0.2.0", digests={}, relations=["P19"], split={}, **more
    )


def make_training(directory: Path) -> Path:
    directory.mkdir(parents=True)
    write_record(directory, make_record(questions={"P19": {}}))
    return directory


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    write_record(tmp_path, make_record(notes=["slow"]))
    assert read_record(tmp_path) == make_record(notes=["slow"])
    assert json.loads((tmp_path / "training.json").read_text())["schema"] == 1


def test_a_record_of_another_schema_is_refused(tmp_path: Path) -> None:
    write_record(tmp_path, make_record(schema=2))
    with pytest.raises(InputError, match="is 2, and this shadowprobe reads 1"):
        read_record(tmp_path)


def test_a_training_without_figures_is_not_finished(tmp_path: Path) -> None:
    assert not make_record().is_finished
    write_record(tmp_path, make_record())
    with pytest.raises(InputError, match="is not finished"):
        read_training(tmp_path)
    with pytest.raises(InputError, match=r"is no training: it holds no training\.json"):
        read_training(tmp_path / "nowhere")


def test_a_training_is_called_by_its_directory_or_by_a_label(tmp_path: Path) -> None:
    first, second = make_training(tmp_path / "first"), make_training(tmp_path / "second")
    assert [one.label for one in read_trainings([first, second])] == ["first", "second"]
    assert [one.label for one in read_trainings([first, second], ["a", "b"])] == ["a", "b"]
    assert read_training(first, "a").record.is_finished


def test_there_is_a_name_for_each_training_and_no_name_twice(tmp_path: Path) -> None:
    first, second = make_training(tmp_path / "here" / "same"), make_training(tmp_path / "there" / "same")
    with pytest.raises(UsageError, match="--name: give one for each directory; there are 2 and 1 names"):
        read_trainings([first, second], ["a"])
    with pytest.raises(UsageError, match="two trainings are called 'same'"):
        read_trainings([first, second])
