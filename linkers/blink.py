"""BLINK, run in an environment of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from shadowprobe import WorkerLinker


class BlinkLinker(WorkerLinker):
    """BLINK: two BERTs that match the mention in its context with the description of every Wikipedia article.

    Wu, Petroni, Josifoski, Riedel and Zettlemoyer: Scalable Zero-shot Entity Linking with Dense Entity Retrieval (EMNLP
    2020). The bi-encoder fetches `top_k` of 5.9 million articles of August 2019, without a list of names and without
    their commonness; the cross-encoder ranks them again. `-o fast=true` leaves the cross-encoder out, and is required
    without a GPU. Texts are cut and lower-cased as BLINK expects. Answers are titles with page ids.

    What it cannot do: answer NIL, or skip a mention. Its scores are raw (dot products with `fast`, else logits): they
    rank the candidates of one mention, and are not probabilities. It reads about 32 word pieces of the context.
    """

    name = "blink"
    needs = "a Python environment of its own and 24 GB of vectors: shadowprobe check --linker blink prints how"
    worker = "workers/blink_worker.py"
    sent = ("models", "fast", "top_k")
    howto = """\
git clone https://github.com/facebookresearch/BLINK
conda create -y -p blink-env python=3.7
blink-env/bin/pip install -r BLINK/requirements.txt
blink-env/bin/pip install --no-deps -e BLINK
# the vectors of 5.9 million entities alone are 24 GB; to run it takes some 35 GB of memory
bash BLINK/download_blink_models.sh
shadowprobe check --linker blink -o python=blink-env/bin/python -o models=BLINK/models -o fast=true"""
    option_help: ClassVar[dict[str, str]] = {
        "models": "the directory of BLINK's models",
        "fast": "leaves the cross-encoder out; required without a GPU",
        "top_k": "how many candidates are fetched",
    }

    def __init__(self, models: str = "models", fast: bool = False, top_k: int = 10, **worker: Any) -> None:
        super().__init__(**worker)
        if top_k < 1:
            raise ValueError("top_k must be at least 1")
        self.models, self.fast, self.top_k = models, fast, top_k
