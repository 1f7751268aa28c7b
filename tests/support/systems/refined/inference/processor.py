"""ReFinED's processor, with shared words in the place of its model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from refined.data_types.base_types import Entity, Span


class Refined:
    """The processor with the arguments of the real one."""

    def __init__(self, tables: dict[str, Any]) -> None:
        self.tables = tables

    @classmethod
    def from_pretrained(
        cls,
        model_name: str,
        entity_set: str,
        data_dir: str | None = None,
        debug: bool = False,
        device: str | None = None,
        use_precomputed_descriptions: bool = True,
        download_files: bool = True,
        return_titles: bool = True,
    ) -> Refined:
        """A model by its name."""
        assert entity_set in {"wikipedia", "wikidata"}, f"entity_set should be one of ... but is {entity_set}"
        place = Path(data_dir) if data_dir is not None else Path("~/.cache/refined").expanduser()
        if download_files:
            raise ConnectionError("Could not connect to the endpoint URL")
        tables = json.loads((place / f"{entity_set}_data" / "tables.json").read_text("utf-8"))
        (place / model_name / "model.pt").read_bytes()
        print("loaded", model_name)
        return cls(tables)

    def process_text(
        self,
        text: str,
        spans: list[Span] | None = None,
        ner_threshold: float = 0.5,
        prune_ner_types: bool = True,
        max_batch_size: int = 16,
        apply_class_check: bool = False,
        return_special_spans: bool = True,
    ) -> list[Span]:
        """The spans with their predictions; one behind the start of the last token is never reached."""
        assert spans is not None, "this stand-in finds no mentions"
        tokens = [token.start() for token in re.finditer(r"\w+|[^\w\s]", text)]
        reached = [span for span in spans if any(start >= span.start for start in tokens)]
        for span in reached:
            assert span.text == text[span.start : span.start + span.ln], "text of the span must match its offsets"
            self._predict(text, span)
        return sorted(reached, key=lambda span: span.start)

    def _predict(self, text: str, span: Span) -> None:
        """Weight 1 for a candidate, 2 more for each shared word, 1 more for the first; 1 for NIL, or 5."""
        before, after = text[: span.start].rpartition(".")[2], text[span.start + span.ln :].partition(".")[0]
        words = set(re.findall(r"\w+", f"{before} {after}".lower()))
        ranked = [("Q-1", 5 if "nobody" in words else 1)]
        for place, qcode in enumerate(self.tables["pem"].get(span.text.lower(), [])):
            shared = words & set(re.findall(r"\w+", self.tables["descriptions"][qcode].lower()))
            ranked.append((qcode, 1 + 2 * len(shared) + (place == 0)))
        ranked.sort(key=lambda pair: -pair[1])
        total = sum(weight for _, weight in ranked)
        best = ranked[0][0]
        title = self.tables["titles"].get(best)
        span.predicted_entity = Entity(best, title)
        span.entity_linking_model_confidence_score = round(ranked[0][1] / total, 4)
        # The title of the first for all of them, as in the real one.
        span.top_k_predicted_entities = [(Entity(qcode, title), round(weight / total, 4)) for qcode, weight in ranked]
