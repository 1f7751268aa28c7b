"""Stage 6a: contexts that say nothing of what the name in them may mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shadowprobe.build.languages import PLACE, Language
from shadowprobe.model import Snippet


def neutral_snippets(names: Iterable[str], language: Language, prefix: str) -> Iterator[Snippet]:
    """Every name in every template of the language."""
    for number, name in enumerate(names, start=1):
        for column, template in enumerate(language.neutral, start=1):
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
