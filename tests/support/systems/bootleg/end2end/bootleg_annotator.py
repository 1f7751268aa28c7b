"""Bootleg's annotator, with shared words in the place of its encoders."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

MOST_CANDIDATES = 4


def get_default_cache() -> Path:
    """Where it looks without being told."""
    return Path("~/.cache/torch/bootleg").expanduser()


class EntitySymbols:
    """The alias table and the titles."""

    def __init__(self, place: Path) -> None:
        self.alias2qids, self.qid2title, self.qid2desc = (
            json.loads((place / f"{name}.json").read_text("utf-8")) for name in ("alias2qids", "qid2title", "qid2desc")
        )

    def alias_exists(self, alias: str) -> bool:
        return alias in self.alias2qids

    def get_qid_cands(self, alias: str, max_cand_pad: bool = False) -> list[str]:
        return [qid for qid, _ in self.alias2qids[alias]]

    def get_title(self, id: str) -> str:
        title: str = self.qid2title[id]
        return title


class BootlegAnnotator:
    """The annotator with the arguments of the real one."""

    def __init__(
        self,
        config: Any = None,
        device: int | None = None,
        min_alias_len: int = 1,
        max_alias_len: int = 6,
        threshold: float = 0.0,
        cache_dir: str | None = None,
        model_name: str | None = None,
        entity_emb_file: str | None = None,
        return_embs: bool = False,
        return_ctx_embs: bool = False,
        extract_method: str = "spacy",
        verbose: bool = False,
    ) -> None:
        if entity_emb_file is not None:
            assert Path(entity_emb_file).exists(), f"{entity_emb_file} must exist."
        self.threshold = threshold
        place = Path(cache_dir) if cache_dir else get_default_cache()
        self.train_in_candidates = "no-candidate" not in (place / "models" / "bootleg_uncased" / "config").read_text()
        self.entity_db = EntitySymbols(place / "data" / "entity_db")
        print("Loading model")

    def label_mentions(
        self, text_list: Any = None, extracted_examples: list[dict[str, Any]] | None = None
    ) -> dict[str, list[Any]]:
        """Labels of every example, without the mentions whose best probability is not above the threshold."""
        assert type(extracted_examples) is list
        keys = {"sentence", "aliases", "char_spans", "cands"}
        assert keys <= extracted_examples[0].keys()
        names = ("qids", "probs", "titles", "cands", "cand_probs", "char_spans", "aliases")
        labels: dict[str, list[Any]] = {name: [[] for _ in extracted_examples] for name in names}
        for number, sample in enumerate(extracted_examples):
            sample["qids"] = ["Q-1" for _ in sample["aliases"]]
            for alias, span, cands in zip(sample["aliases"], sample["char_spans"], sample["cands"], strict=True):
                padded, probs = self._probabilities(sample["sentence"], span, cands)
                best = max(range(len(probs)), key=lambda place: probs[place])
                if probs[best] > self.threshold:
                    qid = padded[best]
                    title = "NC" if qid == "NC" else self.entity_db.get_title(qid)
                    for name, value in zip(names, (qid, probs[best], title, padded, probs, span, alias), strict=True):
                        labels[name][number].append(value)
        return labels

    def _probabilities(self, sentence: str, span: list[int], cands: list[str]) -> tuple[list[str], list[float]]:
        """Weight 1 for a candidate, 2 more for each shared word, 1 more for the first; 1 for no candidate, or 5."""
        before, after = sentence[: span[0]].rpartition(".")[2], sentence[span[1] :].partition(".")[0]
        words = set(re.findall(r"\w+", f"{before} {after}".lower()))
        weights = [
            1 + 2 * len(words & set(re.findall(r"\w+", self.entity_db.qid2desc[qid].lower()))) + (place == 0)
            for place, qid in enumerate(cands)
        ]
        padded = list(cands)
        if not self.train_in_candidates:
            padded, weights = ["NC", *padded], [5 if "nobody" in words else 1, *weights]
        padding = MOST_CANDIDATES - len(padded)
        total = sum(weights)
        return padded + ["-1"] * padding, [weight / total for weight in weights] + [0.0] * padding
