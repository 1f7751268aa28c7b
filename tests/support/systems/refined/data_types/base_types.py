"""ReFinED's spans and entities."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Entity:
    """An entity; `Q-1` is how the model writes that there is none."""

    wikidata_entity_id: str | None = None
    wikipedia_entity_title: str | None = None
    human_readable_name: str | None = None
    parsed_string: str | None = None

    def __post_init__(self) -> None:
        if self.wikidata_entity_id == "Q-1":
            self.wikidata_entity_id = None


@dataclass
class Span:
    """A mention, before and after it was linked."""

    text: str
    start: int
    ln: int
    doc_id: int | None = None
    gold_entity: Entity | None = None
    candidate_entities: list[tuple[str, float]] | None = None
    predicted_entity: Entity | None = None
    entity_linking_model_confidence_score: float | None = None
    top_k_predicted_entities: list[tuple[Entity, float]] | None = None
    predicted_entity_types: list[tuple[str, str, float]] | None = None
    coarse_type: str | None = "MENTION"
