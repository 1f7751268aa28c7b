"""Stage 7: makes the subsets from the snippets, with a random choice for the benchmark part, and the card."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.languages import Language
from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.base.spans import Span, is_inside_word
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.qualifiers import is_full_title
from shadowprobe.build.records import Crawled, FoundEntity, FoundSpace
from shadowprobe.build.snippets import is_restorable
from shadowprobe.dataset.dataset import Card, Dataset, write_dataset
from shadowprobe.dataset.kept_pages import Cut, PageText
from shadowprobe.dataset.neutral import make_neutral_snippets
from shadowprobe.errors import BuildError

# Commonness covers many orders of magnitude, so the bins of its distribution grow tenfold in two steps.
BINS = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


class ChosenSpaces(Struct):
    """The spaces with enough snippets, each with its entities, the most common first."""

    spaces: list[EntitySpace] = field(default_factory=list)
    cuts: dict[tuple[str, str], list[Cut]] = field(default_factory=dict)

    def shadow_median(self, entities: Mapping[str, FoundEntity]) -> float:
        """The median commonness of the shadow entities that have snippets."""
        values = [
            entities[title].commonness
            for space in self.spaces
            for title in space.shadows
            if (space.name, title) in self.cuts
        ]
        return median(values) if values else 0.0


def choose_spaces(
    spaces: Iterable[FoundSpace], entities: Mapping[str, FoundEntity], cuts: Iterable[Cut], funnel: Funnel
) -> ChosenSpaces:
    """Chooses the spaces whose most common entity and at least one other have snippets."""
    chosen = ChosenSpaces()
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
    """The snippets of the benchmark and of the training part."""

    benchmark: dict[Subset, list[Snippet]]
    train: dict[Subset, list[Snippet]]


def split_cuts(
    chosen: ChosenSpaces, tail: Mapping[str, Sequence[Cut]], language: Language, name: str, seed: int
) -> Parts:
    """Draws a Top and a Shadow snippet per name and one per tail entity at random; the others are for training."""
    parts = Parts({"top": [], "shadow": [], "tail": [], "neutral": []}, {"top": [], "shadow": [], "tail": []})
    for number, space in enumerate(chosen.spaces, start=1):
        # Each name has its own random generator, so that one more name does not change the others.
        generator = random.Random(f"{seed} {space.name}")
        shadows = [title for title in space.shadows if (space.name, title) in chosen.cuts]
        drawn = generator.choice(shadows)
        shadows.sort(key=lambda title: title != drawn)
        entities: tuple[tuple[Subset, list[str]], ...] = (("top", [space.top]), ("shadow", shadows))
        for subset, titles in entities:
            cuts_of_space = [chosen.cuts[space.name, title] for title in titles]
            _split(parts, subset, f"{name}-{subset}-{number:04d}", cuts_of_space, generator)
    for number, (title, cuts) in enumerate(tail.items(), start=1):
        generator = random.Random(f"{seed} tail {title}")
        _split(parts, "tail", f"{name}-tail-{number:04d}", [cuts], generator)
    names = (space.name for space in chosen.spaces)
    parts.benchmark["neutral"] = list(make_neutral_snippets(names, language.neutral, name))
    return parts


def _split(parts: Parts, subset: Subset, name: str, cuts: Sequence[Sequence[Cut]], generator: random.Random) -> None:
    """Draws one snippet of the first entity for the benchmark; all others are for training."""
    drawn = generator.randrange(len(cuts[0]))
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
    """Refuses a wrong snippet: its mention must be the space's name as whole words.

    With the title put back, or the title without its qualifier, it must be a sentence of the page.
    """
    by_url: dict[str, list[Cut]] = defaultdict(list)
    for cut in cuts:
        if cut.text[cut.start : cut.end] != cut.space:
            raise _make_error(cut, f"the mention is {cut.text[cut.start : cut.end]!r}")
        if is_inside_word(cut.text, Span(cut.start, cut.end)):
            raise _make_error(cut, "the mention stands inside a longer word")
        if not is_restorable(cut):
            raise _make_error(cut, "putting the original name back does not give its sentence")
        by_url[cut.url].append(cut)
    for page in texts:
        for cut in by_url.pop(page.url, ()):
            if cut.original not in page.text:
                raise _make_error(cut, "the page does not have its sentence")
    for unchecked in by_url.values():
        raise _make_error(unchecked[0], "its page is not kept")


def _make_error(cut: Cut, problem: str) -> BuildError:
    return BuildError(f"a snippet of {cut.entity!r} from {cut.url} is wrong, and nothing was written: {problem}")


def write_parts(
    out: Path,
    parts: Parts,
    chosen: ChosenSpaces,
    entities: Mapping[str, FoundEntity],
    tail: Iterable[str],
    card: Card,
) -> Dataset:
    """Writes the benchmark into the directory, and the training part into `train` below it."""
    titles = dict.fromkeys([title for space in chosen.spaces for title in space.entities] + list(tail))
    listed = [_make_entity(entities[title]) for title in titles]
    train_card = Card(
        name=f"{card.name}-train",
        language=card.language,
        title=f"{card.title}, what the benchmark leaves over",
        source=card.source,
        license=card.license,
        made=card.made,
        commonness=card.commonness,
    )
    if any(parts.train.values()):
        write_dataset(out / "train", train_card, listed, chosen.spaces, parts.train, force=True)
    return write_dataset(out, card, listed, chosen.spaces, parts.benchmark, force=True)


def _make_entity(found: FoundEntity) -> Entity:
    return Entity(
        title=found.title,
        page_id=found.page_id,
        qid=found.qid,
        commonness=found.commonness,
        redirects=found.redirects,
    )


def count_table_1(parts: Parts, sentences: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """Computes the statistics of the paper's Table 1, over the benchmark and the training part together."""
    rows = {}
    for subset in ("top", "shadow", "neutral", "tail"):
        snippets = [*parts.benchmark.get(subset, ()), *parts.train.get(subset, ())]
        if snippets:
            rows[subset] = {
                "spaces": len({snippet.space for snippet in snippets if snippet.space is not None}),
                "entities": len({snippet.gold for snippet in snippets if snippet.gold is not None}),
                "snippets": len(snippets),
                "words": _average(len(snippet.text.split()) for snippet in snippets),
                "sentences": _average(sentences.get(snippet.text, 1) for snippet in snippets),
            }
    return rows


def count_mentions(chosen: ChosenSpaces, tail: Mapping[str, Sequence[Cut]]) -> dict[str, dict[str, int]]:
    """Counts the snippets of each subset by their mention in the page: the full title, or that without qualifier."""
    tops = {(space.name, space.top) for space in chosen.spaces}
    by_subset: dict[str, list[Cut]] = {"top": [], "shadow": [], "tail": [cut for cuts in tail.values() for cut in cuts]}
    for pair, cuts in chosen.cuts.items():
        by_subset["top" if pair in tops else "shadow"] += cuts
    rows = {}
    for subset, cuts in by_subset.items():
        full = sum(is_full_title(cut.written, cut.entity) for cut in cuts)
        rows[subset] = {"full title": full, "without qualifier": len(cuts) - full}
    return rows


def count_pages(urls: Collection[str], crawled: Iterable[Crawled]) -> dict[str, Any]:
    """Counts the pages of these URLs by their source: captures of an existing crawl by month, and requested pages."""
    sources = {page.url: page.captured for page in crawled if page.url in urls}
    days = sorted(captured[:10] for captured in sources.values() if captured)
    captured = {"pages": len(days), "first": days[0], "last": days[-1]} if days else {"pages": 0}
    months = Counter(day[:7] for day in days)
    return {"captured": {**captured, "months": dict(months)}, "requested": {"pages": len(sources) - len(days)}}


def _average(numbers: Iterable[int]) -> float:
    values = list(numbers)
    return round(sum(values) / len(values), 2)


def count_commonness(parts: Parts, entities: Mapping[str, FoundEntity]) -> dict[str, Any]:
    """Counts the entities of each subset by their commonness (Fig. 3), in bins that grow tenfold in two steps."""
    counted: dict[str, Any] = {"bins": list(BINS)}
    for subset in ("top", "shadow", "tail"):
        snippets = [*parts.benchmark.get(subset, ()), *parts.train.get(subset, ())]
        values = [entities[title].commonness for title in sorted({snippet.gold or "" for snippet in snippets})]
        if values:
            edges = [*BINS, float("inf")]
            counts = [sum(low <= value < high for value in values) for low, high in pairwise(edges)]
            counted[subset] = {"counts": counts, "median": median(values), "least": min(values), "most": max(values)}
    return counted
