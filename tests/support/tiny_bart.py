"""A BART of a few thousand weights with a tokenizer of its own, saved as the real ones are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
START, PAD, END = 0, 1, 2
# What a real one may come with, and worse: every line of it keeps titles from being written.
HOSTILE = {
    "bos_token_id": START,
    "decoder_start_token_id": END,
    "early_stopping": True,
    "eos_token_id": END,
    "forced_bos_token_id": START,
    "forced_eos_token_id": END,
    "length_penalty": 2.0,
    "max_length": 8,
    "min_length": 6,
    "no_repeat_ngram_size": 3,
    "num_beams": 4,
    "pad_token_id": PAD,
    "repetition_penalty": 5.0,
}

Example = tuple[str, str]


def with_markers(text: str) -> str:
    """A text whose mention stands in square brackets, as GENRE wants it."""
    before, _, rest = text.partition("[")
    mention, _, after = rest.partition("]")
    return f"{before.rstrip()} [START_ENT] {mention} [END_ENT] {after.lstrip()}"


def save_tiny_bart(path: Path, examples: Sequence[Example], *, steps: int = 0, positions: int = 128) -> Path:
    """Saves a BART that has read these texts, mentions in square brackets, with their titles `steps` times."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    tokenizer = _tokenizer([*(with_markers(text) for text, _ in examples), *(title for _, title in examples)])
    torch.manual_seed(11)
    config: Any = BartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=positions,
        dropout=0.0,
        bos_token_id=START,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=END,
        # Far from the usual 0.02, with which all titles would be about equally likely before any training.
        init_std=0.3,
    )
    model: Any = BartForConditionalGeneration(config)
    _train(model, tokenizer, examples, steps)
    tokenizer.save_pretrained(path)
    model.save_pretrained(path)
    (path / "generation_config.json").write_text(json.dumps(HOSTILE))
    return path


def _tokenizer(texts: Sequence[str]) -> Any:
    """Byte-level BPE with BART's special tokens at BART's places."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    bpe = train_bpe(texts, SPECIAL)
    bpe.post_processor = processors.RobertaProcessing(("</s>", END), ("<s>", START), add_prefix_space=False)
    wrapped: Any = PreTrainedTokenizerFast
    return wrapped(
        tokenizer_object=bpe,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
    )


def train_bpe(texts: Sequence[str], special: Sequence[str]) -> Any:
    """Trains a byte-level BPE tokenizer; the special tokens have the first numbers."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    bpe: Any = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer: Any = trainers.BpeTrainer(
        vocab_size=1000,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return bpe


def _train(model: Any, tokenizer: Any, examples: Sequence[Example], steps: int) -> None:
    import torch

    inputs = tokenizer([with_markers(text) for text, _ in examples], padding=True, return_tensors="pt")
    titles = tokenizer([f"{title}</s>" for _, title in examples], padding=True, add_special_tokens=False)
    labels = torch.tensor([[token if token != PAD else -100 for token in row] for row in titles["input_ids"]])
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels).loss.backward()
        optimizer.step()
