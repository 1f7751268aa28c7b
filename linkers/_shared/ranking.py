"""The base of the context linkers: texts of entities, and a ranking that no prior can influence."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from shadowprobe import Entity, Linker, Prediction, Snippet


def entity_text(entity: Entity) -> str:
    """Returns the text for an entity: its title, and its description if there is one."""
    return f"{entity.title}. {entity.description}" if entity.description else entity.title


def random_order(snippet: Snippet, title: str) -> str:
    """A key that sorts titles in a random order, another for each text: no entity is always first."""
    return hashlib.sha256(f"{snippet.text}\n{snippet.start}\n{title}".encode()).hexdigest()


class ContextLinker(Linker):
    """Base of the linkers that compare a context with the text of each candidate."""

    def setup(self) -> None:
        """Builds the index, and adds a note if descriptions are missing."""
        missing = self.knowledge.without_description
        if missing:
            self.note(f"{missing} of {len(self.knowledge)} entities have no description and are matched by their title")
        self.number = {title: number for number, title in enumerate(self.knowledge.entities)}
        self.index([entity_text(entity) for entity in self.knowledge.entities.values()])

    def index(self, texts: list[str]) -> None:
        """Prepares the texts of the entities, given in the order of their numbers."""
        raise NotImplementedError

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """Computes the similarity of each snippet's context to each of its candidates, given by number."""
        raise NotImplementedError

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Ranks the candidates of each mention by similarity."""
        if not snippets:
            return []
        candidates = [self.knowledge.candidates_of(snippet) for snippet in snippets]
        numbers = [[self.number[entity.title] for entity in entities] for entities in candidates]
        scores = self.similarities(snippets, numbers)
        return [
            self.ranked(snippet, rank(snippet, entities, self.weigh(entities, scored)))
            for snippet, entities, scored in zip(snippets, candidates, scores, strict=True)
        ]

    def weigh(self, candidates: Sequence[Entity], scores: Sequence[float]) -> Sequence[float]:
        """The scores by which candidates are ranked: their similarities, unless a linker weighs in something else."""
        return scores


def rank(snippet: Snippet, candidates: Sequence[Entity], scores: Sequence[float]) -> list[tuple[Entity, float]]:
    """Highest score first; equal scores in random order, since the order of the candidates is itself a prior."""
    # Rounded before sorting, so that the last bits of a sum do not matter.
    pairs = [(entity, round(float(score), 6)) for entity, score in zip(candidates, scores, strict=True)]
    return sorted(pairs, key=lambda pair: (-pair[1], random_order(snippet, pair[0].title)))
