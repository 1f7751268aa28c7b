"""Neutral contexts: sentences that give no hint which entity their name means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shadowprobe.base.languages import PLACE
from shadowprobe.base.model import Snippet


def make_neutral_snippets(names: Iterable[str], templates: Sequence[str], prefix: str) -> Iterator[Snippet]:
    """Puts every name into every template."""
    for number, name in enumerate(names, start=1):
        for column, template in enumerate(templates, start=1):
            start = template.index(PLACE)
            yield Snippet(
                id=f"{prefix}-neutral-{number:04d}-{column}",
                subset="neutral",
                text=template.replace(PLACE, name),
                start=start,
                end=start + len(name),
                space=name,
                template=column,
            )
