"""JSON-LD as GERBIL writes it: the properties of every node, without fetching anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# What each term of a context stands for.
Context = Mapping[str, str]
# The properties of a node by their addresses, with each value as text.
Node = dict[str, str]


class ForeignError(ValueError):
    """A document that GERBIL would not write: for example its context is an address, which is not fetched."""


def read_nodes(document: Any) -> Iterator[Node]:
    """The nodes of a document; two parts with the same `@id` are one node."""
    named: dict[str, Node] = {}
    parts = document if isinstance(document, list) else [document]
    # A list and no recursion: a document may be very deep.
    waiting: list[tuple[Any, Context]] = []
    for part in parts:
        context = _read_context(part.pop("@context", None)) if isinstance(part, dict) else {}
        waiting.append((part, context))
    while waiting:
        value, context = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, context) for item in value]
        elif isinstance(value, dict):
            node: Node = {}
            identifier = value.get("@id")
            if isinstance(identifier, str):
                node = named.setdefault(identifier, node)
            for term, content in value.items():
                if term in {"@context", "@import"}:
                    raise ForeignError(term)
                waiting.append((content, context))
                text = _read_text(content)
                if text is not None and not term.startswith("@"):
                    node[_expand(term, context)] = text
            if not isinstance(identifier, str):
                yield node
    yield from named.values()


def _read_context(given: Any) -> Context:
    """The terms of a context; raises ForeignError if some of them are at another address."""
    terms: dict[str, str] = {}
    for part in given if isinstance(given, list) else [given]:
        if part is None:
            continue
        if not isinstance(part, dict) or "@import" in part:
            raise ForeignError("@context")
        for term, meaning in part.items():
            if isinstance(meaning, dict) and "@context" in meaning:
                raise ForeignError(term)
            address = meaning.get("@id") if isinstance(meaning, dict) else meaning
            if isinstance(address, str):
                terms[term] = address
    return terms


def _expand(term: str, context: Context) -> str:
    """The address of a term, which may be a prefix and a name; an unknown term stays as it is."""
    # Twice, because the meaning of a term may begin with a prefix.
    for _ in range(2):
        prefix, _, name = term.partition(":")
        if term in context:
            term = context[term]
        elif prefix in context and not name.startswith("//"):
            term = context[prefix] + name
    return term


def _read_text(content: Any) -> str | None:
    """A single value as text; None if there is none."""
    if isinstance(content, list) and content:
        content = content[0]
    if isinstance(content, dict):
        content = content.get("@value", content.get("@id"))
    is_value = isinstance(content, str | int | float) and not isinstance(content, bool)
    return str(content) if is_value else None
