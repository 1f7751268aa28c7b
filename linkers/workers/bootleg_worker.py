"""Runs Bootleg in its own environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from protocol import Refusal, score, serve  # type: ignore[import-not-found]

# A candidate list may contain these besides entities: the class "no candidate", and padding.
NO_CANDIDATE, PADDING = "NC", "-1"


class Bootleg:
    """Bootleg with its model and its alias table loaded."""

    def __init__(self, cache: str, device: int | None, threshold: float, embeddings: str) -> None:
        import bootleg._version  # type: ignore[import-not-found]
        from bootleg.end2end import bootleg_annotator  # type: ignore[import-not-found]
        from bootleg.utils.utils import get_lnrm  # type: ignore[import-not-found]

        place = Path(cache).expanduser() if cache else bootleg_annotator.get_default_cache()
        for needed in (place / "models" / "bootleg_uncased", place / "data" / "entity_db"):
            # Bootleg would download tens of gigabytes without asking the user.
            if not needed.exists():
                raise Refusal(f"there is no {needed}: -o cache=DIR names the directory of its models and data")
        self.annotator = bootleg_annotator.BootlegAnnotator(
            cache_dir=str(place), device=device, threshold=threshold, entity_emb_file=embeddings or None
        )
        self.normalise = get_lnrm
        self.about = {"bootleg": bootleg._version.__version__}

    def answer(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the entity, an explicit NIL, or `skipped` for a name that is not in the alias table."""
        examples, known = [], []
        for item in items:
            alias = self.normalise(item["text"][item["start"] : item["end"]])
            if self.annotator.entity_db.alias_exists(alias):
                known.append(item)
                examples.append(self.make_example(item, alias))
        answers = {item["id"]: {"id": item["id"], "status": "skipped"} for item in items}
        if examples:
            labels = self.annotator.label_mentions(extracted_examples=examples)
            for number, item in enumerate(known):
                spans = [tuple(span) for span in labels["char_spans"][number]]
                # A mention below the threshold is left out, and the next ones move up.
                if (item["start"], item["end"]) in spans:
                    place = spans.index((item["start"], item["end"]))
                    answers[item["id"]] = self.read_labels(item, labels, number, place)
        return list(answers.values())

    def make_example(self, item: dict[str, Any], alias: str) -> dict[str, Any]:
        """Makes Bootleg's input: the alias in the form of the table, and its candidates."""
        return {
            "sentence": item["text"],
            "aliases": [alias],
            "char_spans": [[item["start"], item["end"]]],
            "cands": [self.annotator.entity_db.get_qid_cands(alias)],
        }

    def read_labels(self, item: dict[str, Any], labels: dict[str, Any], number: int, place: int) -> dict[str, Any]:
        """Reads the labels of one mention."""
        titles = self.annotator.entity_db
        pairs = zip(labels["cands"][number][place], labels["cand_probs"][number][place])  # noqa: B905
        candidates = [
            {"qid": qid, "title": titles.get_title(qid), "score": score(value)}
            for qid, value in sorted(pairs, key=lambda pair: -pair[1])
            if qid not in {NO_CANDIDATE, PADDING}
        ]
        qid = labels["qids"][number][place]
        answer = {"id": item["id"], "score": score(labels["probs"][number][place]), "candidates": candidates}
        if qid == NO_CANDIDATE:
            return dict(answer, status="nil")
        return dict(answer, status="linked", qid=qid, title=labels["titles"][number][place])


if __name__ == "__main__":
    serve(Bootleg)
