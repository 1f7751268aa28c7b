"""What the context linkers share: entity texts, and a ranking that no prior can slip into."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from shadowprobe import Entity, Linker, Prediction, Snippet


def entity_text(entity: Entity) -> str:
    """The text that stands for an entity: its title, and its description where there is one."""
    return f"{entity.title}. {entity.description}" if entity.description else entity.title


def lot(snippet: Snippet, title: str) -> str:
    """Where a title stands in an order drawn for one text: no entity is always the lucky one."""
    return hashlib.sha256(f"{snippet.text}\n{snippet.start}\n{title}".encode()).hexdigest()


class ContextLinker(Linker):
    """Base of the linkers that compare a context with the text of each candidate."""

    def setup(self) -> None:
        """Builds the index, and says so where descriptions are missing."""
        missing = self.knowledge.without_description
        if missing:
            self.note(f"{missing} of {len(self.knowledge)} entities have no description and are matched by their title")
        self.titles = list(self.knowledge.entities)
        self.number = {title: number for number, title in enumerate(self.titles)}
        self.index([entity_text(entity) for entity in self.knowledge.entities.values()])

    def index(self, texts: list[str]) -> None:
        """Prepares the texts of the entities, given in the order of `self.titles`."""
        raise NotImplementedError

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """For each snippet the similarity of its context to each of its candidates, given by number."""
        raise NotImplementedError

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Ranks the candidates of each mention by similarity."""
        if not snippets:
            return []
        found = [self.knowledge.candidates_of(snippet) for snippet in snippets]
        numbers = [[self.number[entity.title] for entity in candidates] for candidates in found]
        scores = self.similarities(snippets, numbers)
        return [
            self.ranked(snippet, self.order(snippet, candidates, scored))
            for snippet, candidates, scored in zip(snippets, found, scores, strict=True)
        ]

    def order(
        self, snippet: Snippet, candidates: tuple[Entity, ...], scores: Sequence[float]
    ) -> list[tuple[Entity, float]]:
        """Highest score first; equal scores by lot, since the order of the candidates is itself a prior."""
        # Rounded before sorting, so that the last bits of a sum decide nothing.
        pairs = [(entity, round(float(score), 6)) for entity, score in zip(candidates, scores, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], lot(snippet, pair[0].title)))
