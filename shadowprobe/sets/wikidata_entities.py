"""Reads an entity from Wikidata's JSON, with the parts that are needed to make sets."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from shadowprobe.errors import shorten

INSTANCE_OF, SUBCLASS_OF = "P31", "P279"
# The code of names that are the same in every language. They often have no entry for a single language.
EVERY_LANGUAGE = "mul"
# A number of at most 18 digits, which the file of facts can hold.
_QID = re.compile(r"Q[1-9][0-9]{0,17}")
# Wikidata stores at most 127 digits; a number such as 1e999999999 would fill the memory when it is written out.
_MOST_DIGITS = 200
# PHP writes a table without entries as a list.
_Table = dict[str, Raw] | list[Raw]


class StatementValue(NamedTuple):
    """The value of a statement: another item, or a text or number in its forms, of which the first is shown."""

    item: str | None
    forms: tuple[str, ...] = ()


class WikidataItem(Struct, frozen=True):
    """An item: its names (the label first), the title of its article, and its best-ranked values by property."""

    qid: str
    names: tuple[str, ...]
    title: str | None
    claims: dict[str, tuple[StatementValue, ...]]

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
    # The dumps of the first years only have this.
    numeric_id: int | None = None


class _Quantity(Struct):
    amount: str


class _Text(Struct):
    text: str


_decode_entity = msgspec.json.Decoder(_Entity).decode
_decode_term = msgspec.json.Decoder(_Term).decode
_decode_terms = msgspec.json.Decoder(list[_Term]).decode
_decode_sitelink = msgspec.json.Decoder(_Sitelink).decode
_decode_statements = msgspec.json.Decoder(list[_Statement]).decode


def read_item(content: bytes | Raw, language: str, properties: Collection[str]) -> WikidataItem | None:
    """Reads an item from JSON with the claims of some properties; None for another entity, ValueError for bad data.

    Its names are those of the language and those for every language.
    """
    entity = _decode_entity(content)
    if entity.type != "item":
        return None
    if not _QID.fullmatch(entity.id):
        raise ValueError(f"{shorten(entity.id, 40)!r} is not the id of an item")
    link = _get(entity.sitelinks, f"{language.replace('-', '_')}wiki")
    claims = {number: _get(entity.claims, number) for number in properties}
    return WikidataItem(
        entity.id,
        tuple(dict.fromkeys(_list_names(entity, language))),
        _decode_sitelink(link).title if link is not None else None,
        {number: values for number, raw in claims.items() if raw is not None and (values := _read_values(raw))},
    )


def _get(table: _Table, key: str) -> Raw | None:
    return table.get(key) if isinstance(table, dict) else None


def _list_names(entity: _Entity, language: str) -> Iterator[str]:
    """Yields the label of the language, or else the one for every language; then the aliases of both."""
    labels = [_get(entity.labels, code) for code in (language, EVERY_LANGUAGE)]
    yield from (_decode_term(raw).value for raw in [raw for raw in labels if raw is not None][:1])
    for code in (language, EVERY_LANGUAGE):
        aliases = _get(entity.aliases, code)
        if aliases is not None:
            yield from (term.value for term in _decode_terms(aliases))


def _read_values(raw: Raw) -> tuple[StatementValue, ...]:
    """Returns the values of the best rank, each once; missing and unknown values are skipped."""
    statements = _decode_statements(raw)
    best = "preferred" if any(statement.rank == "preferred" for statement in statements) else "normal"
    snaks = [statement.mainsnak for statement in statements if statement.rank == best]
    values = (_read_value(snak.datavalue) for snak in snaks if snak.datavalue is not None)
    return tuple(dict.fromkeys(value for value in values if value is not None))


def _read_value(value: _DataValue) -> StatementValue | None:
    if value.type == "wikibase-entityid":
        entity = msgspec.json.decode(value.value, type=_EntityId)
        qid = entity.id or f"Q{entity.numeric_id}"
        return StatementValue(qid) if entity.entity_type == "item" and _QID.fullmatch(qid) else None
    if value.type == "quantity":
        return StatementValue(None, _format_number(msgspec.json.decode(value.value, type=_Quantity).amount))
    if value.type == "string":
        return StatementValue(None, (msgspec.json.decode(value.value, type=str),))
    if value.type == "monolingualtext":
        return StatementValue(None, (msgspec.json.decode(value.value, type=_Text).text,))
    # Dates, coordinates and similar values are not answers to any of our questions.
    return None


def _format_number(amount: str) -> tuple[str, ...]:
    """Writes a number with and without commas: `20,405` and `20405`."""
    try:
        number = Decimal(amount)
    except InvalidOperation:
        raise ValueError(f"{shorten(amount, 40)!r} is not a number") from None
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        raise ValueError(f"{shorten(amount, 40)!r} is not a number of at most {_MOST_DIGITS} digits")
    shortest = number.to_integral_value() if number == number.to_integral_value() else number.normalize()
    return tuple(dict.fromkeys((f"{shortest:,f}", f"{shortest:f}")))
