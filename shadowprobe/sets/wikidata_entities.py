"""An entity of Wikidata as far as sets are made of it, read from Wikidata's own JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct

T = TypeVar("T")
INSTANCE_OF, SUBCLASS_OF = "P31", "P279"
# Under this code a name stands that is the same in every language, and then often under no other.
EVERY_LANGUAGE = "mul"
_QID = re.compile(r"Q[1-9][0-9]*")
# PHP writes a table without entries as a list.
_Table = dict[str, Raw] | list[Raw]


class Value(NamedTuple):
    """What a statement says: another item, or else a text or number in its forms, the one to be shown first."""

    item: str | None
    forms: tuple[str, ...] = ()


class Item(Struct, frozen=True):
    """An item: its names, the label first; its article's title; and its values by property, of the best rank only."""

    qid: str
    names: tuple[str, ...]
    title: str | None
    claims: dict[str, tuple[Value, ...]]

    def items(self, number: str) -> list[str]:
        """The items that are values of a property."""
        return [value.item for value in self.claims.get(number, ()) if value.item is not None]


class _Entity(Struct):
    id: str
    type: str = "item"
    labels: _Table = {}
    aliases: _Table = {}
    sitelinks: _Table = {}
    claims: _Table = {}


class _Term(Struct):
    value: str


class _Sitelink(Struct):
    title: str


class _DataValue(Struct):
    type: str
    value: Raw


class _Snak(Struct):
    snaktype: str
    datavalue: _DataValue | None = None


class _Statement(Struct):
    mainsnak: _Snak
    rank: str = "normal"


class _EntityId(Struct, rename="kebab"):
    entity_type: str = "item"
    id: str | None = None
    # All that dumps of the first years have.
    numeric_id: int | None = None


class _Quantity(Struct):
    amount: str


class _Text(Struct):
    text: str


_entity = msgspec.json.Decoder(_Entity).decode
_term = msgspec.json.Decoder(_Term).decode
_terms = msgspec.json.Decoder(list[_Term]).decode
_sitelink = msgspec.json.Decoder(_Sitelink).decode
_statements = msgspec.json.Decoder(list[_Statement]).decode


def read_item(content: bytes | Raw, language: str, properties: Collection[str]) -> Item | None:
    """The item in a piece of JSON, with the claims of some properties; None for what is no item, ValueError for junk.

    Its names are those of the language, and those for every language where the label or the aliases lack.
    """
    entity = _entity(content)
    if entity.type != "item":
        return None
    if not _QID.fullmatch(entity.id):
        raise ValueError(f"{entity.id!r} is not the id of an item")
    link = _get(entity.sitelinks, f"{language.replace('-', '_')}wiki")
    claims = {number: _get(entity.claims, number) for number in properties}
    return Item(
        entity.id,
        tuple(dict.fromkeys(_names(entity, language))),
        _sitelink(link).title if link is not None else None,
        {number: values for number, raw in claims.items() if raw is not None and (values := _values(raw))},
    )


def _get(table: _Table, key: str) -> Raw | None:
    return table.get(key) if isinstance(table, dict) else None


def _names(entity: _Entity, language: str) -> Iterator[str]:
    """The label of the language, or else the one for every language; then the aliases of both."""
    labels = [_get(entity.labels, code) for code in (language, EVERY_LANGUAGE)]
    yield from (_term(raw).value for raw in [raw for raw in labels if raw is not None][:1])
    for code in (language, EVERY_LANGUAGE):
        aliases = _get(entity.aliases, code)
        if aliases is not None:
            yield from (term.value for term in _terms(aliases))


def _values(raw: Raw) -> tuple[Value, ...]:
    """The values of the best rank there is, each once; an unknown value, or none, is passed over."""
    statements = _statements(raw)
    best = "preferred" if any(statement.rank == "preferred" for statement in statements) else "normal"
    snaks = [statement.mainsnak for statement in statements if statement.rank == best]
    return tuple(dict.fromkeys(_known(_value(snak.datavalue) for snak in snaks if snak.datavalue is not None)))


def _known(values: Iterable[T | None]) -> Iterator[T]:
    return (value for value in values if value is not None)


def _value(value: _DataValue) -> Value | None:
    if value.type == "wikibase-entityid":
        entity = msgspec.json.decode(value.value, type=_EntityId)
        qid = entity.id or f"Q{entity.numeric_id}"
        return Value(qid) if entity.entity_type == "item" and _QID.fullmatch(qid) else None
    if value.type == "quantity":
        return Value(None, _number_forms(msgspec.json.decode(value.value, type=_Quantity).amount))
    if value.type == "string":
        return Value(None, (msgspec.json.decode(value.value, type=str),))
    if value.type == "monolingualtext":
        return Value(None, (msgspec.json.decode(value.value, type=_Text).text,))
    # Dates, places on the globe and the like are no answers to any of our questions.
    return None


def _number_forms(amount: str) -> tuple[str, ...]:
    """A number as people write it, and as it stands: `20,405` and `20405`."""
    try:
        number = Decimal(amount)
    except InvalidOperation:
        raise ValueError(f"{amount!r} is not a number") from None
    if not number.is_finite():
        raise ValueError(f"{amount!r} is not a number")
    shortest = number.to_integral_value() if number == number.to_integral_value() else number.normalize()
    return tuple(dict.fromkeys((f"{shortest:,f}", f"{shortest:f}")))
