"""ReFinED, run in an environment of its own."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from shadowprobe import WorkerLinker


class RefinedLinker(WorkerLinker):
    """ReFinED: candidates by their commonness, ranked by description and fine-grained type, or an explicit NIL.

    Ayoola, Tyagi, Fisher, Christodoulopoulos and Pierleoni: ReFinED: An Efficient Zero-shot-capable Approach to
    End-to-End Entity Linking (NAACL 2022). The mention is given; its candidates are the 30 most common for its name,
    and the commonness itself is among the features. Answers are QIDs with titles, and scores are probabilities over
    the candidates and NIL, to four digits. `model` is one of its four, or a directory with your own.

    What it cannot do: give the titles of its candidates, which have QIDs only. A mention that begins after the start
    of the last token of its text is skipped. The package called `refined` on PyPI is another project.
    """

    name = "refined"
    needs = "a Python environment of its own and its data: shadowprobe check --linker refined prints how"
    worker = "workers/refined_worker.py"
    sent = ("model", "entity_set", "data", "device")
    howto = """\
conda create -y -p refined-env python=3.8
refined-env/bin/pip install https://github.com/amazon-science/ReFinED/archive/refs/tags/V1.zip
# fetches its model and data: the vectors of 6.3 million descriptions alone are 3.8 GB
refined-env/bin/python -c "from refined.inference.processor import Refined;\
 Refined.from_pretrained('wikipedia_model', 'wikipedia', 'refined-data')"
shadowprobe check --linker refined -o python=refined-env/bin/python -o data=refined-data"""
    option_help: ClassVar[dict[str, str]] = {
        "model": "one of its models, or a directory",
        "entity_set": "the entities that it knows",
        "data": "the directory of its data",
        "device": "cpu, cuda:0, ...; empty lets it choose",
    }

    def __init__(
        self,
        model: str = "wikipedia_model",
        entity_set: Literal["wikipedia", "wikidata"] = "wikipedia",
        data: str = "",
        device: str = "",
        **worker: Any,
    ) -> None:
        super().__init__(**worker)
        self.model, self.entity_set, self.data, self.device = model, entity_set, data, device
