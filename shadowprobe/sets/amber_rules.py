"""The rules of the paper that make AmbER sets from namesakes and their facts."""

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

from shadowprobe.measure.answer_matching import beginning, holds_any, squad_words
from shadowprobe.queries.amber_sets import TASKS, AmberEntity, AmberQuery, AmberSet, Output, Page
from shadowprobe.queries.query import Document

# A document contains an answer only if a value occurs in its first tokens.
FIRST_TOKENS = 350
# A head must be more popular than the next entity by this share of their mean popularity.
SMALLEST_GAP = 0.1
SUPPORTS, REFUTES = "SUPPORTS", "REFUTES"
# A value in all its forms; the first one is shown.
Value = tuple[str, ...]


class Property(Struct, frozen=True):
    """A property with the templates of its questions and claims."""

    label: str
    questions: tuple[str, ...]
    claims: tuple[str, ...]
    # Values for false claims, if no other entity has one.
    others: tuple[str, ...] = ()


class EntityType(Struct, frozen=True):
    """A kind of entity, and the properties that distinguish such an entity from its namesakes."""

    label: str
    properties: tuple[str, ...]


class Properties(Struct, frozen=True):
    """The kinds of entities in each collection by QID, and the properties by their numbers."""

    types: dict[str, dict[str, EntityType]]
    properties: dict[str, Property]


class Namesake(Struct, frozen=True):
    """An entity with a shared name: its documents, its values by property, and its popularity, if known."""

    id: str
    documents: tuple[Document, ...]
    facts: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    # The logarithm of its page views to the base of ten, or another measure that is known for all entities.
    popularity: float | None = None


class Fact(NamedTuple):
    """A fact from which queries are made: its values, and the documents that state it."""

    entity: str
    number: str
    values: tuple[Value, ...]
    # The first value that occurs in a document; the true claim contains it.
    stated: str
    provenance: tuple[Page, ...]


class MadeSets(NamedTuple):
    """The sets by task, and the number of dropped items by reason."""

    sets: dict[str, list[AmberSet]]
    dropped: dict[str, int]


def read_properties() -> Properties:
    """Reads the kinds and properties of the paper's Tables 3 and 10."""
    source = files("shadowprobe.sets") / "amber_properties.toml"
    return msgspec.convert(tomllib.loads(source.read_text(encoding="utf-8")), Properties)


def measure_gap(head: float, tail: float) -> float:
    """Returns the difference of two popularities as a share of their mean; the released sets were chosen by this."""
    mean = (head + tail) / 2
    # Rounded, because 6.3 and 5.7 differ by slightly less than a tenth of their mean in binary.
    return round((head - tail) / mean, 9) if mean else 0.0


def make_sets(names: Mapping[str, Sequence[Namesake]], properties: Mapping[str, Property]) -> MadeSets:
    """Makes the sets of all suitable names; the entities of a name must be given with the most popular first.

    A name is dropped if its head is hardly more popular than the next entity, or if the head or all other entities
    have no fact left. A property that two entities of a name have is dropped, and so is a value that is not among
    the first words of an article.
    """
    dropped: Counter[str] = Counter()
    facts = {
        name: list(_list_facts(entities, properties, dropped)) for name, entities in _filter_by_head(names, dropped)
    }
    kept = {name: many for name, many in facts.items() if _is_set(names[name], many, dropped)}
    values = _rank_values(fact for many in kept.values() for fact in many)
    sets = {
        task: [
            AmberSet(name, _make_entities(names[name], _make_queries(task, name, kept[name], properties, values)))
            for name in sorted(kept)
        ]
        for task in TASKS
    }
    return MadeSets(sets, dict(dropped))


def _filter_by_head(
    names: Mapping[str, Sequence[Namesake]], dropped: Counter[str]
) -> Iterator[tuple[str, Sequence[Namesake]]]:
    for name, entities in names.items():
        if len(entities) < 2:
            dropped["names of one entity"] += 1
            continue
        head, second = entities[0].popularity, entities[1].popularity
        if head is not None and second is not None and measure_gap(head, second) < SMALLEST_GAP:
            dropped["names whose head is hardly more popular than the next entity"] += 1
            continue
        yield name, entities


def _list_facts(
    entities: Sequence[Namesake], properties: Mapping[str, Property], dropped: Counter[str]
) -> Iterator[Fact]:
    owners = Counter(number for entity in entities for number in entity.facts if number in properties)
    for entity in entities:
        texts = {document.id: squad_words(beginning(document.text, FIRST_TOKENS)) for document in entity.documents}
        for number, values in entity.facts.items():
            if number not in properties:
                continue
            if owners[number] > 1:
                dropped["facts whose property a namesake has too"] += 1
                continue
            forms = {value: [squad_words(form) for form in value] for value in values}
            stated = [value for value in values if any(holds_any(text, forms[value]) for text in texts.values())]
            if not stated:
                dropped["facts that the beginning of no article states"] += 1
                continue
            documents = [
                document
                for document in entity.documents
                if any(holds_any(texts[document.id], words) for words in forms.values())
            ]
            yield Fact(entity.id, number, tuple(values), stated[0][0], _list_pages(documents))


def _list_pages(documents: Iterable[Document]) -> tuple[Page, ...]:
    """Lists the articles of documents, each once even if there are several passages of it."""
    return tuple(dict.fromkeys(Page(document.page or document.id, document.title) for document in documents))


def _is_set(entities: Sequence[Namesake], facts: Sequence[Fact], dropped: Counter[str]) -> bool:
    with_facts = {fact.entity for fact in facts}
    if len(with_facts) < 2:
        dropped["names of which fewer than two entities have a fact left"] += 1
        return False
    if entities[0].id not in with_facts:
        dropped["names whose head has no fact left"] += 1
        return False
    return True


def _rank_values(facts: Iterator[Fact]) -> dict[str, list[str]]:
    """Sorts the values of each property, the most frequent first, equally frequent ones in alphabetical order."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for fact in facts:
        counts[fact.number].update(value[0] for value in fact.values)
    return {number: sorted(many, key=lambda value: (-many[value], value)) for number, many in counts.items()}


def _make_entities(entities: Sequence[Namesake], queries: Mapping[str, list[AmberQuery]]) -> dict[str, AmberEntity]:
    return {
        entity.id: AmberEntity(
            is_head=entity is entities[0],
            queries=tuple(queries.get(entity.id, ())),
            popularity=entity.popularity,
            wikipedia=_list_pages(entity.documents),
        )
        for entity in entities
        if entity.documents
    }


def _make_queries(
    task: str,
    name: str,
    facts: Sequence[Fact],
    properties: Mapping[str, Property],
    values: Mapping[str, Sequence[str]],
) -> dict[str, list[AmberQuery]]:
    queries: dict[str, list[AmberQuery]] = {}
    for fact in facts:
        known = properties[fact.number]
        # An entity and property always gets the same template.
        generator = random.Random(f"{name}\n{fact.entity}\n{fact.number}")
        forms = dict.fromkeys(form for value in fact.values for form in value)
        if task == "fc":
            claim = generator.choice(known.claims)
            candidates = (*values[fact.number], *known.others)
            other = next((value for value in candidates if value not in forms), None)
            inputs = [(_fill(claim, name, fact.stated), [SUPPORTS])]
            if other is not None:
                inputs.append((_fill(claim, name, other), [REFUTES]))
        else:
            text = f"{name} [SEP] {known.label}" if task == "sf" else _fill(generator.choice(known.questions), name)
            inputs = [(text, list(forms))]
        for text, answers in inputs:
            output = Output(answer=answers, provenance=fact.provenance)
            query = AmberQuery(_make_id(name, fact, text), text, output, {"pid": fact.number})
            queries.setdefault(fact.entity, []).append(query)
    return queries


def _fill(template: str, name: str, value: str = "") -> str:
    return template.replace("$object", value).replace("$name", name)


def _make_id(name: str, fact: Fact, text: str) -> str:
    """Makes a unique id of a query from its fact and its text."""
    source = hashlib.sha256(repr([name, fact.entity, fact.number]).encode()).hexdigest()
    return f"{source[:32]}={hashlib.sha256(text.encode()).hexdigest()[:32]}"
