"""Stage 7: makes the subsets from the snippets, with a random choice for the benchmark part, and the card.

The snippets stay in their files, and only their places are in memory: 16 bytes each.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from shadowprobe.base.languages import Language
from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.base.spans import Span, is_inside_word
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.record_file import Records
from shadowprobe.build.record_index import RecordIndex, RecordTable, digest
from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.snippets import is_restorable
from shadowprobe.dataset.dataset import Card, Dataset, write_dataset
from shadowprobe.dataset.kept_pages import Cut, PageText
from shadowprobe.dataset.neutral import make_neutral_snippets
from shadowprobe.errors import BuildError

DRAWN_SUBSETS: tuple[Subset, ...] = ("top", "shadow", "tail")
# The number of page texts that are kept while snippets are checked.
REMEMBERED = 16


# The entities by title, in memory or in their file.
Entities = Mapping[str, FoundEntity] | RecordTable[FoundEntity]


class EntityCuts:
    """The snippets of each entity of a space; a tail entity is the only one of the space with its title."""

    def __init__(self, cuts: Records[Cut]) -> None:
        self._cuts = RecordIndex(cuts, lambda cut: [digest(cut.space, cut.entity)])

    def count_cuts(self, space: str, title: str) -> int:
        """Counts the snippets of an entity in a space."""
        return self._cuts.count(digest(space, title))

    def read_cuts(self, space: str, title: str) -> Iterator[Cut]:
        """Yields the snippets of an entity in a space, in the order of their file."""
        return self._cuts.find(digest(space, title))


class ChosenSpaces(EntityCuts):
    """The spaces with enough snippets, each with its entities, the most common first."""

    def __init__(self, cuts: Records[Cut]) -> None:
        super().__init__(cuts)
        self.spaces: list[EntitySpace] = []

    def list_shadows(self, space: EntitySpace) -> list[str]:
        """Lists the shadow entities of a space that have snippets."""
        return [title for title in space.shadows if self.count_cuts(space.name, title)]

    def shadow_median(self, entities: Entities) -> float:
        """The median commonness of the shadow entities that have snippets."""
        values = [entities[title].commonness for space in self.spaces for title in self.list_shadows(space)]
        return median(values) if values else 0.0


def choose_spaces(spaces: Iterable[FoundSpace], entities: Entities, cuts: Records[Cut], funnel: Funnel) -> ChosenSpaces:
    """Chooses the spaces whose most common entity and at least one other have snippets."""
    chosen = ChosenSpaces(cuts)
    for space in spaces:
        commonness = {title: entities[title].commonness for title in space.entities}
        ranked = sorted(space.entities, key=lambda title: (-commonness[title], title))
        with_snippets = [title for title in ranked if chosen.count_cuts(space.name, title)]
        if commonness[ranked[0]] == commonness[ranked[1]]:
            funnel.drop("no entity is more common than every other")
        elif ranked[0] not in with_snippets:
            funnel.drop("the most common entity has no snippet")
        elif len(with_snippets) < 2:
            funnel.drop("no other entity has a snippet")
        else:
            funnel.keep()
            chosen.spaces.append(EntitySpace(space.name, tuple(ranked)))
    return chosen


class TailCuts(EntityCuts):
    """The snippets of tail entities, and these entities in the order of their first snippets."""

    def __init__(self, cuts: Records[Cut]) -> None:
        super().__init__(cuts)
        self.titles = dict.fromkeys(cut.entity for cut in cuts)


class DrawnCut(NamedTuple):
    """A snippet, its id, and whether it was drawn for the benchmark; all others are for training."""

    name: str
    cut: Cut
    is_drawn: bool


class Draw:
    """Draws a Top and a Shadow snippet per name and one per tail entity at random, the same ones each time."""

    def __init__(self, chosen: ChosenSpaces, tail: TailCuts, name: str, seed: int) -> None:
        self.chosen, self.tail, self._name, self._seed = chosen, tail, name, seed

    def list_cuts(self, subset: Subset) -> Iterator[DrawnCut]:
        """Yields all snippets of a subset: name by name, and the drawn entity of a name first."""
        if subset == "tail":
            for number, title in enumerate(self.tail.titles, start=1):
                drawn = random.Random(f"{self._seed} tail {title}").randrange(self.tail.count_cuts(title, title))
                yield from _number_cuts(f"{self._name}-tail-{number:04d}", [self.tail.read_cuts(title, title)], drawn)
            return
        for number, space in enumerate(self.chosen.spaces, start=1):
            # Each name has its own random generator, so that one more name does not change the others.
            generator = random.Random(f"{self._seed} {space.name}")
            shadows = self.chosen.list_shadows(space)
            first = generator.choice(shadows)
            shadows = [first, *(title for title in shadows if title != first)]
            of_top, of_shadow = (
                generator.randrange(self.chosen.count_cuts(space.name, title)) for title in (space.top, first)
            )
            titles, drawn = ([space.top], of_top) if subset == "top" else (shadows, of_shadow)
            cuts = (self.chosen.read_cuts(space.name, title) for title in titles)
            yield from _number_cuts(f"{self._name}-{subset}-{number:04d}", cuts, drawn)

    def list_all(self) -> Iterator[tuple[Subset, DrawnCut]]:
        """Yields the snippets of all subsets."""
        return ((subset, drawn) for subset in DRAWN_SUBSETS for drawn in self.list_cuts(subset))

    def make_snippets(self, subset: Subset, *, are_drawn: bool) -> Iterator[Snippet]:
        """Yields the snippets of a subset for the benchmark, or those for training."""
        for name, cut, is_drawn in self.list_cuts(subset):
            if is_drawn == are_drawn:
                yield Snippet(
                    id=name,
                    subset=subset,
                    text=cut.text,
                    start=cut.start,
                    end=cut.end,
                    space=cut.space if subset != "tail" else None,
                    gold=cut.entity,
                    source=cut.url,
                )

    def make_neutral(self, language: Language) -> Iterator[Snippet]:
        """Yields the neutral contexts of all names."""
        return make_neutral_snippets((space.name for space in self.chosen.spaces), language.neutral, self._name)


def _number_cuts(name: str, cuts: Iterable[Iterable[Cut]], drawn: int) -> Iterator[DrawnCut]:
    """Gives the drawn snippet of the first entity the name itself, and the others numbers."""
    for place, of_entity in enumerate(cuts):
        for count, cut in enumerate(of_entity):
            is_drawn = (place, count) == (0, drawn)
            yield DrawnCut(name if is_drawn else f"{name}-{place}-{count}", cut, is_drawn)


class CutCheck:
    """Refuses a wrong snippet: its mention must be the space's name as whole words.

    With the title put back, or the title without its qualifier, it must be a sentence of the page.
    """

    def __init__(self, pages: RecordTable[PageText]) -> None:
        self._pages = pages
        # Snippets of one page usually come one after the other.
        self._read_text = lru_cache(REMEMBERED)(lambda url: pages[url].text)

    def check(self, cut: Cut) -> None:
        """Raises if a snippet is wrong."""
        if cut.text[cut.start : cut.end] != cut.space:
            raise _make_error(cut, f"the mention is {cut.text[cut.start : cut.end]!r}")
        if is_inside_word(cut.text, Span(cut.start, cut.end)):
            raise _make_error(cut, "the mention stands inside a longer word")
        if not is_restorable(cut):
            raise _make_error(cut, "putting the original name back does not give its sentence")
        if cut.url not in self._pages:
            raise _make_error(cut, "its page is not kept")
        if cut.original not in self._read_text(cut.url):
            raise _make_error(cut, "the page does not have its sentence")


def _make_error(cut: Cut, problem: str) -> BuildError:
    return BuildError(f"a snippet of {cut.entity!r} from {cut.url} is wrong, and nothing was written: {problem}")


def write_parts(
    out: Path,
    draw: Draw,
    entities: Entities,
    language: Language,
    card: Card,
    *,
    has_training: bool,
) -> Dataset:
    """Writes the benchmark into the directory, and the training part into `train` below it."""
    spaces = draw.chosen.spaces
    titles = dict.fromkeys([*(title for space in spaces for title in space.entities), *draw.tail.titles])
    train_title = f"{card.title}, what the benchmark leaves over"
    train_card = replace(card, name=f"{card.name}-train", title=train_title, build={})

    def write(path: Path, own_card: Card, snippets: Mapping[Subset, Iterable[Snippet]]) -> Dataset:
        listed = (_make_entity(entities[title]) for title in titles)
        return write_dataset(path, own_card, listed, spaces, snippets, force=True)

    if has_training:
        write(out / "train", train_card, {each: draw.make_snippets(each, are_drawn=False) for each in DRAWN_SUBSETS})
    benchmark = {subset: draw.make_snippets(subset, are_drawn=True) for subset in DRAWN_SUBSETS}
    return write(out, card, {**benchmark, "neutral": draw.make_neutral(language)})


def _make_entity(found: FoundEntity) -> Entity:
    return Entity(
        title=found.title,
        page_id=found.page_id,
        qid=found.qid,
        commonness=found.commonness,
        redirects=found.redirects,
    )
