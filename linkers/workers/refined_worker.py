"""Runs ReFinED in its own environment."""

from __future__ import annotations

from typing import Any

from protocol import score, serve  # type: ignore[import-not-found]


class ReFinED:
    """ReFinED with its model and its data loaded."""

    def __init__(self, model: str, entity_set: str, data: str, device: str) -> None:
        from refined.data_types.base_types import Span  # type: ignore[import-not-found]
        from refined.inference.processor import Refined  # type: ignore[import-not-found]

        self.span = Span
        self.refined = Refined.from_pretrained(
            model_name=model,
            entity_set=entity_set,
            data_dir=data or None,
            device=device or None,
            use_precomputed_descriptions=True,
            # ReFinED would download gigabytes without asking the user, and check their dates at every start.
            download_files=False,
            return_titles=True,
        )
        self.about = {"model": model, "entity set": entity_set}

    def answer(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Links one text after the other, because within a text earlier names influence later ones."""
        return [self.link(item) for item in items]

    def link(self, item: dict[str, Any]) -> dict[str, Any]:
        """Returns the entity on the mention's span, or an explicit NIL; a span without the start of a token is lost."""
        text, start, length = item["text"], item["start"], item["end"] - item["start"]
        mention = self.span(text=text[start : item["end"]], start=start, ln=length)
        for span in self.refined.process_text(text, spans=[mention]):
            if (span.start, span.ln) == (start, length) and span.predicted_entity is not None:
                return self.read_span(item, span)
        return {"id": item["id"], "status": "skipped"}

    def read_span(self, item: dict[str, Any], span: Any) -> dict[str, Any]:
        """Reads a span; all its candidates have the title of the first, so only their QIDs are used."""
        candidates = [
            {"qid": entity.wikidata_entity_id, "score": score(value)}
            for entity, value in span.top_k_predicted_entities or []
            # NIL is one of the candidates, without a QID.
            if entity.wikidata_entity_id is not None
        ]
        answer = {
            "id": item["id"],
            "score": score(span.entity_linking_model_confidence_score),
            "candidates": candidates,
        }
        entity = span.predicted_entity
        if entity.wikidata_entity_id is None:
            return dict(answer, status="nil")
        return dict(answer, status="linked", qid=entity.wikidata_entity_id, title=entity.wikipedia_entity_title)


if __name__ == "__main__":
    serve(ReFinED)
