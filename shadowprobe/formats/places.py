"""Places of mentions: the same place is found in two texts that differ only in white space."""

from __future__ import annotations

from typing import NamedTuple


class Edge(NamedTuple):
    """An edge of a span: the number of other characters before it, and the white space on both sides of it."""

    position: int
    before: str
    after: str


class Place(NamedTuple):
    """The start and the end of a span in its text."""

    start: Edge
    end: Edge

    @property
    def has_white_space(self) -> bool:
        """True if the span begins or ends with white space."""
        return bool(self.start.after or self.end.before)

    @property
    def positions(self) -> tuple[int, int]:
        """The span in the text without white space."""
        return self.start.position, self.end.position

    def fits(self, other: Place) -> bool:
        """True for the same place in another text; white space counts at an edge where both texts have the same."""
        return all(_is_same_edge(*edges) for edges in zip(self, other, strict=True))


def locate(text: str, start: int, end: int) -> Place:
    """Returns the place of a span; without a text, offsets are positions."""
    return Place(_locate_edge(text, start), _locate_edge(text, end))


def drop_white_space(text: str) -> str:
    """Returns a text without its white space."""
    return "".join(text.split())


def find_difference(one: str, other: str) -> tuple[int, int]:
    """Returns the places in two texts from which they differ in more than white space."""
    letters, others = ([place for place, char in enumerate(text) if not char.isspace()] for text in (one, other))
    for first, second in zip(letters, others, strict=False):
        if one[first] != other[second]:
            return first, second
    common = min(len(letters), len(others))
    return (*letters, len(one))[common], (*others, len(other))[common]


def _locate_edge(text: str, offset: int) -> Edge:
    if not text:
        return Edge(offset, "", "")
    head, tail = text[:offset], text[offset:]
    before, after = head[len(head.rstrip()) :], tail[: len(tail) - len(tail.lstrip())]
    return Edge(len(drop_white_space(head)), before, after)


def _is_same_edge(one: Edge, other: Edge) -> bool:
    have_same_white_space = one.before + one.after == other.before + other.after
    return one == other if have_same_white_space else one.position == other.position
