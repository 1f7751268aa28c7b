"""The candidates that a model is shown as choices, at the limits of their number and length."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from asking import marked

from shadowprobe import Entity, EntitySpace, Knowledge, Linker

choices: Any = import_module("shadowprobe.linkers._shared.choices")


class Chooser(Linker):
    """A linker that only lists its choices."""

    name = "chooser"


def open_chooser(candidates: int) -> Linker:
    """A linker that knows so many entities of the name Avon, the first of them the most common."""
    entities = [Entity(f"Avon {'ABCDEF'[number]}", commonness=9 - number) for number in range(candidates)]
    space = EntitySpace("Avon", tuple(entity.title for entity in entities))
    linker = Chooser()
    linker.open(Knowledge({entity.title: entity for entity in entities}, [space]))
    return linker


def test_as_many_candidates_as_may_be_shown_are_all_shown_without_a_note() -> None:
    linker = open_chooser(3)
    shown = choices.list_choices(linker, marked("Why not [Avon]?"), 3)
    assert sorted(entity.title for entity in shown) == ["Avon A", "Avon B", "Avon C"]
    assert linker.notes == []


def test_one_candidate_more_is_left_out_with_a_note() -> None:
    linker = open_chooser(4)
    shown = choices.list_choices(linker, marked("Why not [Avon]?"), 3)
    assert sorted(entity.title for entity in shown) == ["Avon A", "Avon B", "Avon C"]
    assert linker.notes == ["of more than 3 candidates only the most common are shown: -o choices=N shows more"]


def test_a_description_is_one_line_of_at_most_400_characters() -> None:
    assert choices.shorten_description(Entity("Avon", description="a river \n in  England")) == "a river in England"
    assert choices.shorten_description(Entity("Avon", description="r" * 400 + "s")) == "r" * 400
    assert choices.shorten_description(Entity("Avon")) == ""


def test_missing_descriptions_are_counted_in_a_note() -> None:
    linker = open_chooser(2)
    choices.note_missing_descriptions(linker)
    assert linker.notes == ["2 of 2 entities have no description and are shown by their title"]
    linker = Chooser()
    linker.open(Knowledge({"Avon": Entity("Avon", description="a river")}))
    choices.note_missing_descriptions(linker)
    assert linker.notes == []


def test_only_a_mention_without_candidates_is_skipped_with_a_note() -> None:
    linker = open_chooser(1)
    assert choices.skip_without_choices(linker, marked("Why not [Avon]?")) is None
    assert linker.notes == []
    assert choices.skip_without_choices(linker, marked("Why not [Zork]?")).status == "skipped"
    assert linker.notes == ["a mention without candidates in the dataset is skipped without a request"]
