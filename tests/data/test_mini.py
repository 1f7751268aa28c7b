"""The promises of the data card of `mini`, each as a test."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from shadowprobe import Dataset, Snippet, open_dataset
from shadowprobe.base.model import Subset

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"person", "place", "organisation", "work", "species", "product", "team", "event", "ship", "concept"}


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


@pytest.fixture(scope="module")
def train() -> Dataset:
    return open_dataset("mini-train")


@pytest.fixture(scope="module")
def written(mini: Dataset, train: Dataset) -> list[Snippet]:
    """Every hand-written snippet of both parts."""
    return [snippet for part in (mini, train) for snippet in part.snippets() if snippet.subset != "neutral"]


def six_word_runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 6]) for i in range(len(words) - 5)}


def test_there_are_enough_names_entities_and_tail_entities(mini: Dataset) -> None:
    in_spaces = {title for space in mini.spaces.values() for title in space.entities}
    assert len(mini.spaces) >= 120
    assert len(in_spaces) >= 300
    assert len(set(mini.entities) - in_spaces) >= 120


def test_every_space_has_one_top_and_one_to_three_shadows(mini: Dataset) -> None:
    assert {len(space.entities) for space in mini.spaces.values()} <= {2, 3, 4}


def test_every_kind_of_thing_occurs_often(mini: Dataset) -> None:
    kinds = Counter(entity.kind for entity in mini.entities.values())
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 10


def test_every_title_contains_the_name_of_its_space_as_whole_words(mini: Dataset) -> None:
    for space in mini.spaces.values():
        for title in space.entities:
            assert re.search(rf"(?<!\w){re.escape(space.name)}(?!\w)", title), (space.name, title)


def test_every_entity_has_at_least_two_snippets(mini: Dataset, written: list[Snippet]) -> None:
    counts = Counter(snippet.gold for snippet in written)
    assert min(counts[title] for title in mini.entities) >= 2


def test_every_snippet_has_15_to_45_words(written: list[Snippet]) -> None:
    assert {snippet.id for snippet in written if not 15 <= len(snippet.text.split()) <= 45} == set()


def test_the_mention_is_exactly_the_name_and_no_part_of_a_longer_word(written: list[Snippet]) -> None:
    for snippet in written:
        if snippet.space is not None:
            assert snippet.mention == snippet.space
        around = snippet.text[max(0, snippet.start - 1) : snippet.start] + snippet.text[snippet.end : snippet.end + 1]
        assert not any(character.isalnum() for character in around), snippet.id


def test_no_snippet_gives_its_entity_away_by_the_full_title(written: list[Snippet]) -> None:
    for snippet in written:
        if snippet.space is not None and snippet.gold not in {None, snippet.space}:
            assert snippet.gold not in snippet.text, snippet.id


def test_mentions_stand_at_the_start_in_the_middle_and_at_the_end(written: list[Snippet]) -> None:
    named = [snippet for snippet in written if snippet.space is not None]
    first = sum(snippet.start <= 1 for snippet in named)
    last = sum(len(re.findall(r"\w+", snippet.text[snippet.end :])) <= 3 for snippet in named)
    for share in (first, last, len(named) - first - last):
        assert share >= len(named) * 0.15


def test_some_snippets_have_the_name_twice(written: list[Snippet]) -> None:
    twice = [snippet for snippet in written if snippet.space and snippet.text.count(snippet.space) > 1]
    assert len(twice) >= len(written) * 0.05
    assert any(snippet.text.index(snippet.mention) != snippet.start for snippet in twice)


def test_no_two_snippets_begin_with_the_same_four_words(written: list[Snippet]) -> None:
    named = [snippet for snippet in written if snippet.start > 0]
    openings = Counter(tuple(snippet.text.lower().split()[:4]) for snippet in named)
    assert [opening for opening, count in openings.items() if count > 2] == []


def test_a_description_shares_no_run_of_six_words_with_a_snippet(mini: Dataset, written: list[Snippet]) -> None:
    for snippet in written:
        description = mini.entities[snippet.gold or ""].description or ""
        assert not six_word_runs(description) & six_word_runs(snippet.text), snippet.id


def test_every_entity_has_a_description_of_one_or_two_sentences(mini: Dataset) -> None:
    for entity in mini.entities.values():
        assert entity.description
        assert 8 <= len(entity.description.split()) <= 60


def test_there_are_no_invented_counts(mini: Dataset) -> None:
    assert all(entity.commonness is None for entity in mini.entities.values())
    assert "editorial judgement" in mini.card.made


def test_the_benchmark_has_one_snippet_per_entity_and_one_shadow_per_space(mini: Dataset) -> None:
    subsets: tuple[Subset, ...] = ("top", "shadow")
    for subset in subsets:
        assert [snippet.space for snippet in mini.snippets(subset)] == list(mini.spaces)
    assert mini.count("tail") == len({snippet.gold for snippet in mini.snippets("tail")})


def test_the_two_parts_share_no_text(mini: Dataset, train: Dataset) -> None:
    parts = [{snippet.text for snippet in part.snippets()} for part in (mini, train)]
    assert not parts[0] & parts[1]


def test_every_name_stands_in_seven_neutral_contexts(mini: Dataset) -> None:
    counts = Counter(snippet.space for snippet in mini.snippets("neutral"))
    assert set(counts) == set(mini.spaces)
    assert set(counts.values()) == {7}
    assert len({snippet.template for snippet in mini.snippets("neutral")}) == 7


def test_neutral_contexts_are_not_those_of_the_release(mini: Dataset) -> None:
    texts = " ".join(snippet.text for snippet in mini.snippets("neutral"))
    for theirs in ("scarcity", "trees gossip", "candied teapots", "I scream", "why not", "whole different story"):
        assert theirs not in texts


def test_the_data_card_gives_the_counts_of_the_data(mini: Dataset, train: Dataset) -> None:
    card = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    subsets: tuple[Subset, ...] = ("top", "shadow", "tail", "neutral")
    for part in (mini, train, open_dataset("places")):
        row = next(line for line in card.splitlines() if line.startswith(f"| `{part.name}` |"))
        cells = [cell.strip().replace(",", "") for cell in row.split("|")[2:-1]]
        expected = [len(part.spaces), len(part.entities), *(part.count(subset) for subset in subsets)]
        assert cells == [str(number) for number in expected]


def test_the_sources_give_the_same_bytes(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "make_mini.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path)], check=True, capture_output=True)
    for part in ("mini", "mini-train"):
        built = {path.name: path.read_bytes() for path in (tmp_path / part).iterdir()}
        shipped = {path.name: path.read_bytes() for path in (ROOT / "data" / part).iterdir()}
        assert built == shipped
