"""Bootleg, run in an environment of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from shadowprobe import WorkerLinker


class BootlegLinker(WorkerLinker):
    """Bootleg: a bi-encoder over the candidates of an alias table, taught to reason by types and relations.

    Orr, Leszczynski, Arora, Wu, Guha, Ling and Ré: Bootleg: Chasing the Tail with Self-Supervised Named Entity
    Disambiguation (CIDR 2021). The mention is given with up to 30 candidates, and Bootleg adds none.
    Answers are QIDs with titles, and scores are probabilities over the candidates.

    What it cannot do: answer for a name that its alias table does not have. Such a mention is skipped, and so is one
    whose best probability is not above `threshold`. It answers NIL only with a model that was trained with the class
    "no candidate"; its default settings train without. `-o embeddings=FILE` reads the vectors of the entities from a
    file instead of computing them, and `-o device=-1` uses the CPU.
    """

    name = "bootleg"
    needs = "a Python environment of its own and 40 GB of data: shadowprobe check --linker bootleg prints how"
    worker = "workers/bootleg_worker.py"
    sent = ("cache", "device", "threshold", "embeddings")
    howto = """\
git clone https://github.com/HazyResearch/bootleg
conda create -y -p bootleg-env python=3.8
bootleg-env/bin/pip install ./bootleg
# fetches its model and data: it asks for 40 GB of disk, 35 GB of memory and 12 GB on the GPU
bootleg-env/bin/python -c "from bootleg.end2end.bootleg_annotator import *; BootlegAnnotator(cache_dir='bootleg-data')"
shadowprobe check --linker bootleg -o python=bootleg-env/bin/python -o cache=bootleg-data"""
    option_help: ClassVar[dict[str, str]] = {
        "cache": "the directory of Bootleg's data",
        "device": "the number of the GPU",
        "threshold": "answers below this probability are skipped",
        "embeddings": "a file with the vectors of the entities",
    }

    def __init__(
        self,
        cache: str = "",
        device: int | None = None,
        threshold: float = 0.0,
        embeddings: str = "",
        **worker: Any,
    ) -> None:
        super().__init__(**worker)
        self.cache, self.device, self.threshold, self.embeddings = cache, device, threshold, embeddings
