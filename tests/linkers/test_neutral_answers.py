"""Answers in neutral contexts: linked once, in batches of whole names, and kept."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from world import NAMES

from shadowprobe import Dataset, Failure, Linker, LinkerError, Prediction, Snippet
from shadowprobe.base.languages import PLACE

NeutralAnswers: Any = import_module("shadowprobe.linkers._shared.neutral_answers").NeutralAnswers

TEMPLATES = (f"{PLACE} came up.", f"Why {PLACE}?")


class Counting(Linker):
    """Names the river of each mention, and counts what it is asked."""

    name = "counting"
    version: ClassVar[str] = "1"
    batch_size: ClassVar[int] = 5

    def __init__(self, broken: str = "", kind: type[Exception] = KeyError) -> None:
        self.asked: list[int] = []
        self.broken, self.kind = broken, kind

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        self.asked.append(len(snippets))
        if any(snippet.mention == self.broken for snippet in snippets):
            raise self.kind("broken")
        assert all(snippet.gold is None for snippet in snippets)
        return [self.answer(snippet, f"{snippet.mention} (river)") for snippet in snippets]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make(world: Dataset, linker: Linker, templates: tuple[str, ...] = TEMPLATES) -> Any:
    return NeutralAnswers(linker, world.knowledge, templates, {"name": linker.name})


def test_whole_names_fill_a_batch_and_each_is_linked_once(world: Dataset) -> None:
    linker = Counting()
    found = make(world, linker).find(NAMES)
    # Two contexts each, so that two names have room in a batch of five.
    assert linker.asked == [4, 4]
    assert list(found) == list(NAMES)
    assert [one.answer for one in found["Berg"] if isinstance(one, Prediction)] == ["Berg (river)"] * 2
    again = Counting()
    assert make(world, again).find(NAMES) == found
    assert again.asked == []


def test_a_name_with_more_contexts_than_a_batch_is_asked_alone(world: Dataset) -> None:
    linker = Counting()
    make(world, linker, tuple(f"{number} {PLACE}." for number in range(6))).find(NAMES[:2])
    assert linker.asked == [6, 6]


def test_other_templates_and_another_number_of_them_are_linked_again(world: Dataset) -> None:
    make(world, Counting()).find(["Avon"])
    for templates in (TEMPLATES[:1], (f"{PLACE} was here.", f"Why {PLACE}?")):
        linker = Counting()
        make(world, linker, templates).find(["Avon"])
        assert linker.asked == [len(templates)]


def test_without_a_version_nothing_is_kept(world: Dataset, cache: Path) -> None:
    class Unversioned(Counting):
        version = ""

    for _ in range(2):
        linker = Unversioned()
        make(world, linker).find(["Avon"])
        assert linker.asked == [2]
    assert not cache.exists()


def test_one_name_that_breaks_the_linker_costs_the_others_nothing(world: Dataset) -> None:
    linker = Counting(broken="Berg")
    found = make(world, linker).find(["Avon", "Berg", "Como"])
    # Both together, then each alone, then the third.
    assert linker.asked == [4, 2, 2, 2]
    assert [isinstance(found[name], list) for name in ("Avon", "Berg", "Como")] == [True, False, True]
    assert "broken" in str(found["Berg"])


def test_a_linker_that_cannot_go_on_is_not_asked_again(world: Dataset) -> None:
    linker = Counting(broken="Berg", kind=LinkerError)
    with pytest.raises(LinkerError, match="broken"):
        make(world, linker).find(["Avon", "Berg", "Como"])
    assert linker.asked == [4]


def test_a_prediction_that_is_missing_or_failed_is_the_reason(world: Dataset) -> None:
    class Partial(Counting):
        def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
            given = super().link(snippets)
            # Nothing for the second context of Avon, and a failure for the first of Berg.
            return [given[0], self.fail(snippets[2], "too long"), *given[3:]]

    found = make(world, Partial()).find(["Avon", "Berg"])
    assert found == {"Avon": "the linker gave no prediction", "Berg": "too long"}


def test_a_cache_that_cannot_be_written_is_said_once(world: Dataset, cache: Path) -> None:
    cache.write_text("a file")
    answers = make(world, Counting())
    assert len(answers.find(NAMES)) == 4
    assert str(cache) in answers.problem
