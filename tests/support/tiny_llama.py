"""A Llama of a few thousand weights with a tokenizer of its own, saved as the real ones are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiny_bart import train_bpe

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<pad>"]


def save_tiny_llama(path: Path, texts: Sequence[str], *, steps: int = 0, positions: int = 256) -> Path:
    """Saves a Llama that has read these texts `steps` times, each after `<|endoftext|>`."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    wrapped: Any = PreTrainedTokenizerFast
    # As in the instruction-tuned SmolLM2, the tokenizer's own first token is not the one between documents.
    tokenizer = wrapped(tokenizer_object=train_bpe(texts, SPECIAL), bos_token="<|im_start|>", pad_token="<pad>")
    torch.manual_seed(11)
    config: Any = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        initializer_range=0.1,
        bos_token_id=1,
        eos_token_id=0,
        pad_token_id=2,
    )
    network: Any = LlamaForCausalLM(config)
    _train(network, tokenizer, texts, steps)
    tokenizer.save_pretrained(path)
    network.save_pretrained(path)
    return path


def _train(network: Any, tokenizer: Any, texts: Sequence[str], steps: int) -> None:
    import torch

    batch = tokenizer([f"<|endoftext|>{text}" for text in texts], padding=True, return_tensors="pt")
    tokens, mask = batch["input_ids"], batch["attention_mask"]
    labels = tokens.masked_fill(mask == 0, -100)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        network(input_ids=tokens, attention_mask=mask, labels=labels).loss.backward()
        optimizer.step()
    network.eval()
