"""A pair of DPR encoders of a few hundred weights, saved as the real ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = "avon berg como elbe river ship song lake rises runs was built at the a of naseby polar genoa where who what"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?"]


def save_tiny_dpr(folder: Path, *, of_questions: bool, seed: int) -> Path:
    """Saves an encoder of questions or of documents with random weights."""
    import torch
    from transformers import BertTokenizer, DPRConfig, DPRContextEncoder, DPRQuestionEncoder

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS.split()]) + "\n")
    tokenizer: Any = BertTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config: Any = DPRConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=256,
        # Far from zero, so that no two documents are near each other.
        initializer_range=1.0,
    )
    kind: Any = DPRQuestionEncoder if of_questions else DPRContextEncoder
    kind(config).save_pretrained(folder)
    return folder
