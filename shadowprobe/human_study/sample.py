"""Draws the snippets for annotators, equally many from Top and Shadow."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from shadowprobe.base.jsonl import encode_lines, read_json
from shadowprobe.base.model import Snippet
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import InputError, UsageError

SCHEMA = 1
KEY = "sample.json"

SampledSubset = Literal["top", "shadow"]


class EntityChoice(Struct, frozen=True, omit_defaults=True):
    """An entity that an annotator can choose, without its commonness."""

    title: str
    description: str | None = None


class FormQuestion(Struct, frozen=True):
    """The part of a snippet that annotators see; its id and its subset would reveal the answer."""

    item: int
    before: str
    mention: str
    after: str
    choices: tuple[EntityChoice, EntityChoice]


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


class Sample(Struct, frozen=True):
    """The questions and the key."""

    questions: tuple[FormQuestion, ...]
    key: AnswerKey
    language: str


def draw_sample(dataset: Dataset, n: int, seed: int, name: str | None = None) -> Sample:
    """Draws snippets from Shadow and Top in turn; a name is repeated only after all names were drawn."""
    pools: dict[SampledSubset, list[Snippet]] = {
        "shadow": _list_eligible(dataset, "shadow"),
        "top": _list_eligible(dataset, "top"),
    }
    _check_size(dataset, n, pools)
    generator = random.Random(seed)
    for pool in pools.values():
        generator.shuffle(pool)
    drawn = [(snippet, _draw_choices(dataset, snippet, pools["shadow"], seed)) for snippet in _draw_snippets(pools, n)]
    generator.shuffle(drawn)
    questions = tuple(_make_question(dataset, number, *pair) for number, pair in enumerate(drawn, start=1))
    items = tuple(_make_item(number, *pair) for number, pair in enumerate(drawn, start=1))
    key = AnswerKey(_hash_questions(questions), name or dataset.name, dataset.name, dataset.digest, seed, items)
    return Sample(questions, key, dataset.card.language)


def read_key(path: Path) -> AnswerKey:
    """Reads the key of a sample from its directory or its file."""
    file = path / KEY if path.is_dir() else path
    key = read_json(file, AnswerKey, schema=SCHEMA)
    if [item.item for item in key.items] != list(range(1, len(key.items) + 1)):
        raise InputError(file, "are not numbered 1, 2, 3 and so on", field="items")
    for item in key.items:
        if item.gold not in item.choices:
            raise InputError(file, f"{item.gold!r} is not one of the choices of item {item.item}", field="gold")
    return key


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


def _draw_snippets(pools: dict[SampledSubset, list[Snippet]], n: int) -> list[Snippet]:
    """Draws n snippets, from each pool in turn, each of a name that was drawn least often so far."""
    remaining = {subset: _group_by_space(pool) for subset, pool in pools.items()}
    times_drawn: Counter[str] = Counter()
    subsets = list(pools)
    drawn = []
    for number in range(n):
        spaces = remaining[subsets[number % len(subsets)]]
        space = min(spaces, key=times_drawn.__getitem__)
        drawn.append(spaces[space].pop())
        times_drawn[space] += 1
        if not spaces[space]:
            del spaces[space]
    return drawn


def _group_by_space(pool: Iterable[Snippet]) -> dict[str, list[Snippet]]:
    groups: defaultdict[str, list[Snippet]] = defaultdict(list)
    for snippet in pool:
        groups[snippet.space or ""].append(snippet)
    return dict(groups)


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
    first, second = (EntityChoice(entity.title, entity.description or None) for entity in entities)
    before, after = snippet.text[: snippet.start], snippet.text[snippet.end :]
    return FormQuestion(number, before, snippet.mention, after, (first, second))


def _make_item(number: int, snippet: Snippet, choices: tuple[str, str]) -> KeyItem:
    subset: SampledSubset = "top" if snippet.subset == "top" else "shadow"
    return KeyItem(number, snippet.id, subset, snippet.space or "", choices, snippet.gold or "")


def _hash_questions(questions: Iterable[FormQuestion]) -> str:
    """Returns an id of the sample; it begins with a letter, so that a spreadsheet does not read it as a number."""
    return f"s{hashlib.sha256(encode_lines(questions)).hexdigest()[:12]}"
