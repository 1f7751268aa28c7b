"""The description of one linker, retriever, probe, dataset or figure as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shadowprobe.reporting.details import Details


def make_lines(details: Details) -> Iterator[str]:
    """Yields the name, the description and what is needed, a blank line after each part."""
    yield f"{details.name}\n"
    for paragraph in details.about.split("\n\n"):
        # The lines of a docstring are those of the source; the terminal breaks its own.
        yield f"{' '.join(paragraph.split())}\n"
    facts = {
        "Needs": details.needs,
        "Contains": ", ".join(f"{count} {what}" for what, count in details.counts.items()),
        "Licence": details.license,
        "Source": details.source,
        "From": details.package,
    }
    for word, fact in facts.items():
        if fact:
            yield f"{word}: {fact}"
    if details.setup:
        yield "Set up:"
