"""The snippets that people are asked about, drawn from Top and Shadow evenly."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from shadowprobe.dataset import Dataset
from shadowprobe.errors import InputError, UsageError
from shadowprobe.jsonl import encode_lines, read_json
from shadowprobe.model import Entity, Snippet

SCHEMA = 1
KEY = "sample.json"

Asked = Literal["top", "shadow"]


class Choice(Struct, frozen=True, omit_defaults=True):
    """An entity that an annotator may choose, without its commonness."""

    title: str
    description: str | None = None


class Question(Struct, frozen=True):
    """What an annotator sees of a snippet: its id and its subset would give the answer away."""

    item: int
    before: str
    mention: str
    after: str
    choices: tuple[Choice, Choice]


class Item(Struct, frozen=True):
    """What was asked under a number, and the right answer."""

    item: int
    id: str
    subset: Asked
    space: str
    choices: tuple[str, str]
    gold: str


class Key(Struct, frozen=True):
    """What `sample.json` holds: needed to score answers, and not for the eyes of annotators."""

    sample: str
    name: str
    dataset: str
    digest: str
    seed: int
    items: tuple[Item, ...]
    schema: int = SCHEMA


class Sample(Struct, frozen=True):
    """The questions, and apart from them the key."""

    questions: tuple[Question, ...]
    key: Key
    language: str


def draw(dataset: Dataset, n: int, seed: int, name: str | None = None) -> Sample:
    """Draws snippets from Top and Shadow in turn, Shadow first; a name comes again only when all names have come."""
    pools: dict[Asked, list[Snippet]] = {
        "shadow": _eligible(dataset, "shadow"),
        "top": _eligible(dataset, "top"),
    }
    _check(dataset, n, pools)
    generator = random.Random(seed)
    for pool in pools.values():
        generator.shuffle(pool)
    drawn = [(snippet, _choices(dataset, snippet, pools["shadow"], seed)) for snippet in _in_turn(pools, n)]
    generator.shuffle(drawn)
    questions = tuple(_question(dataset, number, *pair) for number, pair in enumerate(drawn, start=1))
    items = tuple(_item(number, *pair) for number, pair in enumerate(drawn, start=1))
    key = Key(_digest(questions), name or dataset.name, dataset.name, dataset.digest, seed, items)
    return Sample(questions, key, dataset.card.language)


def read_key(path: Path) -> Key:
    """The key of a sample, from its directory or its file."""
    file = path / KEY if path.is_dir() else path
    key = read_json(file, Key)
    if key.schema != SCHEMA:
        raise InputError(file, f"is {key.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    if [item.item for item in key.items] != list(range(1, len(key.items) + 1)):
        raise InputError(file, "are not numbered 1, 2, 3 and so on", field="items")
    for item in key.items:
        if item.gold not in item.choices:
            raise InputError(file, f"{item.gold!r} is none of the choices of item {item.item}", field="gold")
    return key


def _eligible(dataset: Dataset, subset: Asked) -> list[Snippet]:
    """The snippets whose name has two entities to choose from."""
    return [one for one in dataset.snippets(subset) if dataset.spaces[one.space or ""].shadows]


def _check(dataset: Dataset, n: int, pools: dict[Asked, list[Snippet]]) -> None:
    tops, shadows = len(pools["top"]), len(pools["shadow"])
    most = min(2 * tops + 1, 2 * shadows)
    if not tops or not shadows:
        lacking = "Top" if not tops else "Shadow"
        raise UsageError(f"`{dataset.name}` has no {lacking} snippets of a name with two entities: nothing to choose")
    if n > most:
        raise UsageError(f"--n {n}: `{dataset.name}` has {tops} Top and {shadows} Shadow snippets; {most} at most")


def _in_turn(pools: dict[Asked, list[Snippet]], n: int) -> list[Snippet]:
    """n snippets, one from each pool in turn, each of a name that has come least often so far."""
    left = {subset: _by_space(pool) for subset, pool in pools.items()}
    come: Counter[str] = Counter()
    subsets = list(pools)
    drawn = []
    for place in range(n):
        spaces = left[subsets[place % len(subsets)]]
        space = min(spaces, key=come.__getitem__)
        drawn.append(spaces[space].pop())
        come[space] += 1
        if not spaces[space]:
            del spaces[space]
    return drawn


def _by_space(pool: Iterable[Snippet]) -> dict[str, list[Snippet]]:
    found: defaultdict[str, list[Snippet]] = defaultdict(list)
    for snippet in pool:
        found[snippet.space or ""].append(snippet)
    return dict(found)


def _choices(dataset: Dataset, snippet: Snippet, shadows: Iterable[Snippet], seed: int) -> tuple[str, str]:
    """The top entity and a shadow entity of the name, in an order that says nothing of which is which."""
    space = dataset.spaces[snippet.space or ""]
    # Seeded by the snippet too: a larger sample asks the same of the snippets that a smaller one has.
    generator = random.Random(f"{seed} {snippet.id}")
    if snippet.subset == "shadow":
        other = snippet.gold or ""
    else:
        # Only what Shadow snippets mean: another rival would tell the annotator that this is a Top snippet.
        meant = sorted({one.gold or "" for one in shadows if one.space == space.name})
        other = generator.choice(meant or list(space.shadows))
    pair = [space.top, other]
    generator.shuffle(pair)
    return pair[0], pair[1]


def _question(dataset: Dataset, number: int, snippet: Snippet, choices: tuple[str, str]) -> Question:
    first, second = (_choice(dataset.entities[title]) for title in choices)
    before, after = snippet.text[: snippet.start], snippet.text[snippet.end :]
    return Question(number, before, snippet.mention, after, (first, second))


def _choice(entity: Entity) -> Choice:
    return Choice(entity.title, entity.description or None)


def _item(number: int, snippet: Snippet, choices: tuple[str, str]) -> Item:
    subset: Asked = "top" if snippet.subset == "top" else "shadow"
    return Item(number, snippet.id, subset, snippet.space or "", choices, snippet.gold or "")


def _digest(questions: Iterable[Question]) -> str:
    """What tells one sample from another; begins with a letter, or a spreadsheet may read it as a number."""
    return f"s{hashlib.sha256(encode_lines(questions)).hexdigest()[:12]}"
