"""Documents as a prompt shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class TitledText(Protocol):
    """A document of any kind."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def text(self) -> str:
        """Its text."""


def number_documents(documents: Iterable[TitledText]) -> str:
    """Each document with its number, its title and its text."""
    numbered = enumerate(documents, start=1)
    return "\n\n".join(f"Document {number}: {each.title}\n{each.text}" for number, each in numbered)
