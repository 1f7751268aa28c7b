"""One whole job: link and measure, or measure stored predictions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

import shadowprobe
from shadowprobe import plugins
from shadowprobe.answers import Answers
from shadowprobe.catalogue import open_dataset
from shadowprobe.dataset import Dataset, make_directory
from shadowprobe.errors import InputError, PluginError, UsageError
from shadowprobe.identity import read_redirects
from shadowprobe.jsonl import as_read_back, encode_json, write_atomically
from shadowprobe.linker import Linker
from shadowprobe.probe import Probe
from shadowprobe.results import Results, measure
from shadowprobe.run_directory import PREDICTIONS, RESULTS, RUN, RunCard, read_run_card
from shadowprobe.runner import Outcome, Progress, Runner
from shadowprobe.statistics import ROUNDS, SEED

SECRET_NAME = re.compile(r"token|secret|passw|(?:^|_)key$", re.IGNORECASE)
SECRET_IN_URL = re.compile(r"([?&][^=&]*(?:token|secret|passw|key)[^=&]*=)[^&#]*", re.IGNORECASE)
CREDENTIALS = re.compile(r"^(\w+://)[^/@]+@")


class Settings(Struct, frozen=True):
    """How predictions are measured."""

    probes: tuple[str, ...] = ()
    redirects: Path | None = None
    gerbil_threshold: bool = False
    rounds: int = ROUNDS
    seed: int = SEED


class Finished(Struct, frozen=True):
    """A finished job: its results, where they are, and how the linking went."""

    results: Results
    out: Path
    outcome: Outcome | None = None


class Job:
    """A linker to be run over a dataset, with everything checked that can be checked before the first snippet."""

    def __init__(
        self,
        linker: str | Linker,
        dataset: str | Path | Dataset = "mini",
        *,
        options: Mapping[str, str] | None = None,
        out: Path | str | None = None,
        batch_size: int | None = None,
        limit: int | None = None,
        settings: Settings | None = None,
        force: bool = False,
        location: str | None = None,
    ) -> None:
        self.settings = settings or Settings()
        options = dict(options or {})
        _refuse_impossible(linker, options, batch_size, limit)
        self.linker = plugins.make_linker(linker, options) if isinstance(linker, str) else plugins.adopt(linker)
        # As the user named it, so that later commands find the dataset again.
        self.location = _text(location or str(dataset.path if isinstance(dataset, Dataset) else dataset))
        opened = _open(dataset)
        self.dataset = opened.first(limit) if limit is not None else opened
        self.probes, self.notes = _probes(self.settings)
        self.answers = _empty_answers(self.dataset, self.settings)
        name = self.linker.name or type(self.linker).__name__
        self.described = {
            "name": name,
            "version": self.linker.version,
            "options": _without_secrets(as_read_back(plugins.option_values(self.linker, options))),
        }
        self.out = Path(out) if out is not None else _default_out(name, self.dataset)
        self.runner = Runner(
            self.linker,
            self.dataset,
            self.out,
            card=RunCard(
                linker=self.described,
                dataset={"name": opened.name, "digest": opened.digest, "location": self.location},
                shadowprobe=shadowprobe.__version__,
            ),
            batch_size=batch_size,
            resolver=self.answers.resolver,
            rows=self.answers.row,
            force=force,
        )

    def run(self, progress: Progress | None = None) -> Finished:
        """Links, measures, writes results.json."""
        outcome = self.runner.run(progress)
        answers = self.answers.read(self.out / PREDICTIONS, partial=self.dataset.limit is not None)
        results = measure(answers, self.probes, linker=self.described, notes=[*self.runner.card.notes, *self.notes])
        write_atomically(self.out / RESULTS, encode_json(results))
        return Finished(results, self.out, outcome)


def run(
    linker: str | Linker,
    dataset: str | Path | Dataset = "mini",
    *,
    options: Mapping[str, str] | None = None,
    out: Path | str | None = None,
    batch_size: int | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Results:
    """Runs a linker over a dataset into a run directory and returns its results."""
    job = Job(
        linker,
        dataset,
        options=options,
        out=out,
        batch_size=batch_size,
        limit=limit,
        settings=settings,
        force=force,
    )
    return job.run().results


def score(
    predictions: Path | str,
    dataset: str | Path | Dataset | None = None,
    *,
    limit: int | None = None,
    name: str | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Results:
    """Measures a predictions file or a run directory, writes results.json and returns what it holds.

    Without a dataset, that of the run is taken, or `mini` for a file that belongs to none.
    """
    return score_file(predictions, dataset, limit=limit, name=name, out=out, settings=settings, force=force).results


def score_file(
    predictions: Path | str,
    dataset: str | Path | Dataset | None = None,
    *,
    limit: int | None = None,
    name: str | None = None,
    out: Path | str | None = None,
    settings: Settings | None = None,
    force: bool = False,
) -> Finished:
    """The same, and where the results were written."""
    settings = settings or Settings()
    path = Path(predictions)
    if path.is_dir():
        path = path / PREDICTIONS
    if limit is not None and limit < 1:
        raise UsageError(f"limit is {limit}, and must be at least 1")
    whole = _open(dataset_of(path) if dataset is None else dataset)
    card = _run_card(path, whole)
    opened = whole.first(limit) if limit is not None else whole
    unknown: dict[str, Any] = {"name": path.stem, "version": "", "options": {}}
    linker = card.linker if card is not None else unknown
    described = {**linker, "name": _text(name or linker["name"])}
    target = Path(out) if out is not None else _default_out(described["name"], opened)
    # A run directory may be scored again in place; any other results are somebody's.
    own = path.name == PREDICTIONS and target.resolve() == path.parent.resolve()
    if (target / RESULTS).exists() and not own and not force:
        raise UsageError(f"{target / RESULTS} exists; give another --out, or --force to write over it")
    probes, notes = _probes(settings)
    answers = _empty_answers(opened, settings).read(path, partial=limit is not None)
    results = measure(answers, probes, linker=described, notes=[*(card.notes if card is not None else ()), *notes])
    make_directory(target)
    write_atomically(target / RESULTS, encode_json(results))
    return Finished(results, target)


def _run_card(path: Path, dataset: Dataset) -> RunCard | None:
    """What the run behind a predictions file says of itself, if the file belongs to one."""
    card_path = path.parent / RUN
    if path.name != PREDICTIONS or not card_path.exists():
        return None
    card = read_run_card(card_path)
    if card.dataset.get("digest") != dataset.digest:
        raise InputError(
            card_path,
            f"the run is over `{card.dataset.get('name')}` ({str(card.dataset.get('digest'))[:12]}...),"
            f" and the dataset given is `{dataset.name}` ({dataset.digest[:12]}...)",
            field="dataset",
        )
    return card


def dataset_of(predictions: Path) -> str:
    """Where the dataset of a stored run was, as its user named it; `mini` for a file that belongs to no run."""
    path = predictions / PREDICTIONS if predictions.is_dir() else predictions
    card_path = path.parent / RUN
    if path.name != PREDICTIONS or not card_path.exists():
        return "mini"
    return str(read_run_card(card_path).dataset.get("location") or "mini")


def _open(dataset: str | Path | Dataset) -> Dataset:
    return dataset if isinstance(dataset, Dataset) else open_dataset(str(dataset))


def _probes(settings: Settings) -> tuple[list[Probe], list[str]]:
    """The probes asked for, or all; of all, one that cannot be loaded costs a note and not the run."""
    if settings.probes:
        return [plugins.make_probe(name) for name in settings.probes], []
    probes, notes = [], []
    for name in plugins.names(plugins.PROBES):
        try:
            probes.append(plugins.make_probe(name))
        except PluginError as error:
            notes.append(f"the probe `{name}` was left out: {error}")
    return probes, notes


def _refuse_impossible(linker: Any, options: Mapping[str, str], batch_size: int | None, limit: int | None) -> None:
    for name, value in (("batch_size", batch_size), ("limit", limit)):
        if value is not None and value < 1:
            raise UsageError(f"{name} is {value}, and must be at least 1")
    if isinstance(linker, type):
        raise UsageError(f"{linker.__name__} is a class: give an instance, {linker.__name__}()")
    if options and not isinstance(linker, str):
        raise UsageError("options go with a linker by name; an instance has its own")


def _without_secrets(options: Any) -> Any:
    """Options as they may stand in a file: what is called a token or a password is not shown, in a URL neither."""
    public = {}
    for name, value in options.items():
        if isinstance(value, str):
            value = SECRET_IN_URL.sub(r"\1***", CREDENTIALS.sub(r"\1***@", value))  # noqa: PLW2901
        public[name] = "***" if value and SECRET_NAME.search(name) else value
    return public


def _default_out(linker: str, dataset: Dataset) -> Path:
    """`runs/LINKER-DATASET`; a name with a slash in it must not lead elsewhere."""
    return Path("runs") / re.sub(r"[/\\\0]", "_", f"{linker}-{dataset.name}")


def _text(argument: str) -> str:
    """An argument of the command line as text that JSON can hold, whatever bytes a file's name is made of."""
    return argument.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _empty_answers(dataset: Dataset, settings: Settings) -> Answers:
    redirects = read_redirects(settings.redirects) if settings.redirects else None
    return Answers(
        dataset,
        redirects,
        gerbil_threshold=settings.gerbil_threshold,
        rounds=settings.rounds,
        seed=settings.seed,
    )
