"""What a user can choose about the training of an encoder."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from shadowprobe.errors import UsageError
from shadowprobe.systems.encoder_directory import EncoderKind

Trained = Literal["both", "passages", "questions"]
Disjoint = Literal["all", "relation"]
TRAINED: tuple[Trained, ...] = ("both", "passages", "questions")
KINDS: tuple[EncoderKind, ...] = ("sentence", "dpr")
DISJOINT: tuple[Disjoint, ...] = ("all", "relation")


class TrainingSettings(Struct, frozen=True):
    """The model, the questions, and how it is trained; the defaults of the last are those of the paper."""

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    document_model: str = ""
    kind: EncoderKind = "sentence"
    collection: str = "namesakes"
    # A file or folder of questions, or a folder with `train` and `test`; those of the collection if not given.
    queries: str | None = None
    # The relations to train; all if empty.
    relations: tuple[str, ...] = ()
    train: Trained = "both"
    per_relation: bool = False
    similar: bool = False
    mix: str | None = None
    # Whether training questions share no word with test questions of any relation, or of their own.
    disjoint: Disjoint = "all"
    # The share of the questions that become test questions, if there are no training questions of their own.
    held_out: float = 0.25
    # The most training questions of a relation.
    limit: int = 8000
    epochs: int = 10
    learning_rate: float = 2e-5
    batch_size: int = 24
    # Negative passages of BM25 for each question.
    negatives: int = 1
    seed: int = 7
    device: str = "cpu"
    # The numbers of documents that count.
    ks: tuple[int, ...] = (1, 5, 20)

    def __post_init__(self) -> None:
        if self.kind == "dpr" and not self.document_model:
            raise UsageError("--kind dpr: needs the encoder of the passages too: --document-model NAME_OR_PATH")
        if not 0 < self.held_out < 1:
            raise UsageError(f"--held-out: is a share between 0 and 1, not {self.held_out:g}")
        if not 0 < self.learning_rate < 1:
            raise UsageError(f"--learning-rate: is a number between 0 and 1, not {self.learning_rate:g}")

    @property
    def is_shared(self) -> bool:
        """True if one model encodes both questions and passages, and both are trained."""
        return self.train == "both" and not self.document_model
