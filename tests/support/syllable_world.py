"""Invented people and products whose names are made of syllables, and encoders of random weights that read them.

An encoder can only find a name that it has never seen if it reads its syllables. Names of people and names of products
have no syllable in common, so what is learned about people says nothing about products.
"""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

from retrieval_world import amber_set, entity, query, write_documents, write_sets

from shadowprobe.queries.query import Document

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", "'"]
WORDS = "where was born which company is produced by in the a person product of made what birthplace name manufacturer"
PEOPLE = [f"{one}{two}" for one, two in product("bdgkm", "aeio")]
PRODUCTS = [f"{one}{two}" for one, two in product("lnprs", "aeio")]


def write_syllable_world(directory: Path, *, people: int, products: int, seed: int = 1) -> Path:
    """Writes a collection with a document for each person (P19) and product (P176), a question about each, and sets."""
    generator = random.Random(seed)
    names = _make_names(generator, PEOPLE, 2 * people)
    makes = _make_names(generator, PRODUCTS, 2 * products)
    born = [(*pair, "P19") for pair in zip(names[:people], names[people:], strict=True)]
    made = [(*pair, "P176") for pair in zip(makes[:products], makes[products:], strict=True)]
    texts = {"P19": "{0} is a person born in {1}.", "P176": "{0} is a product made by {1}."}
    asked = {"P19": "Where was {0} born?", "P176": "Which company is {0} produced by?"}
    documents = [
        Document(f"d{number}", subject, texts[relation].format(subject, answer))
        for number, (subject, answer, relation) in enumerate([*born, *made])
    ]
    write_documents(directory / "documents.jsonl", documents)
    folder = directory / "entity_questions"
    folder.mkdir()
    for relation, facts in (("P19", born), ("P176", made)):
        questions = [
            {"question": asked[relation].format(subject), "answers": [answer], "subject": subject}
            for subject, answer, _ in facts
        ]
        (folder / f"{relation}.test.json").write_text(json.dumps(questions))
    # Every second person shares the name of the one before, who is more popular.
    sets = [
        amber_set(
            born[place][0],
            entity([query(f"h{place}", f"Where was {born[place][0]} born?", f"d{place}")], f"d{place}", head=True),
            entity([query(f"t{place}", f"Where was {born[place][0]} born?", f"d{place + 1}")], f"d{place + 1}"),
        )
        for place in range(0, people - 1, 2)
    ]
    write_sets(directory / "amber" / "human" / "qa" / "amber_sets.jsonl", sets)
    return directory


def _make_names(generator: random.Random, syllables: list[str], count: int) -> list[str]:
    """Different names of three syllables in random order."""
    return ["".join(parts) for parts in generator.sample(list(product(syllables, repeat=3)), count)]


def save_syllable_pair(folder: Path) -> dict[str, Any]:
    """Saves a DPR pair with other random weights each, and returns the settings of a training that name it."""
    from transformers import DPRConfig, DPRContextEncoder, DPRQuestionEncoder

    questions = _save(folder / "of-questions", DPRConfig, DPRQuestionEncoder, seed=1)
    passages = _save(folder / "of-passages", DPRConfig, DPRContextEncoder, seed=2)
    return {"kind": "dpr", "model": str(questions), "document_model": str(passages)}


def save_syllable_sentence_model(folder: Path, *, seed: int = 3) -> Path:
    """Saves a model of random weights that sentence-transformers loads, which takes the mean over tokens."""
    from transformers import BertConfig, BertModel

    return _save(folder, BertConfig, BertModel, seed=seed)


def _save(folder: Path, config: Any, kind: Any, *, seed: int, size: int = 64) -> Path:
    """Saves an encoder whose tokens are syllables and the words of the questions."""
    import torch
    from transformers import BertTokenizer

    folder.mkdir(parents=True)
    syllables = [*PEOPLE, *PRODUCTS]
    tokens = dict.fromkeys([*SPECIAL, *WORDS.split(), *syllables, *(f"##{one}" for one in syllables)])
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n")
    tokenizer: Any = BertTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    settings = {"hidden_size": size, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 2 * size}
    kind(config(vocab_size=len(tokens), max_position_embeddings=32, **settings)).save_pretrained(folder)
    return folder
