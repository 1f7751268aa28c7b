"""Draws the snippets for annotators, equally many from Top and Shadow."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import ClassVar, Literal

from msgspec import Struct

from shadowprobe.base.model import Snippet
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import UsageError
from shadowprobe.human_study.sample import SCHEMA, Choice, FormQuestion, Sample, Study, draw_in_turn, hash_questions

# As many as in the paper.
SIZE = 91

SampledSubset = Literal["top", "shadow"]


class KeyItem(Struct, frozen=True):
    """The question with a number, and its correct answer."""

    item: int
    id: str
    subset: SampledSubset
    space: str
    choices: tuple[str, str]
    gold: str


class AnswerKey(Struct, frozen=True):
    """The content of `sample.json`: needed to score answers, and not shown to annotators."""

    sample: str
    name: str
    dataset: str
    digest: str
    seed: int
    items: tuple[KeyItem, ...]
    schema: int = SCHEMA
    # Not in the file: one that names no study is of this one.
    study: ClassVar[Study] = "shadowlink"
    # Two entities, or the context is not sufficient.
    choices: ClassVar[int] = 3

    def text_of(self, item: int, choice: int) -> str | None:
        """Nothing is marked in this study."""
        return None

    def find_problems(self) -> Iterator[tuple[str, str]]:
        """The fields of items that cannot be right, with their problems."""
        for item in self.items:
            if item.gold not in item.choices:
                yield "gold", f"{item.gold!r} is not one of the choices of item {item.item}"


def draw_sample(dataset: Dataset, n: int, seed: int, name: str | None = None) -> Sample[AnswerKey]:
    """Draws snippets from Shadow and Top in turn; a name is repeated only after all names were drawn."""
    pools: dict[SampledSubset, list[Snippet]] = {
        "shadow": _list_eligible(dataset, "shadow"),
        "top": _list_eligible(dataset, "top"),
    }
    _check_size(dataset, n, pools)
    generator = random.Random(seed)
    for pool in pools.values():
        generator.shuffle(pool)
    snippets = draw_in_turn(pools, n, lambda snippet: snippet.space or "")
    drawn = [(snippet, _draw_choices(dataset, snippet, pools["shadow"], seed)) for snippet in snippets]
    generator.shuffle(drawn)
    questions = tuple(_make_question(dataset, number, *pair) for number, pair in enumerate(drawn, start=1))
    items = tuple(_make_item(number, *pair) for number, pair in enumerate(drawn, start=1))
    key = AnswerKey(hash_questions(questions), name or dataset.name, dataset.name, dataset.digest, seed, items)
    return Sample(questions, key, dataset.card.language)


def _list_eligible(dataset: Dataset, subset: SampledSubset) -> list[Snippet]:
    """Lists the snippets whose name has at least two entities."""
    return [snippet for snippet in dataset.snippets(subset) if dataset.spaces[snippet.space or ""].shadows]


def _check_size(dataset: Dataset, n: int, pools: dict[SampledSubset, list[Snippet]]) -> None:
    tops, shadows = len(pools["top"]), len(pools["shadow"])
    most = min(2 * tops + 1, 2 * shadows)
    if not tops or not shadows:
        lacking = "Top" if not tops else "Shadow"
        raise UsageError(f"`{dataset.name}` has no {lacking} snippets of a name with two entities: nothing to choose")
    if n > most:
        raise UsageError(f"--n {n}: `{dataset.name}` has {tops} Top and {shadows} Shadow snippets; {most} at most")


def _draw_choices(dataset: Dataset, snippet: Snippet, shadows: Iterable[Snippet], seed: int) -> tuple[str, str]:
    """Returns the top entity and a shadow entity of the name, in random order."""
    space = dataset.spaces[snippet.space or ""]
    # The seed depends on the snippet, so that a snippet has the same choices in samples of any size.
    generator = random.Random(f"{seed} {snippet.id}")
    if snippet.subset == "shadow":
        other = snippet.gold or ""
    else:
        # Only gold entities of Shadow snippets are offered: another entity would show that this is a Top snippet.
        golds = sorted({shadow.gold or "" for shadow in shadows if shadow.space == space.name})
        other = generator.choice(golds or list(space.shadows))
    pair = [space.top, other]
    generator.shuffle(pair)
    return pair[0], pair[1]


def _make_question(dataset: Dataset, number: int, snippet: Snippet, choices: tuple[str, str]) -> FormQuestion:
    entities = (dataset.entities[title] for title in choices)
    first, second = (Choice(entity.title, entity.description or None) for entity in entities)
    before, after = snippet.text[: snippet.start], snippet.text[snippet.end :]
    return FormQuestion(number, before, snippet.mention, after, (first, second))


def _make_item(number: int, snippet: Snippet, choices: tuple[str, str]) -> KeyItem:
    subset: SampledSubset = "top" if snippet.subset == "top" else "shadow"
    return KeyItem(number, snippet.id, subset, snippet.space or "", choices, snippet.gold or "")
