"""What the mention browser of a report is given, over the small world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_reading import unpack
from world import NAMES, hand_predictions, shadow, top

from shadowprobe import Candidate, Dataset, Prediction, score
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting.html.data import pack_mentions, shorten
from shadowprobe.running.finished import read_runs


def pack(world: Dataset, folder: Path, predictions: list[Prediction]) -> Any:
    folder.mkdir()
    (folder / "predictions.jsonl").write_bytes(encode_lines(predictions))
    score(folder, world, name="hand", out=folder)
    return unpack(pack_mentions(read_runs([folder], str(world.path))))


@pytest.fixture
def data(world: Dataset, tmp_path: Path) -> Any:
    return pack(world, tmp_path / "hand", hand_predictions())


def words(data: Any, numbers: list[int]) -> list[str | None]:
    return [data["strings"][number] if number >= 0 else None for number in numbers]


def passages(data: Any, numbers: list[int]) -> list[str | None]:
    return [data["passages"][number] if number >= 0 else None for number in numbers]


def test_names_have_their_entities_with_descriptions_and_commonness(data: Any) -> None:
    spaces = data["spaces"]
    assert words(data, spaces["name"]) == list(NAMES)
    assert spaces["size"] == [2, 2, 2, 2]
    assert words(data, spaces["entity"]) == [title for name in NAMES for title in (top(name), shadow(name))]
    about = ["Fresh water that runs to the sea.", "Vessel with a crew and masts."]
    assert passages(data, spaces["description"]) == about * 4
    assert spaces["commonness"] == [50, 5] * 4


def test_snippets_are_cut_at_their_mentions(data: Any) -> None:
    snippets = data["snippets"]
    assert [data["subsets"][code] for code in snippets["subset"]] == [
        *["top"] * 4,
        *["shadow"] * 4,
        "tail",
        *["neutral"] * 12,
    ]
    assert passages(data, snippets["before"])[0] == "Anglers say that "
    assert words(data, snippets["mention"])[0] == "Avon"
    assert passages(data, snippets["after"])[0] == " runs clear above the mill."
    assert words(data, snippets["gold"])[:5] == [*map(top, NAMES), shadow("Avon")]
    # One of Tail has no name in the dataset, and a neutral one no gold.
    assert (snippets["space"][0], snippets["space"][8], words(data, snippets["gold"])[9]) == (0, -1, None)
    assert passages(data, snippets["source"])[0] is None
    # How many characters an id shares with the one before, and the rest: tAvon, tBerg.
    assert snippets["id"][:4] == [0, "tAvon", 1, "Berg"]


def test_answers_are_titles_or_signs_for_what_is_none(data: Any) -> None:
    (system,) = data["systems"]
    assert system["label"] == "hand"
    # Avon and Berg right, Como the ship, Dale NIL; then Avon the river, and Dale is skipped.
    assert words(data, system["entity"][:3]) == [top("Avon"), top("Berg"), shadow("Como")]
    assert (system["entity"][3], system["entity"][7]) == (-1, -2)
    assert system["score"][:4] == [0.9, 0.7, 0.5, None]
    assert words(data, system["prior"][:4]) == [top("Avon"), top("Berg"), top("Como"), shadow("Dale")]
    names = [name for name, _ in data["outcomes"]]
    assert len(system["outcome"]) == 21
    assert all(0 <= code < len(names) for code in system["outcome"])


def test_six_candidates_are_shown_and_two_in_a_neutral_context(world: Dataset, tmp_path: Path) -> None:
    others = [Candidate(top("Avon"), score=0.123456), *(Candidate(f"Other {number}") for number in range(7))]
    ranked = tuple(others)
    predictions = [
        Prediction("tAvon", answer=top("Avon"), candidates=ranked),
        Prediction("nAvon1", answer=top("Avon"), candidates=ranked[:3]),
        Prediction("sAvon", answer=top("Avon"), candidates=ranked[:6]),
    ]
    (system,) = pack(world, tmp_path / "ranked", predictions)["systems"]
    listed = system["candidates"]
    # In the order of the file; row 0 is tAvon, row 4 sAvon, row 9 nAvon1.
    assert (listed["start"][0], listed["size"][0], system["unlisted"][0]) == (0, 6, 2)
    assert (listed["start"][9], listed["size"][9], system["unlisted"][9]) == (6, 2, 1)
    assert (listed["start"][4], listed["size"][4], system["unlisted"][4]) == (8, 6, 0)
    assert len(listed["title"]) == len(listed["score"]) == 14
    assert listed["score"][:2] == [0.1235, None]
    assert system["gold_rank"][0] == 1


def test_where_all_candidates_are_listed_nothing_is_said_of_others(data: Any) -> None:
    (system,) = data["systems"]
    assert "unlisted" not in system
    assert "columns" not in system
    assert system["errors"] == {}


@pytest.mark.parametrize(
    ("given", "shown"), [(0.123456, 0.1235), (12345.6, 12350.0), (None, None), (float("inf"), None), (0.0, 0.0)]
)
def test_a_score_has_four_digits(given: float | None, shown: float | None) -> None:
    assert shorten(given) == shown
