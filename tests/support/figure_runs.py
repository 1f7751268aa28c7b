"""Runs for the tests of figures, with findings that are written by hand or counted over a small dataset."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from shadowprobe import Dataset, Prediction, Settings, score, write_dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.reporting import figures
from shadowprobe.running.finished import FinishedRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Stored = Callable[..., Path]


def store_run(
    path: Path, predictions: Iterable[Prediction], dataset: Dataset, settings: Settings | None = None
) -> Path:
    """Writes predictions as a finished run over a dataset."""
    path.mkdir(parents=True)
    (path / "predictions.jsonl").write_bytes(encode_lines(predictions))
    card = {"linker": {"name": path.name, "version": "1", "options": {}}, "shadowprobe": "1"}
    place = {"name": dataset.name, "digest": dataset.digest, "location": str(dataset.path)}
    (path / "run.json").write_text(json.dumps(card | {"dataset": place}))
    score(path, out=path, settings=settings)
    return path


def with_commonness(dataset: Dataset, path: Path, told: Callable[[str], int | None]) -> Dataset:
    """The same dataset with another commonness of each entity."""
    entities = [msgspec.structs.replace(one, commonness=told(one.title)) for one in dataset.entities.values()]
    snippets = {subset: list(dataset.snippets(subset)) for subset in dataset.subsets}
    return write_dataset(path, msgspec.structs.replace(dataset.card), entities, dataset.spaces.values(), snippets)


def results(run: Path) -> Any:
    """What results.json holds."""
    return json.loads((run / "results.json").read_text())


def change_findings(run: Path, probe: str, found: Any) -> None:
    """Writes other findings of a probe into a run."""
    content = results(run)
    content["probes"][probe] = found
    (run / "results.json").write_text(json.dumps(content))


def run_of(label: str = "a", **probes: Any) -> FinishedRun:
    """A run of a linker with these findings."""
    results = {"linker": {"name": label, "options": {}}, "settings": {"redirects": None}, "probes": probes}
    return FinishedRun(Path("runs", label), label, results)


def draw(figure: str, runs: Sequence[FinishedRun], **how: Any) -> Any:
    """A figure as an object of which everything may be asked."""
    return figures.plot(figure, runs, **how)


def bucket(at_least: int, accuracy: float, n: int) -> dict[str, Any]:
    """What was found on entities that are at least as common."""
    bounds = [max(0.0, accuracy - 0.125), min(1.0, accuracy + 0.25)]
    return {"at_least": at_least, "accuracy": accuracy, "accuracy_ci95": bounds, "n": n}


def buckets_of(label: str, *rows: dict[str, Any]) -> FinishedRun:
    """A run with these buckets on Top."""
    return run_of(label, popularity={"buckets": {"top": list(rows)}, "gaps": []})


def over(rate: float | None, **more: Any) -> dict[str, Any]:
    """The findings on overshadowing with one rate in all three panels."""
    bounds = None if rate is None else [rate / 2, (1 + rate) / 2]
    keys = ("overshadowed", "prior_bias", "consistent")
    return {**dict.fromkeys(keys, rate), **{f"{key}_ci95": bounds for key in keys}, **more}


def shares(**given: float) -> dict[str, float]:
    """The shares of answers by what they have to do with the prior; what is not given is 0."""
    keys = ("prior_correct", "context_correct", "context_wrong", "prior_wrong", "nil")
    return {key: given.get(key, 0.0) for key in keys}


def whole_run(label: str = "a") -> FinishedRun:
    """A run of a linker with some findings of every probe that a figure shows."""
    row = {"n": 40, "accuracy": 0.5, "accuracy_ci95": [0.25, 0.75]}
    score = {"q05": 0.1, "q25": 0.2, "q50": 0.5, "q75": 0.7, "q95": 0.9}
    curve = [{"coverage": 0.5, "risk": 0.25}, {"coverage": 1.0, "risk": 0.5}]
    gap = {"at_least": 0, "below": 2, "top_minus_shadow": 0.25, "top_minus_shadow_ci95": [0.0, 0.5], "n": 40}
    stable = {"stability": 0.75, "prior_is_top": 0.5, "prior_is_top_ci95": [0.25, 0.75]}
    run = run_of(
        label,
        overshadowing=over(0.5),
        prior={"top": shares(nil=1.0), "shadow": shares(prior_wrong=1.0), **stable},
        popularity={"buckets": {"top": [bucket(0, 0.5, 40)], "shadow": [bucket(10, 0.25, 40)]}, "gaps": [gap]},
        context_length={"words_cut": 3, "words_page": 100, "lengths": {"cut": {"top": row}, "page": {"top": row}}},
        masked_mention={"top": row, "shadow": row},
        calibration={"overall": {"ece": 0.125, "bins": [{**row, "mean_score": 0.5}]}},
        confidence={"subsets": {"top": score, "neutral": score}, "auroc_real_against_neutral": 0.75},
        kinds={"pairs": [{"top": "city", "shadow": "person", "overshadowed": 0.5, "n": 3}]},
        suspicion={"signal": "contrast", "signals": {"contrast": {"auroc": 0.75, "curve": curve}}},
        templates={"templates": {"1": {"text": "Why {name}?", "prior": 0.5, "prior_ci95": [0.25, 0.75]}}},
    )
    run.results["subsets"] = {"top": {"recall": 0.75}, "shadow": {"recall": 0.5}}
    return run


def rows(axes: Axes) -> list[str]:
    """The words beside a panel."""
    return [text.get_text() for text in axes.get_yticklabels()]
