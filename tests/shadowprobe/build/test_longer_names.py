"""A mention within a longer name that means something else to the wiki makes no snippet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from cutting import cut
from wiki_standin import RunningStandIn, StandIn, running

from shadowprobe.build.longer_names import LongerNames, list_longer_names
from shadowprobe.dataset.kept_pages import Cut

WALL = "On that day the people of the town saw the {name} and could not believe it."


def are_longer(
    cuts: list[Cut],
    server: RunningStandIn,
    directory: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[bool]:
    """Whether each of the snippets has a mention that is part of a longer name."""
    with closing(LongerNames(directory)) as names:
        for each in cuts:
            names.add(each)
        names.look_up(server.wiki(), progress)
        return [names.mean_another(each) for each in cuts]


def of(text: str, entity: str = "Berlin", space: str = "Berlin") -> Cut:
    """The one snippet of a text."""
    (found,), _ = cut(text, entity, space)
    return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningStandIn]:
    """A wiki that knows a few longer names."""
    standin = StandIn()
    for number, title in enumerate(("Berlin", "Berlin Wall", "East Berlin", "St. Berlin", "Apollo 11"), start=1):
        standin.add(title, number)
    standin.add("Berlin Brandenburg Airport", 10)
    standin.add("Great Berlin Fair", 11)
    for number, title in enumerate(("Berlin, New Hampshire", "Berlin (band)", "Berlin, East Prussia Hills"), start=12):
        standin.add(title, number)
    # One leads to the entity itself, one to something else.
    standin.leads = {"Capital Berlin": "Berlin", "Berlin Airlift": "Berlin Wall", "Berlin, Brandenburg": "Berlin"}
    with running(standin, tmp_path) as started:
        yield started


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Berlin Wall", True),
        ("Berlin Wall's end", True),
        ("East Berlin", True),
        ("“East Berlin”", True),
        ("St. Berlin", True),
        ("Berlin Brandenburg Airport", True),
        ("Great Berlin Fair", True),
        ("Berlin Airlift", True),
        # A qualifier that the page gives.
        ("Berlin, New Hampshire,", True),
        ("Berlin, New Hampshire Road", True),
        ("Berlin, East Prussia Hills,", True),
        ("Berlin (band)", True),
        ("Berlin, New Jersey,", False),
        ("Berlin (musicians)", False),
        # A redirect to the entity is another name of it.
        ("Capital Berlin", False),
        ("Berlin, Brandenburg,", False),
        # Nobody knows these.
        ("Berlin Street", False),
        ("Old Berlin", False),
        ("Berlin wall", False),
        ("east Berlin", False),
        # What stands between makes two names of them.
        ("Berlin, Wall", False),
        ("Berlin's Wall", False),
        ("Berlin (Wall)", False),
        ("East, Berlin", False),
        ("Berlin", False),
    ],
)
def test_a_mention_in_a_longer_name_that_means_something_else_is_left_out(
    name: str, known: bool, server: RunningStandIn, tmp_path: Path
) -> None:
    assert are_longer([of(WALL.format(name=name))], server, tmp_path) == [known]


def test_a_number_behind_a_name_belongs_to_it(server: RunningStandIn, tmp_path: Path) -> None:
    cuts = [of(WALL.format(name=name), "Apollo", "Apollo") for name in ("Apollo 11", "Apollo 12")]
    assert are_longer(cuts, server, tmp_path) == [True, False]


def test_every_mention_of_a_snippet_counts(server: RunningStandIn, tmp_path: Path) -> None:
    text = "Whoever has seen Berlin in the snow knows why the Berlin Wall was so cold to the hand."
    assert are_longer([of(text)], server, tmp_path) == [True]


def test_the_longer_name_has_the_title_and_not_the_name_of_the_space() -> None:
    snippet = of("They met on the Paul Smith Road and did not know what to say.", "Paul Smith", "Smith")
    assert snippet.text == "They met on the Smith Road and did not know what to say."
    assert list_longer_names(snippet) == {"Paul Smith Road"}


@pytest.mark.parametrize(
    ("written", "longer"),
    [
        ("Paul Smith Road", {"Paul Smith Road"}),
        ("Paul Smith (golfer)", {"Paul Smith (golfer)"}),
        ("Paul Smith, Golfer and", {"Paul Smith, Golfer"}),
        # Names of the entity itself are not longer names.
        ("Paul Smith (poet)", set()),
        ("Paul Smith", set()),
    ],
)
def test_a_longer_name_has_the_title_as_it_was_written_without_its_qualifier(written: str, longer: set[str]) -> None:
    snippet = of(f"They met on the {written} and did not know what to say.", "Paul Smith (poet)", "Smith")
    assert list_longer_names(snippet) == longer


def test_no_more_than_two_words_on_each_side_are_looked_at() -> None:
    snippet = of("It was the One Two Three Berlin Four Five Six that he had in mind.")
    before = ["", "Three ", "Two Three "]
    behind = ["", " Four", " Four Five"]
    assert list_longer_names(snippet) == {f"{a}Berlin{b}" for a in before for b in behind} - {"Berlin"}


def test_a_name_that_is_too_long_for_a_title_is_ignored() -> None:
    # With the space between them, 7 bytes and the word.
    texts = [f"All of them came to see Berlin W{'a' * length} in those days and were glad." for length in (247, 248)]
    assert [len(list_longer_names(of(text))) for text in texts] == [1, 0]


def test_without_longer_names_no_request_is_sent(server: RunningStandIn, tmp_path: Path) -> None:
    snippet = of("All of the people who came to see Berlin in those days were in a hurry.")
    assert are_longer([snippet], server, tmp_path) == [False]
    assert server.forms == []


def test_names_are_requested_once_and_fifty_at_a_time(server: RunningStandIn, tmp_path: Path) -> None:
    names = [f"Berlin Street{number:02d}" for number in range(60)]
    cuts = [of(WALL.format(name=name)) for name in [*names, *names]]
    steps: list[tuple[int, int]] = []
    assert not any(are_longer(cuts, server, tmp_path, lambda done, total: steps.append((done, total))))
    assert [len(form["titles"].split("|")) for form in server.forms] == [50, 10]
    assert steps == [(done, 60) for done in range(1, 61)]
