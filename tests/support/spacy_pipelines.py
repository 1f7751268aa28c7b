"""Pipelines of spaCy: with its own linker, trained here, and with components as outsiders write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spacy
from spacy.kb import InMemoryLookupKB
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import fix_random_seed
from world import NAMES, shadow, top

SMALL = {
    "@architectures": "spacy.EntityLinker.v2",
    "tok2vec": {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 32,
        "depth": 1,
        "embed_size": 500,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": False,
    },
}


def knowledge_base(vocab: Vocab) -> InMemoryLookupKB:
    """Rivers point one way and ships the other; the tail entity has its name for itself."""
    kb = InMemoryLookupKB(vocab, entity_vector_length=2)
    for name in NAMES:
        kb.add_entity(top(name), 50, [1.0, 0.0])
        kb.add_entity(shadow(name), 5, [0.0, 1.0])
        kb.add_alias(name, [top(name), shadow(name)], [0.5, 0.5])
    kb.add_entity("Ourika", 2, [1.0, 1.0])
    kb.add_alias("Ourika", ["Ourika"], [1.0])
    return kb


def example(nlp: Language, text: str, name: str, title: str) -> Example:
    span = (text.index(name), text.index(name) + len(name))
    return Example.from_dict(nlp.make_doc(text), {"entities": [(*span, "ENTITY")], "links": {span: {title: 1.0}}})


def pipeline_with_linker(**config: Any) -> Language:
    """A pipeline with spaCy's own linker, which has learned both kinds of context in each name."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    linker: Any = nlp.add_pipe("entity_linker", config={"model": SMALL, "incl_prior": False, **config})
    linker.set_kb(knowledge_base)
    examples = []
    for name in NAMES:
        examples += [
            example(nlp, f"Anglers say that {name} runs clear above the mill.", name, top(name)),
            example(nlp, f"The crew of {name} cut down both masts in the gale.", name, shadow(name)),
        ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer, annotates=["sentencizer"])
    return nlp


def answer_with(doc: Doc, *ids: str) -> Doc:
    """Gives the entities of a text their ids, as a component does it."""
    doc.ents = [
        Span(doc, entity.start, entity.end, label=entity.label, kb_id=kb_id)
        for entity, kb_id in zip(doc.ents, ids, strict=True)
    ]
    return doc


def by_crew(doc: Doc) -> Doc:
    """A ship where the crew stands at most two words before the entity, and else a river; nothing for strangers."""
    ids = []
    for entity in doc.ents:
        near = [token.text for token in doc[max(0, entity.start - 2) : entity.start]]
        known = entity.text in NAMES
        ids.append((shadow(entity.text) if "crew" in near else top(entity.text)) if known else "")
    return answer_with(doc, *ids)


# None of these says what it sets, as few components of outsiders do.
@Language.component("ship_after_crew")
def ship_after_crew(doc: Doc) -> Doc:
    return by_crew(doc)


@Language.component("says_what_it_sees")
def says_what_it_sees(doc: Doc) -> Doc:
    """The entities as they reached the linker: texts and labels."""
    seen = " ".join(f"{entity.text}/{entity.label_}" for entity in doc.ents)
    return answer_with(doc, *[seen for _ in doc.ents])


@Language.component("breaks_on_rain")
def breaks_on_rain(doc: Doc) -> Doc:
    if "rain" in doc.text:
        raise RuntimeError("out of\nmemory")
    return by_crew(doc)


@Language.component("finds_its_own")
def finds_its_own(doc: Doc) -> Doc:
    """The entity is one token longer than the mention, as with components that look for mentions themselves."""
    (entity,) = doc.ents
    doc.ents = [Span(doc, entity.start, entity.end + 1, label="OWN", kb_id="Avon Rubber")]
    return doc


@Language.component("merges_first_two", retokenizes=True)
def merges_first_two(doc: Doc) -> Doc:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    return doc


@Language.component("declares", assigns=["token.ent_kb_id"])
def declares(doc: Doc) -> Doc:
    return by_crew(doc)


@Language.component("to_qids")
def to_qids(doc: Doc) -> Doc:
    """What may come after a linker: ids of another knowledge base."""
    return answer_with(doc, *("Q7" if entity.kb_id_.endswith("(river)") else "Q8" for entity in doc.ents))


@Language.component("fishes")
def fishes(doc: Doc) -> Doc:
    """Answers beside the entity, as spacyfishing does, and with a score."""
    for entity in doc.ents:
        entity._.fished_qid = {"Avon": "Q7", "Zorn": "NIL"}.get(entity.text)
        entity._.fished_score = 0.75
    return doc


def saved(path: Path, *components: str) -> str:
    """A pipeline of these components in a directory."""
    nlp = spacy.blank("en")
    for component in components:
        nlp.add_pipe(component)
    nlp.to_disk(path / "pipeline")
    return str(path / "pipeline")
