"""A saved tiny Llama as a GGUF file, as llama.cpp would convert it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def save_gguf(model: Path, file: Path) -> Path:
    """Writes the Llama of a directory as a GGUF file in single precision."""
    import gguf
    from transformers import AutoModelForCausalLM

    network: Any = AutoModelForCausalLM.from_pretrained(model)
    config, bpe = network.config, json.loads((model / "tokenizer.json").read_text())
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    _add_tokenizer(writer, bpe)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for name, tensor in network.state_dict().items():
        writer.add_tensor(*_convert(name, tensor.numpy(), heads))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _add_tokenizer(writer: Any, bpe: dict[str, Any]) -> None:
    vocabulary = bpe["model"]["vocab"]
    special = {token["content"] for token in bpe["added_tokens"]}
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    # llama.cpp's numbers: 1 is a token of a text, 3 a control token.
    writer.add_token_types([3 if token in special else 1 for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in bpe["model"]["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(0)
    writer.add_pad_token_id(2)


def _convert(name: str, tensor: Any, heads: dict[str, int]) -> tuple[str, Any]:
    if name in NAMES:
        return NAMES[name], tensor
    _, _, layer, part = name.split(".", 3)
    short = LAYER_NAMES[part.removesuffix(".weight")]
    if short in heads:
        # llama.cpp rotates neighbouring numbers, Hugging Face the two halves of a head.
        rows, columns = tensor.shape
        tensor = tensor.reshape(heads[short], 2, rows // heads[short] // 2, columns).swapaxes(1, 2)
        tensor = tensor.reshape(rows, columns).copy()
    return f"blk.{layer}.{short}.weight", tensor
