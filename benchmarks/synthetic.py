"""Datasets of any size in the shape of the ShadowLink release, of random words."""

from __future__ import annotations

import itertools
import random
import string
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.dataset.dataset import CARD, ENTITIES, SPACES, Card, Dataset, write_dataset

SEED = 7
RELEASE_SPACES, RELEASE_SNIPPETS = 904, 9_944
# As in the release: one Top, one Shadow and one Tail snippet to eight neutral ones.
SHARES: dict[Subset, int] = {"top": 1, "shadow": 1, "tail": 1, "neutral": 8}
# Words before and after a name, about as long as the texts of the release: 180 characters, neutral ones 90.
WORDS = {"neutral": 6}
OTHER_WORDS = 13
VOCABULARY = 5_000


class Shape:
    """How many names and how many snippets; the same numbers always make the same dataset.

    No two texts are the same, unless `repeating`: then all snippets of a name in a subset have one text. With
    `natural`, words are as unequally frequent as in a language, and a neutral template is the same for all names, as in
    the release.
    """

    def __init__(
        self,
        spaces: int = RELEASE_SPACES,
        snippets: int = RELEASE_SNIPPETS,
        *,
        repeating: bool = False,
        natural: bool = False,
    ) -> None:
        self.number_of_spaces, self.repeating, self.natural = spaces, repeating, natural
        parts = sum(SHARES.values())
        self.counts: dict[Subset, int] = {subset: snippets * share // parts for subset, share in SHARES.items()}
        self.counts["neutral"] += snippets - sum(self.counts.values())

    @cached_property
    def vocabulary(self) -> list[str]:
        """The words of all texts."""
        lot = random.Random(SEED)
        return ["".join(lot.choices(string.ascii_lowercase, k=lot.randint(2, 10))) for _ in range(VOCABULARY)]

    @cached_property
    def frequencies(self) -> list[float] | None:
        """How frequent the words are up to each of them, by Zipf's law; None where all are equally frequent."""
        return list(itertools.accumulate(1 / rank for rank in range(4, VOCABULARY + 4))) if self.natural else None

    @cached_property
    def spaces(self) -> list[EntitySpace]:
        """The names, with a top and a shadow entity each."""
        names = [self._name("M", number) for number in range(self.number_of_spaces)]
        return [EntitySpace(name, (f"{name} (top)", f"{name} (shadow)")) for name in names]

    @cached_property
    def tails(self) -> list[str]:
        """The entities that share their name with no other."""
        return [self._name("T", number) for number in range(self.number_of_spaces)]

    @cached_property
    def entities(self) -> list[Entity]:
        """All entities, with page ids as the release has them."""
        titles = [title for space in self.spaces for title in space.entities] + self.tails
        return [Entity(title, page_id=number) for number, title in enumerate(titles, start=1)]

    def snippets(self, subset: Subset) -> Iterator[Snippet]:
        """The snippets of a subset, name after name and round again."""
        lot = random.Random(f"{SEED} {subset}")
        first_round = lot.getstate()
        words = WORDS.get(subset, OTHER_WORDS)
        for number in range(self.counts[subset]):
            if self.repeating and number % self.number_of_spaces == 0:
                lot.setstate(first_round)
            name, gold = self._question(subset, number % self.number_of_spaces)
            if self.natural and subset == "neutral":
                lot.seed(number // self.number_of_spaces)
            before = " ".join(lot.choices(self.vocabulary, cum_weights=self.frequencies, k=words))
            after = " ".join(lot.choices(self.vocabulary, cum_weights=self.frequencies, k=words))
            yield Snippet(
                id=f"synthetic-{subset}-{number:07d}",
                subset=subset,
                text=f"{before} {name} {after}.",
                start=len(before) + 1,
                end=len(before) + 1 + len(name),
                space=name if subset != "tail" else None,
                gold=gold,
                template=number // self.number_of_spaces if subset == "neutral" else None,
            )

    def write(self, path: Path) -> Dataset:
        """Writes the dataset as shadowprobe does."""
        snippets = {subset: list(self.snippets(subset)) for subset in self.counts}
        return write_dataset(path, Card(name="synthetic"), self.entities, self.spaces, snippets)

    def stream(self, path: Path) -> None:
        """Writes the dataset snippet by snippet, for sizes that should not be held in memory."""
        path.mkdir(parents=True)
        encode = msgspec.json.Encoder().encode
        (path / CARD).write_bytes(encode(Card(name="synthetic")))
        parts = {ENTITIES: iter(self.entities), SPACES: iter(self.spaces)}
        parts |= {f"{subset}.jsonl": self.snippets(subset) for subset in self.counts}
        for name, items in parts.items():
            with (path / name).open("wb") as file:
                file.writelines(encode(item) + b"\n" for item in items)

    def _question(self, subset: Subset, number: int) -> tuple[str, str | None]:
        """The mention and its gold entity."""
        if subset == "tail":
            return self.tails[number], self.tails[number]
        space = self.spaces[number]
        gold = {"top": space.top, "shadow": space.shadows[0]}.get(subset)
        return space.name, gold

    def _name(self, prefix: str, number: int) -> str:
        return f"{prefix}{self.vocabulary[number % VOCABULARY]} {number}"
