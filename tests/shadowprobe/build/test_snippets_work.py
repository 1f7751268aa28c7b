"""What a page or many snippets may cost: as much again for twice as many, counted in steps and not by the clock."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, SupportsIndex

import pytest
from cutting import URL, around, cut

from shadowprobe.base.languages import Language
from shadowprobe.base.prose import Prose
from shadowprobe.base.spans import Span, find_name
from shadowprobe.build import snippets
from shadowprobe.build.near_duplicates import NearDuplicates
from shadowprobe.build.snippets import Cutter
from shadowprobe.dataset.kept_pages import Cut


def steps(call: Callable[[], object]) -> int:
    """How many instructions of the interpreter a call takes, which is the same each time."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "piece", [f"{around('Paul Smith')}\n", f"{around('Paul Smith')} ", "He saw Paul Smith. ", "Paul\nSmith and "]
)
@pytest.mark.parametrize("sentences", [0, 1])
def test_twice_the_mentions_take_twice_the_work(piece: str, sentences: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without the limits, that is.
    monkeypatch.setattr(snippets, "MOST_FAULTS", 10_000)
    monkeypatch.setattr(snippets, "LONGEST_PARAGRAPH", 1_000_000)
    cutter = Cutter(Language("en"), sentences=sentences, most=10_000)
    cut(piece, cutter=cutter)
    few, many = (steps(lambda times=times: cut(piece * times, cutter=cutter)) for times in (150, 300))  # type: ignore[misc]
    assert many < 2.2 * few


class Copied(str):
    """A text that counts the characters that are copied from it and from its parts."""

    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> Copied:
        found = Copied(super().__getitem__(key))
        Copied.copied += len(found)
        return found

    def __add__(self, other: str) -> Copied:
        return Copied(super().__add__(other))


def test_a_broken_line_does_not_copy_the_whole_page() -> None:
    prose = Prose("en")

    def copied(times: int) -> int:
        text = "He saw Paul\nSmith. " * times
        mentions = find_name(text, "Paul\nSmith")
        Copied.copied = 0
        page = snippets._Page(Copied(text), mentions, prose)
        assert page.split_paragraph(mentions[1])[0][1] == Span(19, 37)
        return Copied.copied

    assert copied(400) < 2.1 * copied(200)


def test_a_page_is_searched_once_for_the_common_word_that_a_name_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    def find(text: str, name: str) -> list[Span]:
        searched.append(name)
        return find_name(text, name)

    monkeypatch.setattr(snippets, "find_name", find)
    page = "Heat is what the people of the town had in the old hall.\n" * 100 + "They had no heat."
    assert cut(page, "Heat (magazine)", "Heat") == ([], {snippets.FIRST_WORD: 100})
    assert searched == ["heat"]


def test_the_mentions_within_a_span_are_those_that_end_in_it_too() -> None:
    page = snippets._Page("ab cd ef", [Span(0, 2), Span(3, 5), Span(6, 8)], Prose("en"))
    assert page.find_mentions(Span(3, 7)) == [Span(0, 2)]
    assert page.find_mentions(Span(1, 8)) == [Span(2, 4), Span(5, 7)]
    assert page.find_mentions(Span(4, 6)) == []


def test_a_page_is_left_after_hundreds_of_mentions_that_made_no_snippet() -> None:
    short, good = "He saw Paul Smith.\n", around("Paul Smith")
    found, dropped = cut(short * (299) + good)
    assert (len(found), dropped) == (1, {snippets.SHORT: 299})
    found, dropped = cut(short * (304) + good)
    assert (found, dropped) == ([], {snippets.SHORT: 300, snippets.GIVEN_UP: 5})


def test_a_paragraph_that_is_too_long_is_no_running_text_and_the_next_one_is() -> None:
    good = f"{around('Paul Smith')} "
    longest = good + "X" * (20_000 - len(good))
    found, dropped = cut(f"{good}\n{longest}\n{good}")
    assert ([each.place for each in found], dropped) == ([0, 1, 2], {})
    found, dropped = cut(f"{good}\n{longest}X\n{good}")
    assert ([each.place for each in found], dropped) == ([0, 2], {snippets.NOT_RUNNING: 1})


def villages(count: int, *, alike: int, unlike: int) -> list[Cut]:
    """Snippets with one opening of some words, and some words that no other has."""
    opening = ["Smith", *(f"word{at}" for at in range(alike - 1))]
    texts = [" ".join([*opening, *(f"own{number}x{at}" for at in range(unlike))]) for number in range(count)]
    return [Cut("Paul Smith", "Smith", text, 0, 5, "Paul Smith", text, URL, 0) for text in texts]


# All have 22 runs, the opening two fewer than words: at the most 18 in common of 26, which is not nearly the same.
@pytest.mark.parametrize(("alike", "unlike"), [(12, 12), (16, 8), (18, 6), (20, 4)])
def test_twice_the_snippets_with_one_opening_take_twice_the_work(alike: int, unlike: int) -> None:
    def work(count: int) -> int:
        cuts, dropped = villages(count, alike=alike, unlike=unlike), Counter[str]()
        seen = NearDuplicates()
        taken = steps(lambda: list(seen.drop(cuts, dropped)))
        assert dropped == {}
        return taken

    assert work(200) < 2.2 * work(100)


def test_an_opening_that_becomes_common_late_takes_no_more_work() -> None:
    seen = NearDuplicates()
    for cut_before in villages(400, alike=1, unlike=23):
        seen.add(cut_before.text.replace("own", "before"))

    def drop(cuts: list[Cut]) -> list[Cut]:
        return list(seen.drop(cuts, Counter()))

    early, late = (steps(partial(drop, cuts)) for cuts in _halves(villages(400, alike=20, unlike=4)))
    assert late < 1.5 * early


def _halves(cuts: list[Cut]) -> tuple[list[Cut], list[Cut]]:
    return cuts[: len(cuts) // 2], cuts[len(cuts) // 2 :]
