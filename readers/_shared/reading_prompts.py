"""What language models are asked, in words."""

from __future__ import annotations

import re

from shadowprobe.retrieval import ReaderQuery

# Between the name and the relation of a slot.
SEPARATOR = "[SEP]"


def write_question(query: ReaderQuery) -> str:
    """A query as a person would ask it; a slot becomes a question, and all others stay as they are."""
    name, separator, relation = query.text.partition(SEPARATOR)
    if query.task != "sf" or not separator:
        return query.text
    return f"What is the {relation.strip()} of {name.strip()}?"


def find_label(reply: str, labels: tuple[str, ...]) -> str | None:
    """The one label that a reply has; None if it has several or none."""
    words = re.findall(r"\w+", reply.upper())
    found = [label for label in labels if label.upper() in words]
    return found[0] if len(found) == 1 else None
