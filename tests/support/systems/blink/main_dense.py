"""BLINK's calls, files and shapes, with shared words in the place of its two BERTs."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

torch = SimpleNamespace(
    __version__="1.6.0", cuda=SimpleNamespace(is_available=lambda: os.environ.get("STANDIN_GPU") == "1")
)
NAME, LOGIT = 10.0, 11.5


def load_models(args: argparse.Namespace, logger: Any = None) -> tuple[Any, ...]:
    """The ten things that BLINK loads, in its order."""
    biencoder_params = json.loads(Path(args.biencoder_config).read_text())
    biencoder_params["path_to_model"] = args.biencoder_model
    crossencoder_params = None if args.fast else json.loads(Path(args.crossencoder_config).read_text())
    title2id, id2title, id2text, wikipedia_id2local_id = {}, {}, {}, {}
    # As the real one: in whatever encoding the locale says.
    with Path(args.entity_catalogue).open() as lines:
        entities = [json.loads(line) for line in lines]
    for local_idx, entity in enumerate(entities):
        split = entity["idx"].split("curid=")
        wikipedia_id = int(split[-1].strip()) if len(split) > 1 else entity["idx"].strip()
        wikipedia_id2local_id[wikipedia_id] = local_idx
        title2id[entity["title"]] = local_idx
        id2title[local_idx] = entity["title"]
        id2text[local_idx] = entity["text"]
    Path(args.entity_encoding).read_bytes()
    return (
        "biencoder",
        biencoder_params,
        None if args.fast else "crossencoder",
        crossencoder_params,
        "candidate_encoding",
        title2id,
        id2title,
        id2text,
        wikipedia_id2local_id,
        None,
    )


def run(
    args: argparse.Namespace,
    logger: Any,
    biencoder: Any,
    biencoder_params: Any,
    crossencoder: Any,
    crossencoder_params: Any,
    candidate_encoding: Any,
    title2id: dict[str, int],
    id2title: dict[int, str],
    id2text: dict[int, str],
    wikipedia_id2local_id: dict[int, int],
    faiss_indexer: Any = None,
    test_data: list[dict[str, Any]] | None = None,
) -> tuple[Any, ...]:
    """Seven things, of which the last two are the titles and the scores, best first."""
    if not test_data and not args.test_mentions and not args.interactive:
        raise ValueError("ERROR: either you start BLINK with the interactive option (-i)")
    assert test_data is not None
    predictions, scores = [], []
    for number, sample in enumerate(test_data):
        if "assertion" in sample["context_right"]:
            raise AssertionError("34 ids in a row of 32")
        dots = np.array([_dot(sample, title, id2text[row]) for row, title in id2title.items()], dtype=np.float32)
        best = np.argsort(-dots, kind="stable")[: args.top_k]
        # Logits instead of dot products.
        values = dots[best] if args.fast else dots[best] - LOGIT
        order = np.argsort(-values, kind="stable")
        predictions.append([id2title[row] for row in best[order]])
        scores.append(values[order])
        # Progress, on stdout and without a line end.
        sys.stdout.write(f"{number + 1}/{len(test_data)} \r")
        sys.stdout.flush()
    return -1, -1, -1, -1, len(test_data), predictions, scores


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _shared(sample: dict[str, Any], text: str) -> int:
    """Words of the sentence in a description; a BERT without capitals knows none that is written with one."""
    before, after = sample["context_left"].rpartition(".")[2], sample["context_right"].partition(".")[0]
    return len(_words(f"{before} {after}") & _words(text.lower()))


def _dot(sample: dict[str, Any], title: str, text: str) -> float:
    if "overflow" in sample["context_left"]:
        return float("nan")
    return NAME * title.lower().startswith(sample["mention"]) + _shared(sample, text)
