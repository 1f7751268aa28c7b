"""Makes the folder that REL's server reads, in REL's own environment: `python rel_base.py FOLDER < names.json`.

The input holds `names`, each with its titles, most common first, and `descriptions`, one for each title. Whatever REL
has a class for is made with that class. Two models lie in the folder: `prior` knows p(e|m) alone, `context` the words
around the mention alone. Their weights are set and not learned, so that their answers can be worked out by hand.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from flair.data import Dictionary  # type: ignore[import-not-found]
from flair.embeddings import OneHotEmbeddings  # type: ignore[import-not-found]
from flair.models import SequenceTagger  # type: ignore[import-not-found]
from numpy.typing import NDArray
from REL.db.generic import GenericLookup  # type: ignore[import-not-found]
from REL.entity_disambiguation import EntityDisambiguation  # type: ignore[import-not-found]
from REL.utils import is_important_word, split_in_words  # type: ignore[import-not-found]
from sklearn.linear_model import LogisticRegression

Vector = NDArray[np.float32]

WIKI = "wiki_2019"
DIMENSIONS = 300
# How far the words that speak for an entity stand out from the noise of random vectors.
SCALE = 5.0


def make(folder: Path, names: dict[str, list[str]], descriptions: dict[str, str]) -> None:
    """The whole folder."""
    generated, generic = folder / WIKI / "generated", folder / "generic"
    for place in (generated, generic / "p_e_m_data", folder / "prior", folder / "context"):
        place.mkdir(parents=True)
    # Those who may be meant by a part of their name; REL looks for them among the mentions of one text.
    (generic / "p_e_m_data" / "persons.txt").write_text("")
    write_titles(generated, names)
    write_vectors(generated / "entity_word_embedding.db", vectors_of(descriptions))
    # REL does not start without these two; a mention alone in its text has no use for more.
    write_vectors(generic / "common_drawl.db", {"in": vector("in"), "#SND/UNK#": vector("unknown")})
    write_model(folder, "prior", of_context=0.0, of_prior=1.0)
    write_model(folder, "context", of_context=1.0, of_prior=0.0)
    write_tagger(folder / "tagger.pt")


def write_titles(generated: Path, names: dict[str, list[str]]) -> None:
    """p(e|m): each title of a name is twice as common as the next."""
    shares = {
        name: {key(title): 2.0**-rank / (2 - 2.0 ** (1 - len(titles))) for rank, title in enumerate(titles)}
        for name, titles in names.items()
    }
    columns = {"p_e_m": "blob", "lower": "text", "freq": "INTEGER"}
    GenericLookup("entity_word_embedding", generated, table_name="wiki", columns=columns).load_wiki(
        shares, dict.fromkeys(shares, 1)
    )


def key(title: str) -> str:
    """A title as REL writes it."""
    return title.replace(" ", "_")


def vectors_of(descriptions: dict[str, str]) -> dict[str, Vector]:
    """A vector chosen at random for each word of the descriptions; an entity is the sum of its own."""
    words: dict[str, Vector] = {}
    entities: dict[str, Vector] = {}
    for title, description in descriptions.items():
        own = {word.lower() for word in split_in_words(description) if is_important_word(word)}
        for word in own:
            words[word] = words[word.capitalize()] = vector(word)
        entities[f"ENTITY/{key(title)}"] = SCALE * np.sum([words[word] for word in sorted(own)], axis=0)
    return words | entities


def vector(word: str) -> Vector:
    """A direction that is always the same for a word, and for two words about at right angles."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    drawn = np.random.default_rng(seed).standard_normal(DIMENSIONS)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def write_vectors(database: Path, vectors: dict[str, Vector]) -> None:
    """The vectors, by way of the text that word2vec writes, which also gives REL its vectors of unknown ones."""
    text = database.with_suffix(".txt")
    with text.open("w", encoding="utf-8") as lines:
        lines.write(f"{len(vectors)} {DIMENSIONS}\n")
        for name, values in vectors.items():
            lines.write(f"{name} {' '.join(f'{value:.6f}' for value in values)}\n")
    GenericLookup(database.stem, database.parent).load_word2emb(text)


def write_model(folder: Path, name: str, of_context: float, of_prior: float) -> None:
    """A model whose score of a candidate is its share of the context's votes and the logarithm of p(e|m), weighed."""
    place = folder / name
    untrained = EntityDisambiguation(folder, WIKI, {"mode": "train", "model_path": str(place / "model")})
    for parameter in untrained.model.parameters():
        parameter.data.zero_()
    untrained.model.att_mat_diag.data.fill_(1.0)
    untrained.model.tok_score_mat_diag.data.fill_(1.0)
    first, _, second = untrained.model.score_combine
    # Neither the votes nor the negative logarithm of p(e|m) fall below 0, where the layer between would cut them off.
    set_row(first.weight.data[0], (1.0, 0.0))
    set_row(first.weight.data[1], (0.0, -1.0))
    set_row(second.weight.data[0], (of_context, -of_prior))
    untrained._EntityDisambiguation__save(untrained.config["model_path"])
    # The confidence of a score s is 1 / (1 + exp(-s)), and so p / (1 + p) where s is the logarithm of p.
    confidence = LogisticRegression()
    confidence.classes_ = np.array([0.0, 1.0])
    confidence.coef_, confidence.intercept_ = np.array([[1.0]]), np.array([0.0])
    (place / "lr_model.pkl").write_bytes(pickle.dumps(confidence))


def set_row(row: Any, values: Iterable[float]) -> None:
    """Sets the first weights of a row."""
    for index, value in enumerate(values):
        row[index] = value


def write_tagger(path: Path) -> None:
    """A tagger that was never trained: the server loads one, and does not ask it where mentions are given."""
    tags, words = Dictionary(add_unk=False), Dictionary()
    tags.add_item("PER")
    words.add_item("in")
    SequenceTagger(
        OneHotEmbeddings(words, embedding_length=2),
        tags,
        "ner",
        use_rnn=False,
        use_crf=False,
        reproject_embeddings=False,
    ).save(path)


if __name__ == "__main__":
    make(Path(sys.argv[1]), **json.load(sys.stdin))
