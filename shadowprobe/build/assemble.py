"""Stage 7: the subsets from what was cut, the benchmark part drawn by lot, and a card that accounts for it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct, field

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.languages import Language
from shadowprobe.build.neutral import neutral_snippets
from shadowprobe.build.records import Cut, FoundEntity, FoundSpace, PageText
from shadowprobe.build.snippets import restores
from shadowprobe.dataset import Card, Dataset, write_dataset
from shadowprobe.errors import BuildError
from shadowprobe.formats.spans import Span, inside_word
from shadowprobe.model import Entity, EntitySpace, Snippet, Subset

# Commonness is spread over many orders of magnitude: the bins of its distribution grow tenfold in two steps.
BINS = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


class Chosen(Struct):
    """The spaces that have what it takes, each with its entities from the most common down."""

    spaces: list[EntitySpace] = field(default_factory=list)
    cuts: dict[tuple[str, str], list[Cut]] = field(default_factory=dict)

    def of(self, name: str, titles: Iterable[str]) -> list[list[Cut]]:
        """The snippets of some entities of a name."""
        return [self.cuts[name, title] for title in titles]

    def shadow_median(self, entities: Mapping[str, FoundEntity]) -> float:
        """The median commonness of the shadow entities that have snippets."""
        found = [
            entities[title].commonness
            for space in self.spaces
            for title in space.shadows
            if (space.name, title) in self.cuts
        ]
        return median(found) if found else 0.0


def choose_spaces(
    spaces: Iterable[FoundSpace], entities: Mapping[str, FoundEntity], cuts: Iterable[Cut], funnel: Funnel
) -> Chosen:
    """The spaces whose most common entity and at least one other have snippets."""
    chosen = Chosen()
    by_pair: dict[tuple[str, str], list[Cut]] = defaultdict(list)
    for cut in cuts:
        by_pair[cut.space, cut.entity].append(cut)
    for space in spaces:
        ranked = sorted(space.entities, key=lambda title: (-entities[title].commonness, title))
        top, second = (entities[title].commonness for title in ranked[:2])
        with_snippets = [title for title in ranked if (space.name, title) in by_pair]
        if top == second:
            funnel.drop("no entity is more common than every other")
        elif ranked[0] not in with_snippets:
            funnel.drop("the most common entity has no snippet")
        elif len(with_snippets) < 2:
            funnel.drop("no other entity has a snippet")
        else:
            funnel.keep()
            chosen.spaces.append(EntitySpace(space.name, tuple(ranked)))
            chosen.cuts |= {(space.name, title): by_pair[space.name, title] for title in with_snippets}
    return chosen


class Parts(Struct):
    """The snippets of the benchmark and of what it leaves over."""

    benchmark: dict[Subset, list[Snippet]]
    train: dict[Subset, list[Snippet]]


def share_out(chosen: Chosen, tail: Mapping[str, Sequence[Cut]], language: Language, name: str, seed: int) -> Parts:
    """By lot one snippet of Top and one of Shadow for each name, and one for each tail entity; the rest is to train."""
    parts = Parts({"top": [], "shadow": [], "tail": [], "neutral": []}, {"top": [], "shadow": [], "tail": []})
    for number, space in enumerate(chosen.spaces, start=1):
        # A lottery for each name: a name more or less changes nothing of the others.
        lottery = random.Random(f"{seed} {space.name}")
        shadows = [title for title in space.shadows if (space.name, title) in chosen.cuts]
        drawn = lottery.choice(shadows)
        shadows.sort(key=lambda title: title != drawn)
        chances: tuple[tuple[Subset, list[str]], ...] = (("top", [space.top]), ("shadow", shadows))
        for subset, titles in chances:
            _share(parts, subset, f"{name}-{subset}-{number:04d}", chosen.of(space.name, titles), lottery)
    for number, (title, cuts) in enumerate(tail.items(), start=1):
        lottery = random.Random(f"{seed} tail {title}")
        _share(parts, "tail", f"{name}-tail-{number:04d}", [cuts], lottery)
    parts.benchmark["neutral"] = list(neutral_snippets((space.name for space in chosen.spaces), language, name))
    return parts


def _share(parts: Parts, subset: Subset, name: str, cuts: Sequence[Sequence[Cut]], lottery: random.Random) -> None:
    """Draws one snippet of the first entity for the benchmark; its others, and other entities', are for training."""
    drawn = lottery.randrange(len(cuts[0]))
    for place, of_entity in enumerate(cuts):
        for count, cut in enumerate(of_entity):
            in_benchmark = (place, count) == (0, drawn)
            target = parts.benchmark if in_benchmark else parts.train
            target[subset].append(
                Snippet(
                    id=name if in_benchmark else f"{name}-{place}-{count}",
                    subset=subset,
                    text=cut.text,
                    start=cut.start,
                    end=cut.end,
                    space=cut.space if subset != "tail" else None,
                    gold=cut.entity,
                    source=cut.url,
                )
            )


def check_cuts(cuts: Iterable[Cut], texts: Iterable[PageText]) -> None:
    """Refuses a dataset with one wrong span: the mention is the name, stands alone, and the page has the sentence."""
    by_url: dict[str, list[Cut]] = defaultdict(list)
    for cut in cuts:
        if cut.text[cut.start : cut.end] != cut.space:
            raise _wrong(cut, f"the mention is {cut.text[cut.start : cut.end]!r}")
        if inside_word(cut.text, Span(cut.start, cut.end)):
            raise _wrong(cut, "the mention stands inside a longer word")
        if not restores(cut):
            raise _wrong(cut, "putting the full name back does not give its sentence")
        by_url[cut.url].append(cut)
    for page in texts:
        for cut in by_url.pop(page.url, ()):
            if cut.original not in page.text:
                raise _wrong(cut, "the page does not have its sentence")
    for left in by_url.values():
        raise _wrong(left[0], "its page is not kept")


def _wrong(cut: Cut, problem: str) -> BuildError:
    return BuildError(f"a snippet of {cut.entity!r} from {cut.url} is wrong, and nothing was written: {problem}")


def write_parts(
    out: Path,
    parts: Parts,
    chosen: Chosen,
    entities: Mapping[str, FoundEntity],
    tail: Iterable[str],
    card: Card,
) -> Dataset:
    """Writes the benchmark into the directory, and what it leaves over into `train` below it."""
    listed = dict.fromkeys([title for space in chosen.spaces for title in space.entities] + list(tail))
    found = [_entity(entities[title]) for title in listed]
    train_card = Card(
        name=f"{card.name}-train",
        language=card.language,
        title=f"{card.title}, what the benchmark leaves over",
        source=card.source,
        license=card.license,
        made=card.made,
    )
    if any(parts.train.values()):
        write_dataset(out / "train", train_card, found, chosen.spaces, parts.train, force=True)
    return write_dataset(out, card, found, chosen.spaces, parts.benchmark, force=True)


def _entity(found: FoundEntity) -> Entity:
    return Entity(
        title=found.title,
        page_id=found.page_id,
        qid=found.qid,
        commonness=found.commonness,
        redirects=found.redirects,
    )


def table_1(parts: Parts, sentences: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """The statistics of the paper's Table 1, over benchmark and training part together."""
    rows = {}
    for subset in ("top", "shadow", "neutral", "tail"):
        snippets = [*parts.benchmark.get(subset, ()), *parts.train.get(subset, ())]
        if snippets:
            rows[subset] = {
                "spaces": len({snippet.space for snippet in snippets if snippet.space is not None}),
                "entities": len({snippet.gold for snippet in snippets if snippet.gold is not None}),
                "snippets": len(snippets),
                "words": _mean(len(snippet.text.split()) for snippet in snippets),
                "sentences": _mean(sentences.get(snippet.text, 1) for snippet in snippets),
            }
    return rows


def _mean(numbers: Iterable[int]) -> float:
    counted = list(numbers)
    return round(sum(counted) / len(counted), 2)


def distribution(parts: Parts, entities: Mapping[str, FoundEntity]) -> dict[str, Any]:
    """How common the entities of each subset are (Fig. 3): counts in bins that grow tenfold in two steps."""
    found: dict[str, Any] = {"bins": list(BINS)}
    for subset in ("top", "shadow", "tail"):
        snippets = [*parts.benchmark.get(subset, ()), *parts.train.get(subset, ())]
        values = [entities[title].commonness for title in sorted({snippet.gold or "" for snippet in snippets})]
        if values:
            edges = [*BINS, float("inf")]
            counts = [sum(low <= value < high for value in values) for low, high in pairwise(edges)]
            found[subset] = {"counts": counts, "median": median(values), "least": min(values), "most": max(values)}
    return found
