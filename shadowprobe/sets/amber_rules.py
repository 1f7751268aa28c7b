"""AmbER sets from namesakes and what is known of them: the rules of the paper, whatever the facts come from."""

from __future__ import annotations

import hashlib
import random
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

import msgspec
from msgspec import Struct, field

from shadowprobe.retrieval.amber_sets import TASKS, AmberEntity, AmberQuery, AmberSet, Output, Page
from shadowprobe.retrieval.model import Document
from shadowprobe.retrieval.words import beginning, holds_any, squad_words

# A value that comes later in an article does not make it a document that answers.
FIRST_TOKENS = 350
# Heads that are hardly more popular than the next entity are no heads.
SMALLEST_GAP = 0.1
SUPPORTS, REFUTES = "SUPPORTS", "REFUTES"
# A value in all its forms, the one to be shown first.
Value = tuple[str, ...]


class Property(Struct, frozen=True):
    """A property with the questions and claims that are made of it."""

    label: str
    questions: tuple[str, ...]
    claims: tuple[str, ...]


class EntityType(Struct, frozen=True):
    """A kind of entity, and the properties that tell one of its kind from a namesake."""

    label: str
    properties: tuple[str, ...]


class Properties(Struct, frozen=True):
    """The kinds of entities in each collection, by what names them, and the properties by their numbers."""

    types: dict[str, dict[str, EntityType]]
    properties: dict[str, Property]


class Namesake(Struct, frozen=True):
    """An entity of a name: its documents, how popular it is where that is known, and its values by property."""

    id: str
    documents: tuple[Document, ...]
    facts: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    # The logarithm of its page views to the base of ten, or any other measure that is known of all.
    popularity: float | None = None


class Tuple(NamedTuple):
    """A fact from which queries are made: the documents that state it, and its values."""

    entity: str
    number: str
    values: tuple[Value, ...]
    # The first value that stands in a document, as the claim that is true will have it.
    stated: str
    provenance: tuple[Page, ...]


class Made(NamedTuple):
    """The sets by task, and what was left out on the way and why."""

    sets: dict[str, list[AmberSet]]
    dropped: dict[str, int]


def paper_properties() -> Properties:
    """The kinds and properties of the paper's Tables 3 and 10."""
    source = files("shadowprobe.retrieval") / "amber_properties.toml"
    return msgspec.convert(tomllib.loads(source.read_text(encoding="utf-8")), Properties)


def popularity_gap(head: float, tail: float) -> float:
    """How far apart two popularities are, as a share of their mean: the rule by which the released sets were chosen."""
    mean = (head + tail) / 2
    # Rounded, so that a gap of exactly a tenth is one: 6.3 and 5.7 differ by a little less in binary.
    return round((head - tail) / mean, 9) if mean else 0.0


def make_sets(names: Mapping[str, Sequence[Namesake]], properties: Mapping[str, Property]) -> Made:
    """The sets of all names that have what it takes; the entities of a name stand most popular first.

    A name is dropped where its head is hardly more popular than the next, or has nothing left to be asked about, or
    is alone with that. A property that two entities of a name have is dropped, and so is a value that is not among
    the first words of an article.
    """
    dropped: Counter[str] = Counter()
    tuples = {name: list(_tuples(entities, properties, dropped)) for name, entities in _with_a_head(names, dropped)}
    kept = {name: found for name, found in tuples.items() if _is_a_set(names[name], found, dropped)}
    values = _common_values(found for many in kept.values() for found in many)
    sets = {
        task: [
            AmberSet(name, _entities(names[name], _queries(task, name, kept[name], properties, values)))
            for name in sorted(kept)
        ]
        for task in TASKS
    }
    return Made(sets, dict(dropped))


def _with_a_head(
    names: Mapping[str, Sequence[Namesake]], dropped: Counter[str]
) -> Iterator[tuple[str, Sequence[Namesake]]]:
    for name, entities in names.items():
        if len(entities) < 2:
            dropped["names of one entity"] += 1
            continue
        head, second = entities[0].popularity, entities[1].popularity
        if head is not None and second is not None and popularity_gap(head, second) < SMALLEST_GAP:
            dropped["names whose head is hardly more popular than the next entity"] += 1
            continue
        yield name, entities


def _tuples(entities: Sequence[Namesake], properties: Mapping[str, Property], dropped: Counter[str]) -> Iterator[Tuple]:
    bearers = Counter(number for entity in entities for number in entity.facts if number in properties)
    for entity in entities:
        texts = {document.id: squad_words(beginning(document.text, FIRST_TOKENS)) for document in entity.documents}
        for number, values in entity.facts.items():
            if number not in properties:
                continue
            if bearers[number] > 1:
                dropped["facts whose property a namesake has too"] += 1
                continue
            forms = {value: [squad_words(form) for form in value] for value in values}
            stated = [value for value in values if any(holds_any(text, forms[value]) for text in texts.values())]
            if not stated:
                dropped["facts that the beginning of no article states"] += 1
                continue
            answering = [
                document
                for document in entity.documents
                if any(holds_any(texts[document.id], found) for found in forms.values())
            ]
            yield Tuple(entity.id, number, tuple(values), stated[0][0], _pages(answering))


def _pages(documents: Iterable[Document]) -> tuple[Page, ...]:
    """The articles of documents, each once however many of its passages there are."""
    return tuple(dict.fromkeys(Page(document.page or document.id, document.title) for document in documents))


def _is_a_set(entities: Sequence[Namesake], found: Sequence[Tuple], dropped: Counter[str]) -> bool:
    asked = {each.entity for each in found}
    if len(asked) < 2:
        dropped["names of which fewer than two entities have a fact left"] += 1
        return False
    if entities[0].id not in asked:
        dropped["names whose head has no fact left"] += 1
        return False
    return True


def _common_values(tuples: Iterator[Tuple]) -> dict[str, list[str]]:
    """The values of each property, the most frequent first; in alphabetical order where they are equally so."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for found in tuples:
        counts[found.number].update(value[0] for value in found.values)
    return {number: sorted(many, key=lambda value: (-many[value], value)) for number, many in counts.items()}


def _entities(entities: Sequence[Namesake], queries: Mapping[str, list[AmberQuery]]) -> dict[str, AmberEntity]:
    return {
        entity.id: AmberEntity(
            is_head=entity is entities[0],
            queries=tuple(queries.get(entity.id, ())),
            popularity=entity.popularity,
            wikipedia=_pages(entity.documents),
        )
        for entity in entities
        if entity.documents
    }


def _queries(
    task: str,
    name: str,
    tuples: Sequence[Tuple],
    properties: Mapping[str, Property],
    values: Mapping[str, Sequence[str]],
) -> dict[str, list[AmberQuery]]:
    made: dict[str, list[AmberQuery]] = {}
    for found in tuples:
        known = properties[found.number]
        # Each entity and property has its own template, and always the same one.
        lottery = random.Random(f"{name}\n{found.entity}\n{found.number}")
        own = {form for value in found.values for form in value}
        if task == "fc":
            claim = lottery.choice(known.claims)
            other = next((value for value in values[found.number] if value not in own), None)
            inputs = [(_filled(claim, name, found.stated), [SUPPORTS])]
            if other is not None:
                inputs.append((_filled(claim, name, other), [REFUTES]))
        else:
            text = f"{name} [SEP] {known.label}" if task == "sf" else _filled(lottery.choice(known.questions), name)
            inputs = [(text, list(dict.fromkeys(form for value in found.values for form in value)))]
        for text, answers in inputs:
            output = Output(answer=answers, provenance=found.provenance)
            query = AmberQuery(_id(name, found, text), text, output, {"pid": found.number})
            made.setdefault(found.entity, []).append(query)
    return made


def _filled(template: str, name: str, value: str = "") -> str:
    return template.replace("$object", value).replace("$name", name)


def _id(name: str, found: Tuple, text: str) -> str:
    """What tells a query from all others: the fact that it is made from, and its words."""
    fact = hashlib.sha256(repr([name, found.entity, found.number]).encode()).hexdigest()
    return f"{fact[:32]}={hashlib.sha256(text.encode()).hexdigest()[:32]}"
