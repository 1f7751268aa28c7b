"""Runs BLINK in its own environment."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from protocol import Refusal, score, serve  # type: ignore[import-not-found]

FILES = {
    "biencoder_model": "biencoder_wiki_large.bin",
    "biencoder_config": "biencoder_wiki_large.json",
    "crossencoder_model": "crossencoder_wiki_large.bin",
    "crossencoder_config": "crossencoder_wiki_large.json",
    "entity_catalogue": "entity.jsonl",
    "entity_encoding": "all_entities_large.t7",
}
# The position of the table from page ids to rows in the result of `load_models`.
PAGE_IDS = 8


class Blink:
    """BLINK with its models loaded."""

    def __init__(self, models: str, fast: bool, top_k: int) -> None:
        from blink import main_dense  # type: ignore[import-not-found]

        files = {name: str(Path(models).expanduser() / file) for name, file in FILES.items()}
        for name, path in files.items():
            if not Path(path).exists() and not (fast and name.startswith("crossencoder")):
                raise Refusal(f"there is no file {path}: -o models=DIR names the directory of its models")
        # The cross-encoder always uses the GPU, even if its settings say otherwise.
        if not fast and not main_dense.torch.cuda.is_available():
            raise Refusal("its cross-encoder needs a GPU and there is none: -o fast=true leaves it out")
        self.args = argparse.Namespace(
            fast=fast,
            top_k=top_k,
            interactive=False,
            test_mentions=None,
            test_entities=None,
            output_path="",
            faiss_index=None,
            index_path=None,
            **files,
        )
        loaded = list(main_dense.load_models(self.args, logger=None))
        self.rows = loaded[PAGE_IDS - 3]
        self.page_ids: list[int | None] = [None] * len(loaded[PAGE_IDS - 2])
        for page_id, row in loaded[PAGE_IDS].items():
            self.page_ids[row] = page_id if isinstance(page_id, int) else None
        # `run` makes a URL for each of the six million page ids in every call, but uses them only interactively.
        loaded[PAGE_IDS] = {}
        self.models, self.main_dense = loaded, main_dense
        self.about = {"torch": str(main_dense.torch.__version__), "entities": len(self.page_ids)}

    def answer(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the titles that BLINK ranks highest for each mention, with their page ids."""
        samples = [self.make_sample(number, item) for number, item in enumerate(items)]
        predictions, scores = self.main_dense.run(self.args, None, *self.models, test_data=samples)[-2:]
        answers = []
        for item, titles, values in zip(items, predictions, scores):  # noqa: B905
            ranking = [
                {"title": title, "page_id": self.page_ids[self.rows[title]], "score": score(value)}
                for title, value in zip(titles, values)  # noqa: B905
            ]
            answers.append(dict(ranking[0], id=item["id"], status="linked", candidates=ranking))
        return answers

    def make_sample(self, number: int, item: dict[str, Any]) -> dict[str, Any]:
        """Makes BLINK's input: texts are cut first and then lower-cased, which can change their lengths."""
        text, start, end = item["text"], item["start"], item["end"]
        return {
            "id": number,
            # With a known label BLINK would drop samples whose entity it did not find.
            "label": "unknown",
            "label_id": -1,
            "context_left": text[:start].lower(),
            "mention": text[start:end].lower(),
            "context_right": text[end:].lower(),
        }


if __name__ == "__main__":
    serve(Blink)
