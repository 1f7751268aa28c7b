"""Encoders whose weights can be trained: a sentence-transformers model, or one of DPR's two."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadowprobe.errors import missing_extra
from shadowprobe.queries.query import Document
from shadowprobe.systems.dpr_encoder import load_dpr_model, tokenize_columns
from shadowprobe.systems.encoder_directory import EncoderKind
from shadowprobe.systems.hugging_face import handle_load_errors
from shadowprobe.systems.retriever import document_text

NAME, OPTION = "train-encoder", "--model DIR"
# Cosines are between -1 and 1, and a softmax over them is nearly flat. This is the scale of sentence-transformers.
COSINE_SCALE = 20.0
BATCH = 64


class TrainableEncoder:
    """A model that makes vectors of questions and of passages, with gradients."""

    # What inner products are multiplied by before the softmax.
    scale: float = 1.0
    module: Any

    def encode_questions(self, texts: Sequence[str]) -> Any:
        """The vectors of questions, a row each."""
        raise NotImplementedError

    def encode_passages(self, documents: Sequence[Document]) -> Any:
        """The vectors of passages, a row each."""
        raise NotImplementedError

    def write(self, folder: Path) -> None:
        """Writes the model into an empty folder."""
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        """Saves the model as a folder that is there whole or not at all."""
        partial = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        self.module.eval()
        self.write(partial)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)


class SentenceModel(TrainableEncoder):
    """A sentence-transformers model: vectors of length one, for questions and passages alike."""

    scale = COSINE_SCALE

    def __init__(self, name: str, device: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise missing_extra("dense") from error
        with handle_load_errors(NAME, name, OPTION):
            self.module = SentenceTransformer(name, device=device)
        self.module.eval()
        self._device = device

    def encode_questions(self, texts: Sequence[str]) -> Any:
        """The vectors of questions."""
        from torch.nn.functional import normalize

        # Version 5.2 has another name for it.
        tokenize = getattr(self.module, "preprocess", None) or self.module.tokenize
        features = {
            key: value.to(self._device) if hasattr(value, "to") else value
            for key, value in tokenize(list(texts)).items()
        }
        return normalize(self.module(features)["sentence_embedding"], dim=1)

    def encode_passages(self, documents: Sequence[Document]) -> Any:
        """The vectors of title and text."""
        return self.encode_questions([document_text(document) for document in documents])

    def write(self, folder: Path) -> None:
        """Writes the model without a card, which would have a date."""
        self.module.save(str(folder), create_model_card=False)


class DprModel(TrainableEncoder):
    """DPR's encoder of questions, or that of passages."""

    def __init__(self, name: str, device: str, *, of_questions: bool) -> None:
        self.module, self._tokenizer = load_dpr_model(
            NAME, name, device, of_questions=of_questions, option=OPTION if of_questions else "--document-model DIR"
        )
        self._device = device

    def encode_questions(self, texts: Sequence[str]) -> Any:
        """The vectors of questions."""
        return self._encode(list(texts))

    def encode_passages(self, documents: Sequence[Document]) -> Any:
        """The vectors of titles and texts."""
        return self._encode([one.title for one in documents], [one.text for one in documents])

    def _encode(self, *columns: list[str]) -> Any:
        return self.module(**tokenize_columns(self._tokenizer, *columns).to(self._device)).pooler_output

    def write(self, folder: Path) -> None:
        """Writes the model and its tokenizer."""
        self.module.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)


def load_trainable(kind: EncoderKind, name: str, device: str, *, of_questions: bool) -> TrainableEncoder:
    """Loads an encoder by name or path."""
    try:
        import torch  # noqa: F401 -- the first that is missing says what to install
    except ImportError as error:
        raise missing_extra("dense") from error
    if kind == "dpr":
        return DprModel(name, device, of_questions=of_questions)
    return SentenceModel(name, device)


def encode_fixed(encoder: TrainableEncoder, items: Sequence[Any], *, of_questions: bool) -> Any:
    """The vectors of an encoder that is not trained, without gradients."""
    import torch

    encode = encoder.encode_questions if of_questions else encoder.encode_passages
    encoder.module.eval()
    with torch.no_grad():
        return torch.cat([encode(items[start : start + BATCH]) for start in range(0, len(items), BATCH)])
