"""The candidates that a model is shown as choices for a mention."""

from __future__ import annotations

from collections.abc import Sequence

from shadowprobe import Entity, Linker, Prediction, Snippet

from .ranking import random_order

# Long enough for a first paragraph. More text would cost tokens for every choice.
LONGEST_DESCRIPTION = 400


def list_choices(linker: Linker, snippet: Snippet, most: int) -> list[Entity]:
    """Lists the most common candidates in a random order for each text; a note says if some are left out."""
    known = linker.knowledge.candidates_of(snippet)
    if len(known) > most:
        linker.note(f"of more than {most} candidates only the most common are shown: -o choices=N shows more")
    return shuffle_choices(snippet, known[:most])


def shuffle_choices(snippet: Snippet, entities: Sequence[Entity]) -> list[Entity]:
    """Returns the choices in a random order for each text, so that the most common one is not always first."""
    return sorted(entities, key=lambda entity: random_order(snippet, entity.title))


def skip_without_choices(linker: Linker, snippet: Snippet) -> Prediction | None:
    """Skips a mention that has no candidates to choose from; None for all others."""
    if linker.knowledge.candidates_of(snippet):
        return None
    linker.note("a mention without candidates in the dataset is skipped without a request")
    return linker.skip(snippet)


def note_missing_descriptions(linker: Linker) -> None:
    """Adds a note if descriptions are missing."""
    if missing := linker.knowledge.without_description:
        linker.note(f"{missing} of {len(linker.knowledge)} entities have no description and are shown by their title")


def shorten_description(entity: Entity) -> str:
    """Returns the beginning of a description on one line; empty if there is none."""
    return " ".join((entity.description or "").split())[:LONGEST_DESCRIPTION]
